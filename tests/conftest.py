"""The fixtures of the whole suite."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from testing import httpserver
from testing.applications import application
from testing.environments import make_environment
from testing.installation import PROJECT, Made, builder


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., Made]:
    """Return `install(files, program="cli")`, which makes an installation of its own each time."""
    return builder(tmp_path)


@pytest.fixture(scope="module")
def shared_install(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Made]:
    """Return what `install` does, for installations that the tests of one module share."""
    return builder(tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="session")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a venv that has pip, this program's wheel and what that needs."""
    return make_environment(tmp_path_factory.mktemp("pip"))


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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        ["git", "daemon", "--listen=127.0.0.1", f"--port={port}", "--export-all", "--reuseaddr",
         f"--base-path={tmp_path}", str(tmp_path)],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield f"git://127.0.0.1:{port}"
    os.killpg(process.pid, 15)
    process.wait()


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that ends a process, or fails a call, at the nth change on disk."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs gcc on Linux")
    made = tmp_path_factory.mktemp("shim") / "faults.so"
    source = PROJECT / "tests/testing/faults.c"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return made
