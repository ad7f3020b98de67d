"""Whatever step of a change is ended or fails: a version starts, and a second run converges."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from testing import httpserver
from testing.machine import tool_run
from testing.sweep import run_sweep

ACTIONS = {
    "install": ("install", "two"),
    "upgrade": ("upgrade", "two"),
    "upgrade to another launcher": ("upgrade", "moved"),
    "upgrade to the same version": ("upgrade", "one"),
    "uninstall": ("uninstall", "two"),
    "elevated install": ("put new", "two"),
    "elevated upgrade": ("put", "two"),
    "elevated upgrade to another launcher": ("put", "moved"),
}


ERRORS = {"SIGKILL": 0, "ENOSPC": errno.ENOSPC, "EIO": errno.EIO}
CASES = [
    pytest.param(action, ERRORS[name], id=f"{action}-{name}")
    for action in ACTIONS
    for name in ERRORS
]


@pytest.mark.parametrize(("name", "error"), CASES)
def test_whatever_step_breaks_a_version_starts_and_a_second_run_converges(
    name: str, error: int, shim: Path, site: httpserver.Site, tmp_path: Path
) -> None:
    action, target = ACTIONS[name]
    asked: dict[str, object] = {
        "root": str(tmp_path / "root"),
        "addresses": {
            version: f"{site.address}/{version}" for version in ("one", "two", "moved")
        },
        "action": action,
        "target": target,
    }
    with tool_run() as run:
        asked["run"] = run
        result = run_sweep("setup_tool", asked, shim, error=error)
    assert result["steps"] > 10
