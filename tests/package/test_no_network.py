"""Nothing is asked of the network at import, in a run or in a listing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made, command

_IMPORT_ALL = """
import importlib, pkgutil, host, builtin_plugins
for package in (host, builtin_plugins):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name != "host.__main__":
            importlib.import_module(found.name)
print("all")
"""

pytestmark = pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")


def traced(words: list[str], cwd: Path) -> tuple[str, list[str]]:
    """Return what the words printed, and their calls that would reach another machine."""
    trace = cwd / "trace.txt"
    calls = "trace=connect,sendto,sendmsg,sendmmsg"
    done = subprocess.run(
        ["strace", "-f", "-qq", "-e", calls, "-o", trace, *words],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, [
        line for line in trace.read_text().splitlines() if "AF_INET" in line
    ]


def test_importing_everything(tmp_path: Path) -> None:
    assert traced([sys.executable, "-c", _IMPORT_ALL], tmp_path) == ("all\n", [])


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["demo", "hello"], "hello\n"),
        (["demo"], "hello"),
        (["--version"], "Test CLI 1.2.3\n"),
        (["self", "list"], "hello"),
        (["self", "plugin", "list"], ""),
    ],
    ids=" ".join,
)
def test_a_run_and_listings(
    words: list[str], shown: str, install: Callable[..., Made], tmp_path: Path
) -> None:
    made = install(
        {
            "commands/demo/hello/command.json": command(),
            "commands/demo/hello/main.sh": "echo hello\n",
            "config/settings.conf": "A=1\n",
        }
    )
    printed, reached = traced([str(made.launcher), *words], tmp_path)
    assert shown in printed
    assert reached == []


def test_the_trace_can_fail(tmp_path: Path) -> None:
    ask = "import socket; socket.socket().connect_ex(('127.0.0.1', 9))"
    assert traced([sys.executable, "-c", ask], tmp_path)[1]
