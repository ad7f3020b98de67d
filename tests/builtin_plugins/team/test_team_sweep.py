"""`self init --from`, broken at steps on disk."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pytest

from testing.sweep import run_sweep
from testing.team import Team

ERRORS = {"killed": 0, "no space": errno.ENOSPC, "failing": errno.EIO}


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_init_leaves_nothing_or_everything(
    tmp_path: Path, shim: Path, error: int
) -> None:
    team, before = Team(tmp_path), tmp_path / "before"
    before.mkdir()
    words = ["self", "init", "--from", team.repository.url]
    home = str(team.colleague.home)
    program = str(Path(sys.executable).with_name("cli"))
    asked = {"home": home, "before": str(before), "program": program, "words": words}
    found = run_sweep("team", asked, shim, error=error, home=home)
    assert {"old", "new"} <= found["outcomes"].keys()
