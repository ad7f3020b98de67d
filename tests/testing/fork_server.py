"""Runs of the program as forks of one process that has imported it already.

The workers of the tests share a server, which starts as a launcher starts Python and imports what
the program imports to build a lock. It forks for each run. The fork gets the words, environment,
directory and standard streams of the run, and calls `main`, so a run is the program's own code in a
process of its own. What it leaves out, the start of the interpreter and its imports, is two thirds
of a run's time. With FULL_SWEEP=1 there is no server.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import host
from builtin_plugins.program.launcher import interpreter, launcher_text
from host.testing.installations import CLI
from testing.waiting import wait_until

_SERVER = Path(__file__).with_name("fork_server_process.py")
_RELAY = Path(__file__).with_name("fork_relay.py")
# The interpreter reads these when it starts.
_OF_THE_START = ("LC_", "LANG", "PYTHON", "TZ")
_BLOCK = 1 << 16
# What many commands import. None is the program's own: the lock of a checkout names those loaded.
_COMMON = (
    "click",
    "dotenv",
    "logging",
    "packaging.requirements",
    "packaging.tags",
    "requests",
    "shutil",
    "sqlite3",
    "tarfile",
    "tempfile",
    "tomllib",
    "zipfile",
)

_servers: dict[bytes, ForkServer | None] = {}
_more: list[str] = []
_become_commands = [False]


def import_too(*modules: str) -> None:
    """Let forks import these modules of other packages at once, and become commands in Python.

    For the tests of packages, whose commands would import them at each start. A fork replaces
    itself by a command in Python, without a start of Python, as it becomes a run.
    """
    _more.extend(modules)


@contextmanager
def command_forks() -> Iterator[None]:
    """Let forks become commands in Python, for tests of what such a command does, not gets."""
    _become_commands.append(True)
    try:
        yield
    finally:
        _become_commands.pop()


def started(argv: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """Return the argv of a process that behaves like `argv`, a start of a launcher.

    It passes its streams on to a fork, and signals, and ends as the fork ends. If it leads a
    session, the fork does, too.
    """
    server = server_for(Path(argv[0]), environ)
    if server is None:
        return [*argv]
    return [sys.executable, "-IS", os.fspath(_RELAY), server.address, *argv]


def share_server(launcher: Path) -> None:
    """Let runs of launchers like this one be forks: no test changes their environment."""
    _servers.setdefault(launcher.read_bytes())


def server_for(launcher: Path, environ: Mapping[str, str]) -> ForkServer | None:
    """Return the server whose forks are like a start of this launcher, or None.

    The program that pip installs, `cli` beside the tests' Python, calls the same `main`.
    """
    # Only Linux has been tried.
    if os.environ.get("FULL_SWEEP") or sys.platform != "linux" or launcher.is_symlink():
        return None
    if any(os.fsdecode(name).startswith(_OF_THE_START) for name in environ):
        return None

    if launcher == Path(sys.executable).with_name("cli"):
        text = _launcher_of_tests()
    else:
        text = launcher.read_bytes()
    if text not in _servers and text != _launcher_of_tests():
        return None
    server = _servers.get(text)
    if server is None:
        server = _servers[text] = ForkServer(text)
    return server


@cache
def _launcher_of_tests() -> bytes:
    return launcher_text(interpreter()).encode()


class ForkServer:
    """The server for one launcher, which the first worker starts for all."""

    def __init__(self, launcher: bytes) -> None:
        tests = os.environ.get("PYTEST_XDIST_TESTRUNUID", os.getpid())
        self.address = f"cli-tests-{tests}-{sha256(launcher).hexdigest()[:16]}"
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            try:
                listener.bind(f"\0{self.address}")
            except OSError:  # another worker has been first
                self._stay = self._connected()
            else:
                listener.listen()
                self._stay = self._connected()
                self._start(launcher, listener)
        self._stay.send(b"stay")
        atexit.register(self._end)

    def _connected(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def is_connected() -> bool:
            try:
                client.connect(f"\0{self.address}")
            except ConnectionRefusedError:  # the other worker is about to listen
                return False
            return True

        wait_until(is_connected)
        return client

    def _start(self, launcher: bytes, listener: socket.socket) -> None:
        python, modules = _imported(launcher)
        [packages] = python.parents[1].glob("lib/python*/site-packages")
        is_ours = python.parents[1] == Path(sys.prefix)
        own = Path(host.__file__).parents[1] if is_ours else packages
        number = listener.fileno()
        command = [python, "-IS", _SERVER, str(number), own, packages]
        command += [*modules, "--", *_more]
        environ = {"PATH": os.environ["PATH"], "HOME": "/"}
        self._process = subprocess.Popen(
            command,
            env=environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[number],
        )

    def _end(self) -> None:
        """Leave the server, and wait, so that the time of its runs counts as that of the tests."""
        self._stay.close()
        if self._process:
            self._process.wait()

    def run(
        self,
        argv: Sequence[str | bytes],
        environ: Mapping[str, str],
        *,
        data: bytes | None,
        stdin: Any,
        directory: str,
        seconds: float,
        session: bool = False,
    ) -> subprocess.CompletedProcess[bytes]:
        """Do what `subprocess.run` does with pipes; `data` is its `input`."""
        to_stdin = None
        if data is not None:
            given, to_stdin = os.pipe()
        elif stdin == subprocess.DEVNULL:
            given = os.open(os.devnull, os.O_RDWR)
        else:
            given = os.dup(stdin if isinstance(stdin, int) else stdin.fileno())
        out, to_out = os.pipe()
        err, to_err = os.pipe()
        streams = [given, to_out, to_err]
        ours = self.start(argv, environ, streams, directory, session=session)
        for descriptor in streams:
            os.close(descriptor)
        with ours:
            try:
                read = _exchange({out: [], err: []}, to_stdin, data or b"", seconds)
                ours.settimeout(seconds)
                answer = ours.recv(_BLOCK)
            except TimeoutError:
                ours.send(b"9")
                raise subprocess.TimeoutExpired(argv, seconds) from None
        return subprocess.CompletedProcess(argv, int(answer), *read)

    def start(
        self,
        argv: Sequence[str | bytes],
        environ: Mapping[str, str],
        streams: Sequence[int],
        directory: str,
        *,
        session: bool = False,
    ) -> socket.socket:
        """Start a run with three streams; what this returns gets its status as a text."""
        request = {
            "argv": [os.fsdecode(word) for word in argv],
            "environ": {
                os.fsdecode(name): os.fsdecode(environ[name]) for name in environ
            },
            "directory": directory,
            "umask": _umask(),
            "session": session,
            "becomes_command": _become_commands[-1],
        }
        ours = self._connected()
        with TemporaryFile() as file:
            file.write(json.dumps(request).encode())
            file.flush()
            socket.send_fds(ours, [b"run"], [file.fileno(), *streams])
        return ours


def _imported(launcher: bytes) -> tuple[Path, list[str]]:
    """Return the launcher's interpreter, and the modules that it imports to build a lock."""
    shebang, _, _ = launcher.partition(b"\n")
    python = Path(os.fsdecode(shebang.removeprefix(b"#!").removesuffix(b" -IS")))
    with TemporaryDirectory() as directory:
        root = Path(directory)
        for folder in ("core", "commands", "plugins"):
            (root / folder).mkdir()
        (root / "core/cli.json").write_text(json.dumps(CLI))
        program = root / "core/cli"
        program.write_bytes(launcher)
        # `-X importtime` does not name what `importlib.import_module` imports.
        command = [python, "-v", "-IS", program, "self", "lock"]
        environ = {"PATH": os.environ["PATH"], "HOME": directory}
        done = subprocess.run(
            command, env=environ, capture_output=True, text=True, check=True
        )
    names = re.findall(r"^import '(.+?)' #", done.stderr, re.MULTILINE)
    # A run takes an imported `site` for the completed import path.
    return python, [name for name in names if name != "site"] + [*_COMMON]


def _exchange(
    read: dict[int, list[bytes]], to_stdin: int | None, data: bytes, seconds: float
) -> list[bytes]:
    """Write `data`, read until both pipes end, and close all. Raises TimeoutError."""
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for descriptor in read:
            selector.register(descriptor, selectors.EVENT_READ)
        if to_stdin is not None:
            os.set_blocking(to_stdin, False)
            selector.register(to_stdin, selectors.EVENT_WRITE)
        try:
            while selector.get_map():
                left = end - time.monotonic()
                if left < 0:
                    raise TimeoutError
                for key, _ in selector.select(left):
                    if key.fd in read:
                        block = os.read(key.fd, _BLOCK)
                        read[key.fd].append(block)
                        if not block:
                            selector.unregister(key.fd)
                        continue
                    try:
                        data = data[os.write(key.fd, data[:_BLOCK]) :]
                    except BrokenPipeError:
                        data = b""
                    if not data:
                        selector.unregister(key.fd)
                        os.close(key.fd)
                        to_stdin = None
        finally:
            for descriptor in (*read, *([to_stdin] if to_stdin is not None else [])):
                os.close(descriptor)
    return [b"".join(blocks) for blocks in read.values()]


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
