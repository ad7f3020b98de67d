"""The fixtures of the whole suite."""

from __future__ import annotations

import gc
import os
import shutil
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite(
    "testing"
)  # before it is imported: a failure shows its values
pytest_plugins = ["host.testing.pytest_plugin"]  # the fixture `install`

from host.agents import agent_variables
from testing import fork_server, httpserver
from testing.applications import application
from testing.environments import (
    copy_environment,
    fetch_packages,
    made_once,
    make_environment,
)
from testing.installation import IMPORTABLE, PROJECT, Made, builder
from testing.machine import path_without
from testing.memory import in_memory
from testing.signals import reset_signals

# Tests with one of these fixtures take seconds: they make an environment, or are sweeps.
_LONG = {"environment_of_all", "shim"}
# Tests with one of these fixtures start programs, which takes a tenth of a second each: a quick run
# has one row of each.
_PROGRAMS = {"install", "shared_install", "shell", "array_shell", "on_terminal"}
_ROWS_BY_DAY = 4  # of a test with the mark `sampled`
# Folders in which nearly every test installs something; run them when you change what they test.
_SLOW_FOLDERS = (
    "builtin_plugins/plugins",
    "builtin_plugins/team",
    "builtin_plugins/setup/linux",
    "docs",
    "package",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `tests/run --quick`."""
    meaning = "run no slow tests, and one row of each test that starts programs"
    parser.addoption("--quick", action="store_true", help=meaning)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the slow folders out of a quick run, unless the command line names them."""
    tests = Path(__file__).parent
    if not config.option.quick or config.args_source is not config.ArgsSource.TESTPATHS:
        return None
    return collection_path in [tests / folder for folder in _SLOW_FOLDERS] or None


def pytest_configure(config: pytest.Config) -> None:
    """Write to memory: hundreds of tests wait for a disk to sync otherwise."""
    reset_signals()
    gc.disable()  # until all tests are collected: little of what that makes is garbage
    # Tests of questions set them themselves.
    for forbids_questions in ("CI", "CLI_NO_INPUT", *agent_variables()):
        os.environ.pop(forbids_questions, None)
    if config.option.basetemp is None and (memory := in_memory()):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", memory)
    with suppress(OSError):
        IMPORTABLE.mkdir(exist_ok=True)
    # What chance would find once in many runs is looked for in those that are for it.
    common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    fixed = {"derandomize": True, "database": None, "max_examples": 50}
    settings.register_profile("day", **common, **fixed)
    settings.register_profile("night", **common, max_examples=500)
    is_night = bool(os.environ.get("FULL_SWEEP"))
    settings.load_profile("night" if is_night else "day")
    # One store of packages for all the homes that tests make, as a user has one.
    os.environ.setdefault("PIP_CACHE_DIR", str(Path.home() / ".cache/pip"))


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Begin with the tests that take seconds: at the end a worker would wait for another's.

    Tests with the mark `night`, sweeps, and most rows of tests with the mark `sampled` are left
    out, unless FULL_SWEEP=1 is set.
    """
    items.sort(key=lambda item: _LONG.isdisjoint(_fixtures(item)))
    chosen = items
    if not os.environ.get("FULL_SWEEP"):
        by_day = [item for item in items if not _is_for_the_night(item)]
        chosen = sampled(by_day)
    if config.option.quick:
        chosen = quick_tests(chosen)
    kept = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = chosen


def pytest_collection_finish() -> None:
    """Let no garbage collection look through the thousands of tests."""
    gc.freeze()
    gc.enable()


def _is_for_the_night(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("night")) or "shim" in _fixtures(item)


def sampled(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests without most rows of those with the mark `sampled`, in the same order.

    A row of these takes a tenth of a second or more. Four rows are left, spread over the table.
    """
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            function, _, _ = item.nodeid.partition("[")
            tables.setdefault(function, []).append(item)
    left_out: set[pytest.Item] = set()
    for rows in tables.values():
        step = len(rows) / _ROWS_BY_DAY
        kept = {int(position * step) for position in range(_ROWS_BY_DAY)}
        left_out.update(row for place, row in enumerate(rows) if place not in kept)
    return [item for item in items if item not in left_out]


def quick_tests(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that `--quick` runs, in the same order."""
    chosen = []
    seen: set[str] = set()
    for item in items:
        if item.get_closest_marker("slow") or not _LONG.isdisjoint(_fixtures(item)):
            continue
        function = item.nodeid.partition("[")[0]
        if function not in seen or _PROGRAMS.isdisjoint(_fixtures(item)):
            chosen.append(item)
        seen.add(function)
    return chosen


def _fixtures(item: pytest.Item) -> Sequence[str]:
    return getattr(item, "fixturenames", ())


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Give the memory back when there is nothing to look at."""
    if exitstatus == 0 and not hasattr(session.config, "workerinput"):
        made = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # noqa: SLF001
        subprocess.run(["rm", "-rf", made], check=False)


@pytest.fixture(scope="session", autouse=True)
def _path(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Find no installed program under a name that tests give to theirs, and no slow ones.

    pip asks rustc for its version at each start; pyenv's python3 starts two shells.
    """
    unwanted = ("acme", "acme2", "cli", "two", "zed", "rustc")
    os.environ["PATH"] = path_without(unwanted, tmp_path_factory.mktemp("path"))
    found = shutil.which("python3")
    if found and Path(found).read_bytes()[:2] == b"#!":
        links = tmp_path_factory.mktemp("python")
        (links / "python3").symlink_to(Path(sys.executable).resolve())
        os.environ["PATH"] = f"{links}:{os.environ['PATH']}"


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., Made]:
    """Return `install(files, program="cli")`, which makes a new installation on each call."""
    return builder(tmp_path)


@pytest.fixture(scope="module")
def shared_install(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Made]:
    """Return what `install` does, for installations that the tests of one module share."""
    return builder(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def command_forks() -> Iterator[None]:
    """Let runs of the module become commands in Python without a start of Python."""
    with fork_server.command_forks():
        yield


@pytest.fixture(scope="session")
def environment_of_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv with pip and this program's wheel, made once; the folder `own` has the wheel.

    The workers share it, so nobody may change it: see `new_venv`.
    """
    return made_once(tmp_path_factory, "environment", make_environment)


@pytest.fixture(scope="session")
def packages(
    environment_of_all: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder as index, fetched once: this program, what it needs, and what its build needs."""
    [own] = (environment_of_all / "own").glob("*.whl")
    return made_once(tmp_path_factory, "packages", partial(fetch_packages, own))


@pytest.fixture(scope="session")
def offline(packages: Path) -> dict[str, str]:
    """The settings of a pip that asks nobody, finds `packages`, and compiles nothing ahead."""
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(packages), "PIP_COMPILE": "0"}


@pytest.fixture(scope="session")
def new_venv(environment_of_all: Path) -> Callable[[Path], Path]:
    """Return `new_venv(path)`, which makes a venv there with pip and this program's wheel."""
    return partial(copy_environment, environment_of_all / "venv")


@pytest.fixture(scope="session")
def venv(
    new_venv: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a venv that has pip, this program's wheel and what that needs."""
    return new_venv(tmp_path_factory.mktemp("pip") / "venv")


@pytest.fixture
def site() -> Iterator[httpserver.Site]:
    """A running server that offers three versions of an application."""
    with httpserver.running() as running:
        running.add("/one", application("one"))
        running.add("/two", application("two"))
        running.add("/moved", application("moved", "Moved"))
        yield running


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[str]:
    """A `git daemon` on loopback that serves what is in `tmp_path`; gives its address."""
    command = [
        "git",
        "daemon",
        "--inetd",
        "--export-all",
        f"--base-path={tmp_path}",
        str(tmp_path),
    ]

    class Connection(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            """Let a daemon serve it, as inetd does: the port is ours from the beginning."""
            streams = {"stdin": self.request, "stdout": self.request}
            subprocess.run(command, **streams, stderr=subprocess.DEVNULL, check=False)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"git://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that ends a process, or fails a call, at the nth change on disk."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs gcc on Linux")
    made = tmp_path_factory.mktemp("shim") / "faults.so"
    source = PROJECT / "tests/testing/sweep/faults.c"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return made
