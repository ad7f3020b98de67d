"""An interactive bash on a terminal, with job control, that a test types into."""

from __future__ import annotations

import os
import pty
import re
import select
import termios
import time
from collections.abc import Mapping, Sequence

from testing.waiting import LONGEST

_PROMPT = "test% "


def typed(
    environ: Mapping[str, str], steps: Sequence[tuple[str, str]], home: str = "/"
) -> str:
    """Type each step's text into a shell, and wait until what follows matches its pattern.

    Returns everything that the terminal shows. An AssertionError has it, too.
    """
    process, terminal = pty.fork()
    if process == 0:
        mode = termios.tcgetattr(0)
        mode[3] &= ~termios.ECHO  # patterns would match what is typed
        termios.tcsetattr(0, termios.TCSANOW, mode)
        os.chdir(home)
        bash = "/bin/bash"
        os.execve(
            bash,
            [bash, "--norc", "--noprofile", "--noediting", "-i"],
            {**environ, "PS1": _PROMPT, "TERM": "dumb", "HISTFILE": ""},
        )
    shown = ""
    try:
        shown += _read_until(terminal, re.escape(_PROMPT), shown)
        for text, pattern in steps:
            os.write(terminal, text.encode())
            shown += _read_until(terminal, pattern, shown)
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    return shown


def _read_until(terminal: int, pattern: str, before: str) -> str:
    shown = ""
    deadline = time.monotonic() + LONGEST
    while not re.search(pattern, shown):
        left = deadline - time.monotonic()
        ready, _, _ = select.select([terminal], [], [], max(left, 0))
        assert ready, f"nothing matches {pattern!r} in {shown!r} after {before!r}"
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            chunk = b""
        assert chunk, f"the terminal was closed: {before}{shown}"
        shown += chunk.decode("utf-8", "replace").replace("\r\n", "\n")
    return shown
