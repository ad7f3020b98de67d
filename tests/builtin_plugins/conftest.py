"""What the tests of built-in plugins share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.installation import Made, command
from testing.packages import Environment


@pytest.fixture
def environment(venv: Path, tmp_path: Path) -> Iterator[Environment]:
    home = tmp_path / "home"
    home.mkdir()
    root = tmp_path / "root"
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    environ = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    made = Made(root, root / "core/cli", home, environ)
    assert made.run("self", "init", str(root), executable=venv / "bin/cli").status == 0
    made.write({"commands/demo/hi/command.json": command(), "commands/demo/hi/main.sh": "echo hi"})
    environment = Environment(venv / "bin/python", wheels, made)
    yield environment
    environment.pip("uninstall", "--yes", "acme-cli", "broken-cli", "needed", "twin-cli", "a-cli")
