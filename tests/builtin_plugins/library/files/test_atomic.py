"""Files written whole, with the modes that others need, and steps that are undone."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from builtin_plugins.library.files.atomic import temporary, write_file, write_link
from builtin_plugins.library.files.undo import undoing
from host.errors import OperationError

# mode asked for, mode of the directory, mode of the former file → mode of the new one
MODES = {
    "a new file is for whom its directory is": (None, 0o755, None, 0o644),
    "a group's directory": (None, 0o2775, None, 0o664),
    "a private directory": (None, 0o700, None, 0o600),
    "a rewritten file keeps its own": (None, 0o755, 0o640, 0o640),
    "what is asked for": (0o755, 0o700, 0o600, 0o755),
}


@pytest.mark.parametrize("case", MODES.values(), ids=MODES)
def test_modes_whatever_the_umask(
    tmp_path: Path, case: tuple[int | None, int, int | None, int]
) -> None:
    asked, of_directory, former, expected = case
    tmp_path.chmod(of_directory)
    path = tmp_path / "file"
    if former is not None:
        path.write_text("old")
        path.chmod(former)
    umask = os.umask(0o077)
    try:
        write_file(str(path), "new", asked)
    finally:
        os.umask(umask)
    assert (path.read_text(), path.stat().st_mode & 0o7777) == ("new", expected)


def test_what_a_kill_left_goes_with_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "file"
    Path(temporary(str(path))).write_text("half")
    write_file(str(path), "whole")
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {
        "file": "whole"
    }
    Path(temporary(str(path))).symlink_to("/nowhere")
    write_link(str(path), "target")
    assert [os.readlink(one) for one in tmp_path.iterdir()] == ["target"]


def test_a_failure_names_the_file_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(IsADirectoryError) as raised:
        write_file(str(tmp_path / "file"), "x")
    assert raised.value.filename == str(tmp_path / "file")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def _break_off(failure: BaseException, *steps: Callable[[], object]) -> None:
    with undoing() as undo:
        for step in steps:
            undo.callback(step)
        raise failure


def test_steps_are_undone_backwards() -> None:
    done: list[str] = []
    with pytest.raises(KeyError):
        _break_off(
            KeyError(), partial(done.append, "first"), partial(done.append, "second")
        )
    assert done == ["second", "first"]
    with undoing() as undo:
        undo.callback(done.append, "never")
    assert "never" not in done


def test_what_could_not_be_undone_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(OperationError) as raised:
        _break_off(
            OSError(28, "No space left on device", "/f"), partial(os.unlink, gone)
        )
    assert str(raised.value) == (
        "/f: No space left on device; the changes could not be undone "
        f"({gone}: No such file or directory)"
    )


def test_the_content_is_on_the_disk_before_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a power failure leaves an empty registry."""
    steps: list[str] = []
    for name in ("fsync", "rename"):
        real = getattr(os, name)

        def call(
            *arguments: object, name: str = name, real: Callable[..., None] = real
        ) -> None:
            steps.append(name)
            real(*arguments)

        monkeypatch.setattr(os, name, call)
    write_file(str(tmp_path / "registry.json"), "{}")
    assert steps == ["fsync", "rename", "fsync"]
