"""A bash process on its own terminal, whose keys a program presses."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from collections.abc import Callable
from pathlib import Path

COLUMNS = 57  # readable on a phone
_ROWS = 40

_PATIENCE = 60.0  # seconds for a run
_INVISIBLE = re.compile(r"\r(?=\r*\n)|\a|\033\[\?2004[hl]\r?")


class TerminalSession:
    """A bash process on its own pseudo-terminal."""

    def __init__(
        self,
        home: Path,
        environ: dict[str, str],
        options: tuple[str, ...] = ("--norc", "-i"),
    ) -> None:
        self._child, self._terminal = pty.fork()
        if self._child == 0:
            os.chdir(home)
            os.execve("/bin/bash", ["bash", *options], {**environ, "PS1": "$ "})

        size = struct.pack("HHHH", _ROWS, COLUMNS, 0, 0)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, size)
        if "-i" in options:
            self.read(lambda shown: shown.endswith("$ "))

    def enter(self, line: str) -> str:
        """Type a line and return what the terminal shows until the next prompt."""
        return self.press(f"{line}\r", "\n$ ")

    def press(self, keys: str, end: str) -> str:
        """Press keys and return what the terminal shows until the output ends with `end`."""
        os.write(self._terminal, keys.encode())
        return self.read(lambda shown: shown.endswith(end))

    def read(self, ends: Callable[[str], object], patience: float = _PATIENCE) -> str:
        """Return what the terminal shows until a condition holds or the program ends.

        Raises TimeoutError after `patience` seconds.
        """
        output = b""
        shown = ""
        until = time.monotonic() + patience
        while not ends(shown):
            left = max(0.0, until - time.monotonic())
            ready, _, _ = select.select([self._terminal], [], [], left)
            if not ready:
                raise TimeoutError(f"{output!r}")

            try:
                chunk = os.read(self._terminal, 65536)
            except OSError:  # Linux raises EIO when the program has ended
                break
            if not chunk:
                break

            # A character may be cut in two between chunks, so all of the output is decoded again.
            output += chunk
            shown = _INVISIBLE.sub("", output.decode(errors="ignore"))
        return shown

    def end(self) -> None:
        """Close the terminal, which ends the program."""
        os.close(self._terminal)
        os.waitpid(self._child, 0)
