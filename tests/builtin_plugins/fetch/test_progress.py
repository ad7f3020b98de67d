"""What a terminal shows, and what a log gets."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from itertools import product

import pytest
from wcwidth import wcswidth

SCRIPT = """
import os, sys, time
from builtin_plugins.fetch import progress
from builtin_plugins.fetch.progress import Reporter
progress._LINE_SECONDS = 0.1
total = 4 << 20 if "CHUNKED" not in os.environ else None
reporter = Reporter("cli", bool(os.environ.get("QUIET")), False, os.environ)
with reporter.progress(os.environ.get("LABEL", "Tool")) as update:
    for done in (0, 1 << 20, 3 << 20, 2 << 20, 4 << 20):
        time.sleep(0.15)
        update(done, total, "connection reset; trying again" if done == 2 << 20 else "")
"""


class Run:
    """A run on a terminal of `width` columns (0: it does not say)."""

    def __init__(self, width: int = 0, **environ: str) -> None:
        self._terminal, child = pty.openpty()
        size = struct.pack("4H", 24 if width else 0, width, 0, 0)
        fcntl.ioctl(child, termios.TIOCSWINSZ, size)
        self._process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            stderr=child,
            env={"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", **environ},
        )
        os.close(child)

    def shown(self) -> str:
        """Return what it shows until it ends."""
        shown = b""
        while True:
            try:
                shown += os.read(self._terminal, 4096)
            except OSError:
                break
        os.close(self._terminal)
        assert self._process.wait(20) == 0
        return shown.decode()


def run(width: int = 0, **environ: str) -> str:
    return Run(width, **environ).shown()


def test_a_terminal_gets_a_bar_with_rate_and_remaining_time() -> None:
    shown = run()
    for expected in ("Tool", "75%", "100%", "MiB/s", "3.00M/4.00M", "00:0", "\r"):
        assert expected in shown


LABELS = ["Tool", "https://downloads.test/" + "long/" * 40, "工具" * 60]


def test_a_refresh_is_never_a_new_line() -> None:
    """Below 72 columns, or with a long name at 80, each refresh was a line of its own."""
    cases = list(product([20, 40, 71, 80, 200], LABELS, ["", "CHUNKED"]))
    # They wait more than they work, so all of them run at once.
    runs = [
        Run(width, LABEL=label, LC_ALL="C.UTF-8", **({kind: "1"} if kind else {}))
        for width, label, kind in cases
    ]
    for case, one in zip(cases, runs, strict=True):
        width, _, kind = case
        shown = one.shown()
        rows = re.split(r"[\r\n]+", shown)
        assert all(wcswidth(row) < max(width, 31) for row in rows), (case, rows)
        assert shown.count("\n") == 2, case  # what went wrong, and the end
        assert "4.00M" in shown or (width == 20 and not kind), case
        assert "MiB/s" in shown or width <= 40, case


def test_a_name_is_shown_escaped() -> None:
    assert "T\\x1b[31m" in run(LABEL="T\x1b[31m")


def test_what_is_tried_again_is_told_and_the_bar_goes_on_from_there() -> None:
    shown = run(80)
    before, _, after = shown.partition("connection reset; trying again\r\n")
    assert "75%" in before
    assert "50%" in after
    assert "100%" in after


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_plain_terminal_gets_lines(environ: dict[str, str]) -> None:
    shown = run(**environ)
    assert "3.0 MiB of 4.0 MiB (75 %)\r\n" in shown
    assert "connection reset; trying again\r\n" in shown
    assert "\x1b" not in shown


def test_quiet_shows_nothing() -> None:
    assert run(QUIET="1") == ""
