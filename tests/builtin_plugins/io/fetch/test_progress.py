"""What a terminal shows, and what a log gets."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from itertools import product

import pytest
from wcwidth import wcswidth

SCRIPT = """
import json, os, sys, time
now = 1000.0
time.time = time.monotonic = lambda: now
from builtin_plugins.io.fetch import progress
from builtin_plugins.io.fetch.progress import Reporter
progress._LINE_SECONDS = 0.1
for terminal, environ in json.loads(sys.argv[1]):
    os.dup2(terminal, 2)
    os.close(terminal)
    total = 4 << 20 if "CHUNKED" not in environ else None
    reporter = Reporter("cli", bool(environ.get("QUIET")), False, environ)
    with reporter.progress(environ.get("LABEL", "Tool")) as update:
        for done in (0, 1 << 20, 3 << 20, 2 << 20, 4 << 20):
            now += 0.15
            update(done, total, "connection reset; trying again" if done == 2 << 20 else "")
"""
Case = tuple[int, dict[str, str]]  # columns (0: the terminal does not say), environment


def shown(cases: list[Case]) -> Iterator[str]:
    """Yield what each shows on a terminal of its own, by a clock that nothing slows down."""
    terminals, given = [], []
    for width, environ in cases:
        terminal, child = pty.openpty()
        size = struct.pack("4H", 24 if width else 0, width, 0, 0)
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


def run(width: int = 0, **environ: str) -> str:
    [text] = shown([(width, environ)])
    return text


def test_a_terminal_gets_a_bar_with_rate_and_remaining_time() -> None:
    text = run()
    for expected in ("Tool", "75%", "100%", "MiB/s", "3.00M/4.00M", "00:0", "\r"):
        assert expected in text


WHOLE = re.compile(  # a name, perhaps cut, and what came, in all, how fast, how long; a bar
    r"(\S+( |\.\.\. ))? {0,2}(\d+%|[\d.]+M?)( ?[\d.]+M?/4\.00M)?( [\d.?]+[KMGT]?i?B/s)?"
    r"( [\d:]{5,8}| \?)?( [ █▏▎▍▌▋▊▉]{5,})? *"
)
LABELS = ["Tool", "https://downloads.test/" + "long/" * 40, "工具" * 60]


def test_a_refresh_is_never_a_new_line() -> None:
    """Below 72 columns, or with a long name at 80, each refresh was a line of its own."""
    cases: list[Case] = [
        (width, {"LABEL": label, **kind})
        for width, label, kind in product([20, 30, 40, 71, 80, 200], LABELS, [{}, {"CHUNKED": "1"}])
    ]
    for case, text in zip(cases, shown(cases), strict=True):
        width, environ = case
        rows = re.split(r"[\r\n]+", text)
        rows = [row for row in rows if row.strip() and "trying again" not in row]
        assert all(wcswidth(row) < width for row in rows), (case, rows)
        assert all(map(WHOLE.fullmatch, rows)), (case, rows)
        assert text.count("\n") == 2, case  # what went wrong, and the end
        assert "4.00M" in text or (width <= 30 and "CHUNKED" not in environ), case
        assert "MiB/s" in text or width <= 40, case


def test_a_name_is_shown_escaped() -> None:
    assert "T\\x1b[31m" in run(LABEL="T\x1b[31m")


def test_what_is_tried_again_is_told_and_the_bar_goes_on_from_there() -> None:
    before, _, after = run(80).partition("connection reset; trying again\r\n")
    assert "75%" in before
    assert "50%" in after
    assert "100%" in after


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_plain_terminal_gets_lines(environ: dict[str, str]) -> None:
    text = run(**environ)
    assert "3.0 MiB of 4.0 MiB (75 %)\r\n" in text
    assert "connection reset; trying again\r\n" in text
    assert "\x1b" not in text


def test_quiet_shows_nothing() -> None:
    assert run(QUIET="1") == ""
