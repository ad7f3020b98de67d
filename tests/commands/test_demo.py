"""The commands that are shipped as examples, run on trees larger than an example's."""

import os
import subprocess
from pathlib import Path

from testing.installation import PROJECT


def test_largest_ends_well_where_there_are_many_files(tmp_path: Path) -> None:
    for number in range(4_000):
        (tmp_path / f"a-name-that-fills-the-pipe-{number}").touch()
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    script = PROJECT / "commands/demo/files/largest/main.sh"
    env = {
        **os.environ,
        "ARG_DIRECTORY": str(tmp_path),
        "ARG_COUNT": "3",
        "BASH_ENV": os.devnull,
    }
    done = subprocess.run(
        ["bash", "-c", 'log_debug() { :; }; . "$0"', script],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert lines[0].endswith("/large")
