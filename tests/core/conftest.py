"""Real shells for the tests of core/lib."""

import os
import pty
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from testing.shells import LIB, Result, shell_path

NOBODY = 65534


def as_nobody() -> None:
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def open_to_nobody(directory: Path) -> None:
    """Let others into a directory of pytest's, which are private to their user."""
    for place in [directory, *directory.parents]:
        if place.name.startswith(("pytest-", "popen-", directory.name)):
            place.chmod(0o755)
        elif not place.stat().st_mode & 0o001:
            pytest.skip(f"other users cannot get into {place}")


@pytest.fixture(params=["bash", "zsh", "dash"])
def shell(request: pytest.FixtureRequest) -> str:
    """Each shell that a script may be written in."""
    return shell_path(request.param)


@pytest.fixture(params=["bash", "zsh"])
def array_shell(request: pytest.FixtureRequest) -> str:
    """Each shell with arrays."""
    return shell_path(request.param)


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs a script in a shell with nothing but LIB_DIR and PATH set."""

    def run(
        shell: str,
        script: str,
        *args: str,
        env: Mapping[str, str | None] | None = None,
        stdin: str = "",
        nobody: bool = False,
        file: Path | None = None,
    ) -> Result:
        if file is None:
            file = tmp_path / "script"
        file.write_text(script)
        base = {"LIB_DIR": str(LIB), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        merged = {k: v for k, v in {**base, **(env or {})}.items() if v is not None}
        if nobody:
            open_to_nobody(tmp_path)
        done = subprocess.run(
            [shell, str(file), *args],
            input=stdin.encode(),
            check=False,
            capture_output=True,
            env=merged,
            timeout=60,
            preexec_fn=as_nobody if nobody else None,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def statuses(run: Run) -> Callable[..., list[int]]:
    """Return a function that calls a shell function with each value, in one shell: the statuses.

    `call` is the call in the shell's words, with the value as "$value".
    """

    def statuses(shell: str, load: str, call: str, values: list[str]) -> list[int]:
        script = f'{load}set +e\nfor value; do {call}; echo "$?"; done'
        return [int(line) for line in run(shell, script, *values).out.split()]

    return statuses


@pytest.fixture
def on_terminal() -> Callable[..., str]:
    """Return a function that runs a command on a new terminal and returns what it shows."""

    def on_terminal(argv: list[str], env: Mapping[str, str], typed: str = "") -> str:
        main, side = pty.openpty()
        process = subprocess.Popen(
            argv,
            stdin=side,
            stdout=side,
            stderr=side,
            env=dict(env),
            start_new_session=True,
        )
        os.close(side)
        os.write(main, typed.encode())
        shown = b""
        while True:
            try:
                chunk = os.read(main, 4096)
            except OSError:  # Linux: the other side is closed
                break
            if not chunk:
                break
            shown += chunk
        process.wait(timeout=60)
        os.close(main)
        return shown.decode().replace("\r\n", "\n")

    return on_terminal


@pytest.fixture
def stub(tmp_path: Path) -> Callable[[str, str], Path]:
    """Return a function that puts a program into a directory of its own: its path."""

    def stub(name: str, body: str) -> Path:
        directory = tmp_path / "stubs"
        directory.mkdir(exist_ok=True)
        program = directory / name
        program.unlink(missing_ok=True)  # it may be a link to the system's own program
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        return directory

    return stub
