"""The bar on a terminal, and the lines in a log."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress

import pytest

SCRIPT = """
import json, os, sys, time
now = 1000.0
time.time = time.monotonic = lambda: now
from builtin_plugins.library.progress import QuietMessages, progress_bar
from host import Messages
for terminal, environ in json.loads(sys.argv[1]):
    os.dup2(terminal, 2)
    os.close(terminal)
    total = 4 << 20 if "CHUNKED" not in environ else None
    messages = (QuietMessages if "QUIET" in environ else Messages)("cli", environ)
    with progress_bar(messages, environ.get("LABEL", "Tool")) as update:
        for done in (0, 1 << 20, 3 << 20, 2 << 20, 4 << 20):
            now += 0.15
            update(done, total, "connection reset; trying again" if done == 2 << 20 else "")
"""
Case = tuple[int, dict[str, str]]  # columns, environment


def shown(cases: list[Case]) -> Iterator[str]:
    """Yield what each shows on a terminal of its own, by a clock that nothing slows down."""
    terminals, given = [], []
    for width, environ in cases:
        terminal, child = pty.openpty()
        size = struct.pack("4H", 24, width, 0, 0)
        fcntl.ioctl(child, termios.TIOCSWINSZ, size)
        terminals.append(terminal)
        given.append((child, {"TERM": "xterm", **environ}))
    children = [child for child, _ in given]
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, json.dumps(given)],
        env={"PYTHONPATH": os.pathsep.join(sys.path), "LC_ALL": "C.UTF-8"},
        pass_fds=children,
    )
    for child in children:
        os.close(child)
    for terminal in terminals:
        text = b""
        with suppress(OSError), open(terminal, "rb", buffering=0) as file:
            while piece := file.read(4096):
                text += piece
        yield text.decode()
    assert process.wait(60) == 0


CASES: dict[str, dict[str, str]] = {
    "terminal": {},
    "name": {"LABEL": "T\x1b[31m"},
    "no colour": {"NO_COLOR": "1"},
    "dumb": {"TERM": "dumb"},
    "quiet": {"QUIET": "1"},
}


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    shown_in_order = shown([(80, environ) for environ in CASES.values()])
    return dict(zip(CASES, shown_in_order, strict=True))


def test_a_terminal_gets_a_bar_with_rate_and_remaining_time(
    texts: dict[str, str],
) -> None:
    for expected in ("Tool", "75%", "100%", "MiB/s", "3.00M/4.00M", "00:0", "\r"):
        assert expected in texts["terminal"]


def test_a_name_is_shown_escaped(texts: dict[str, str]) -> None:
    assert "T\\x1b[31m" in texts["name"]


def test_the_reason_of_another_attempt_is_a_line_of_its_own(
    texts: dict[str, str],
) -> None:
    before, _, after = texts["terminal"].partition("connection reset; trying again\r\n")
    assert "75%" in before
    assert "100%" in after


@pytest.mark.parametrize("case", ["no colour", "dumb"])
def test_a_plain_terminal_gets_no_bar(texts: dict[str, str], case: str) -> None:
    assert texts[case] == "connection reset; trying again\r\n"


def test_quiet_shows_nothing(texts: dict[str, str]) -> None:
    assert texts["quiet"] == ""
