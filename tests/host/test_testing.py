"""What `host.testing` gives to the tests of other people."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import host.testing
from host.testing import InstalledProgram, command, installer

_HELLO = {
    "commands/greet/hello/command.json": command(envs={"GREETING": "Hello"}),
    "commands/greet/hello/main.sh": 'echo "$GREETING, ${1:-world}!"; cat; exit 3',
}


def test_a_run_and_its_result(install: Callable[..., InstalledProgram]) -> None:
    acme = install(_HELLO, "acme")
    done = acme.run("greet", "hello", "Ada", input=b"more\n")
    assert (
        (done.status, done.stdout, done.stderr)
        == done.all
        == (3, "Hello, Ada!\nmore\n", "")
    )
    assert (
        acme.run("greet", "hello", env={"GREETING": "Ahoy"}).stdout == "Ahoy, world!\n"
    )
    assert acme.run("--version").stdout == "Test CLI 1.2.3\n"


def test_a_run_sees_no_other_variables(
    install: Callable[..., InstalledProgram], monkeypatch: object
) -> None:
    os.environ["GREETING_OF_THE_CALLER"] = "1"
    try:
        done = install({"commands/show": "#!/bin/sh\nenv"}).run(
            "show", env={"MINE": "1"}
        )
    finally:
        del os.environ["GREETING_OF_THE_CALLER"]
    assert "MINE=1\n" in done.stdout
    assert "GREETING_OF_THE_CALLER" not in done.stdout


def test_the_program_of_an_installation(
    install: Callable[..., InstalledProgram],
) -> None:
    program = install(_HELLO).program
    assert program.find(("greet", "hello")).definition.envs == {"GREETING": "Hello"}
    assert [listed.words for listed in program.commands()] == [("greet", "hello")]


def test_installations_of_one_directory(tmp_path: Path) -> None:
    install = installer(tmp_path)
    first, second = install(_HELLO), install(_HELLO)
    first.write({"commands/greet/hello/main.sh": "echo changed"})
    assert first.run("greet", "hello").stdout == "changed\n"
    assert second.run("greet", "hello").stdout == "Hello, world!\n"
    assert first.home == second.home


@pytest.mark.slow
def test_the_example_of_the_docstring(tmp_path: Path) -> None:
    """Its two parts are conftest.py and a test; pytest runs them as they are."""
    _, conftest, test = (host.testing.__doc__ or "").split("::\n\n")
    parts = {"conftest.py": conftest, "test_hello.py": test}
    for name, text in parts.items():
        lines = text.splitlines()
        indented = [line[4:] for line in lines if line.startswith("    ") or not line]
        (tmp_path / name).write_text("\n".join(indented) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout, done.stdout + done.stderr
