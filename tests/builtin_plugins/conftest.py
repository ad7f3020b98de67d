"""What the tests of built-in plugins share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testing.environments import made_once
from testing.installation import Made, command
from testing.packages import Environment


@pytest.fixture(scope="session")
def initialised(environment_of_all: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `self init` makes with the program of `environment_of_all`, to be copied."""

    def init(root: Path) -> None:
        made = Made(root, root / "core/cli", tmp_path_factory.mktemp("home"))
        cli = environment_of_all / "venv/bin/cli"
        assert made.run("self", "init", str(root), executable=cli).status == 0

    return made_once(tmp_path_factory, "initialised", init)


@pytest.fixture
def environment(
    new_venv: Callable[[Path], Path], environment_of_all: Path, initialised: Path, tmp_path: Path
) -> Iterator[Environment]:
    """An environment of the test's own, which it may ruin, and an installation that it runs."""
    venv = new_venv(tmp_path / "venv")
    home = tmp_path / "home"
    home.mkdir()
    root = shutil.copytree(initialised, tmp_path / "root")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    asked = tmp_path / "asked"
    asked.mkdir()
    for program in (
        "lsb_release",
        "rustc",
    ):  # pip starts them to say where it runs, a dozen processes
        (asked / program).symlink_to(str(shutil.which("true")))
    environ = {
        "PATH": f"{asked}:{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
    }
    made = Made(root, root / "core/cli", home, environ)
    launcher = made.launcher.read_text()
    assert f"{environment_of_all}/venv" in launcher  # which is the others'
    made.launcher.write_text(launcher.replace(f"{environment_of_all}/venv", str(venv)))
    made.write({"commands/demo/hi/command.json": command(), "commands/demo/hi/main.sh": "echo hi"})
    yield Environment(venv / "bin/python", wheels, made)
    shutil.rmtree(venv)  # forty megabytes


@pytest.fixture
def with_uv(environment: Environment) -> Iterator[Environment]:
    """An environment without pip, as uv makes them: what it installs takes a tenth of the time."""
    with environment.without_pip():
        yield environment


@pytest.fixture(params=["pip", "uv"])
def either(request: pytest.FixtureRequest, environment: Environment) -> Environment:
    """An environment whose installer is pip, and then one whose installer is uv."""
    if request.param == "uv":
        request.getfixturevalue("with_uv")
    return environment
