"""The program on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from typing import Self

from testing.fork_server import server_for
from testing.installation import Made
from testing.waiting import LONGEST


def on_terminal(
    made: Made, *words: str, columns: int = 80, **env: str
) -> tuple[int, str]:
    """Return the status of a run whose three streams are a terminal, and what it shows."""
    primary, secondary = pty.openpty()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(made.home),
        "COLUMNS": str(columns),
        "TERM": "xterm",
        **env,
    }
    argv, streams = [os.fspath(made.launcher), *words], [secondary] * 3
    server = server_for(made.launcher, environ)
    if server is None:
        process = subprocess.Popen(
            argv, stdin=secondary, stdout=secondary, stderr=secondary, env=environ
        )
    else:
        started = server.start(argv, environ, streams, os.getcwd())
    os.close(secondary)
    shown = b""
    while True:
        try:
            chunk = os.read(primary, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(primary)
    if server is None:
        status = process.wait(LONGEST)
    else:
        with started:
            started.settimeout(LONGEST)
            status = int(started.recv(16))
    return status, shown.decode().replace("\r\n", "\n")


_ESCAPES = re.compile(
    r"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()=>][A-Z0-9]?"
)
_ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62c",
}  # to questions of the program


class Terminal:
    """A program on a terminal of its own; a test types, and waits for what the program shows."""

    def __init__(
        self, argv: Sequence[str], environ: Mapping[str, str], directory: str = "/"
    ) -> None:
        self.shown = ""
        self._raw = b""
        self._start = 0
        self.process, self._terminal = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.chdir(environ.get("HOME", directory))
            os.execve(argv[0], [*argv], dict(environ))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._terminal)
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)

    def type(self, text: str) -> None:
        """Type `text`; the next `wait_for` considers only what is shown after it."""
        self._start = len(self.shown)
        os.write(self._terminal, text.encode())

    def wait_for(self, text: str) -> str:
        """Read until `text` is shown; return everything that is shown since the last `type`."""
        end = time.monotonic() + LONGEST
        while text not in self.shown[self._start :]:
            assert time.monotonic() < end, f"{text!r} is not in {self.shown!r}"
            assert self._read(), f"the program ended: {text!r} is not in {self.shown!r}"
        return self.shown[self._start :]

    def settle(self, quiet: float = 0.6) -> None:
        """Read until something is shown, and then nothing for `quiet` seconds."""
        last, changed = "", time.monotonic()
        end = changed + LONGEST
        while not self.shown.strip() or time.monotonic() - changed < quiet:
            assert time.monotonic() < end, f"it never settles: {self.shown!r}"
            assert self._read(), f"the program ended: {self.shown!r}"
            if self.shown != last:
                last, changed = self.shown, time.monotonic()

    def wait(self) -> int:
        """Wait for the end of the program; return its exit status, negative for a signal."""
        while self._read():
            pass
        _, status = os.waitpid(self.process, 0)
        self.process = 0
        return os.waitstatus_to_exitcode(status)

    @property
    def mode(self) -> list[object]:
        """The settings of the terminal."""
        return termios.tcgetattr(self._terminal)

    def _read(self) -> bool:
        """Read what the program shows within a short time; return False at its end."""
        if not select.select([self._terminal], [], [], 0.1)[0]:
            return True
        try:
            chunk = os.read(self._terminal, 65536)
        except OSError:
            return False
        for question, answer in _ANSWERS.items():
            if question in chunk:
                os.write(self._terminal, answer)
        self._raw += chunk
        self.shown = _ESCAPES.sub("", self._raw.decode("utf-8", "replace")).replace(
            "\r\n", "\n"
        )
        return bool(chunk)
