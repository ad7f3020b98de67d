"""Files that several processes replace at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from host.files import replace_file


def test_every_writer_of_one_file_succeeds(tmp_path: Path) -> None:
    """A writer that finds the new file renamed by another one reports no failure."""
    place = tmp_path / "cli.lock"
    with ThreadPoolExecutor(8) as pool:
        done = list(
            pool.map(lambda _: replace_file.replace(str(place), b"text"), range(2000))
        )
    assert set(done) == {True}
    assert place.read_bytes() == b"text"
    assert [path.name for path in tmp_path.iterdir()] == ["cli.lock"]
