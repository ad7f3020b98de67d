"""What the wheel needs, and what its tests need, is licensed as pyproject.toml allows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from testing.installation import PROJECT


@pytest.mark.parametrize(
    ("arguments", "status"),
    [([], 0), (["--allow-only", "MIT"], 1)],
    ids=["all", "can fail"],
)
def test_licences(arguments: list[str], status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "piplicenses", *arguments],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr
