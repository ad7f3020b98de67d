"""Whatever step of a change is ended or fails: a version starts, and a second run converges."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing import httpserver
from testing.installation import PROJECT
from testing.machine import PATHS

MEMORY = "/dev/shm"


@pytest.fixture
def ground() -> Iterator[Path]:
    """A directory to break things in; in memory where that can be, as each run syncs."""
    where = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as directory:
        yield Path(directory)


ACTIONS = {
    "install": ("install", "two", False),
    "upgrade": ("upgrade", "two", False),
    "upgrade without exchange": ("upgrade", "two", True),
    "upgrade to another launcher": ("upgrade", "moved", False),
    "uninstall": ("uninstall", "two", False),
    "elevated upgrade": ("put", "two", False),
    "elevated without exchange": ("put", "moved", True),
}


@pytest.mark.parametrize("error", [0, errno.ENOSPC, errno.EIO], ids=["SIGKILL", "ENOSPC", "EIO"])
@pytest.mark.parametrize("name", ACTIONS)
def test_whatever_step_breaks_a_version_starts_and_a_second_run_converges(
    name: str, error: int, shim: Path, site: httpserver.Site, ground: Path
) -> None:
    """SETUP_SWEEP=full breaks every step, else every kill and each fifth error."""
    action, target, bare = ACTIONS[name]
    stride = 1 if os.environ.get("SETUP_SWEEP") == "full" or not error else 5
    asked = {
        "root": str(ground / "root"),
        "addresses": {version: f"{site.address}/{version}" for version in ("one", "two", "moved")},
        "action": action,
        "target": target,
        "error": error,
        "bare": bare,
        "stride": stride,
    }
    done = subprocess.run(
        [sys.executable, PROJECT / "tests/testing/setup_sweep.py", json.dumps(asked)],
        env={
            "PATH": os.environ["PATH"],
            "LD_PRELOAD": str(shim),
            "PYTHONPATH": PATHS,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    sys.stdout.write(f"sweep: {name}, {errno.errorcode.get(error, 'SIGKILL')}: {result['runs']}\n")
    assert result["broken"] == []
    assert result["runs"] > (15 if stride == 1 else 4)
