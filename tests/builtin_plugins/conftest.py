"""What the tests of built-in plugins share."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testing.installation import Made, command
from testing.packages import Environment


@pytest.fixture
def environment(new_venv: Callable[[Path], Path], tmp_path: Path) -> Iterator[Environment]:
    """An environment of the test's own, which it may ruin, and an installation that it runs."""
    venv = new_venv(tmp_path / "venv")
    home = tmp_path / "home"
    home.mkdir()
    root = tmp_path / "root"
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    environ = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    made = Made(root, root / "core/cli", home, environ)
    assert made.run("self", "init", str(root), executable=venv / "bin/cli").status == 0
    made.write({"commands/demo/hi/command.json": command(), "commands/demo/hi/main.sh": "echo hi"})
    yield Environment(venv / "bin/python", wheels, made)
    shutil.rmtree(venv)  # forty megabytes
