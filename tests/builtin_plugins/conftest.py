"""What the tests of built-in plugins share."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from testing.environments import copy_environment, made_once
from testing.fork_server import share_server
from testing.installation import Made, command
from testing.packages import Environment


@pytest.fixture(scope="session")
def initialised(
    environment_of_all: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What `self init` makes with the program of `environment_of_all`, to be copied."""

    def init(root: Path) -> None:
        made = Made(root, root / "core/cli", tmp_path_factory.mktemp("home"))
        cli = environment_of_all / "venv/bin/cli"
        assert made.run("self", "init", str(root), executable=cli).status == 0

    return made_once(tmp_path_factory, "initialised", init)


@pytest.fixture(scope="session")
def venv_without_pip(
    environment_of_all: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A venv like that of `environment_of_all`, but without pip, as uv makes them."""

    def make(target: Path) -> None:
        copy_environment(environment_of_all / "venv", target)
        for path in next((target / "lib").glob("python*")).glob("site-packages/pip*"):
            shutil.rmtree(path)

    return made_once(tmp_path_factory, "without-pip", make)


def _environment(
    venv: Path, environment_of_all: Path, initialised: Path, place: Path
) -> Environment:
    """Return a new installation that is run by `venv`."""
    home = place / "home"
    home.mkdir()
    root = shutil.copytree(initialised, place / "root")
    wheels = place / "wheels"
    wheels.mkdir()
    asked = place / "asked"
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
        "PIP_COMPILE": "0",
    }
    made = Made(root, root / "core/cli", home, environ)
    launcher = made.launcher.read_text()
    assert f"{environment_of_all}/venv" in launcher
    made.launcher.write_text(launcher.replace(f"{environment_of_all}/venv", str(venv)))
    made.write(
        {
            "commands/demo/hi/command.json": command(),
            "commands/demo/hi/main.sh": "echo hi",
        }
    )
    return Environment(venv / "bin/python", wheels, made)


@pytest.fixture
def environment(
    environment_of_all: Path, initialised: Path, tmp_path: Path
) -> Environment:
    """An installation that the environment with pip runs, which all tests share."""
    venv = environment_of_all / "venv"
    return _environment(venv, environment_of_all, initialised, tmp_path)


@pytest.fixture(scope="session")
def cache_of_uv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What uv knows of an interpreter, which it would start in each new home to ask it."""
    return tmp_path_factory.mktemp("cache-of-uv")


def _use_uv(environment: Environment, cache: Path) -> None:
    """Put uv on PATH, for an environment without pip."""
    environ = cast("dict[str, str]", environment.made.environ)
    environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
    environ |= {"UV_CACHE_DIR": str(cache), "UV_COMPILE_BYTECODE": "0"}
    config = environment.made.home / ".config/uv/uv.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'no-index = true\nfind-links = ["{environment.wheels}"]\n')


@pytest.fixture
def own_environment(
    venv_without_pip: Path,
    environment_of_all: Path,
    initialised: Path,
    cache_of_uv: Path,
    tmp_path: Path,
) -> Iterator[Environment]:
    """An environment of the test's own, which it may ruin, and an installation that it runs."""
    venv = copy_environment(venv_without_pip, tmp_path / "venv")
    environment = _environment(venv, environment_of_all, initialised, tmp_path)
    _use_uv(environment, cache_of_uv)
    yield environment
    shutil.rmtree(venv)  # forty megabytes


@pytest.fixture
def with_uv(
    venv_without_pip: Path,
    environment_of_all: Path,
    initialised: Path,
    cache_of_uv: Path,
    tmp_path: Path,
) -> Environment:
    """An installation that an environment without pip runs: uv takes a tenth of the time."""
    environment = _environment(
        venv_without_pip, environment_of_all, initialised, tmp_path
    )
    _use_uv(environment, cache_of_uv)
    share_server(environment.made.launcher)
    return environment


@pytest.fixture(params=[pytest.param("pip", marks=pytest.mark.night), "uv"])
def either(request: pytest.FixtureRequest) -> Environment:
    """An installation whose installer is pip, and then one whose installer is uv."""
    name = "environment" if request.param == "pip" else "with_uv"
    environment: Environment = request.getfixturevalue(name)
    return environment
