"""`self new` and `self uninstall`, interrupted at each of their steps on disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made, command
from testing.sweep import run_sweep

NEW = ["self", "new", "command", "team", "a"]
CHANGES = {  # words, and the error (0 kills)
    "new, killed": (NEW, 0),
    "new, no space": (NEW, errno.ENOSPC),
    "uninstall, killed": (["self", "uninstall", "--yes"], 0),
    "purge, killed": (["self", "uninstall", "--purge", "--yes"], 0),
}


@pytest.mark.parametrize(("words", "error"), CHANGES.values(), ids=CHANGES)
def test_what_is_interrupted_can_be_done_again(
    install: Callable[..., Made],
    tmp_path: Path,
    shim: Path,
    words: list[str],
    error: int,
) -> None:
    before = tmp_path / "before"
    assert install().run("self", "init", str(before)).status == 0
    made = Made(before, before / "core/cli", tmp_path)
    made.write(
        {
            "commands/own/hi/command.json": command(),
            "commands/own/hi/main.sh": "echo hi\n",
        }
    )
    assert made.run("demo", "hello").status == 0  # so that it has a lock
    asked = {
        "root": str(tmp_path / "root"),
        "before": os.fspath(before),
        "words": words,
    }
    run_sweep("own_files", asked, shim, error=error)


def test_the_next_new_command_removes_what_a_killed_one_left(
    install: Callable[..., Made],
) -> None:
    made = install(
        {"commands/team/a/command.json": command(), "commands/team/a/main.sh": ""}
    )
    made.write(
        {"commands/team/.cli-stage-x/b/command.json": "{", ".cli-stage-x/h.py": ""}
    )
    assert made.run("self", "new", "category", "team", "c").status == 0
    assert sorted(os.listdir(made.root / "commands/team")) == ["a", "c"]
    assert made.run("self", "new", "plugin", "p", cwd=made.root).status == 0
    assert not (made.root / ".cli-stage-x").exists()
