"""What a terminal shows, and what a log gets."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

SCRIPT = """
import os, time
from builtin_plugins.fetch import progress
from builtin_plugins.fetch.progress import Reporter
progress._LINE_SECONDS = 0.1
with Reporter("cli", bool(os.environ.get("QUIET")), False, os.environ).progress("Tool") as update:
    for done in (0, 1 << 20, 3 << 20, 2 << 20, 4 << 20):
        time.sleep(0.6)
        update(done, 4 << 20)
"""


def run(**environ: str) -> str:
    """Return what a run on a terminal shows."""
    parent, child = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stderr=child,
        env={"PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", **environ},
    )
    os.close(child)
    shown = b""
    while True:
        try:
            shown += os.read(parent, 4096)
        except OSError:
            break
    os.close(parent)
    assert done.wait(20) == 0
    return shown.decode()


def test_a_terminal_gets_a_bar_with_rate_and_remaining_time() -> None:
    shown = run()
    for expected in ("Tool", "75%", "100%", "MiB/s", "00:00:0", "\r"):
        assert expected in shown


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_a_plain_terminal_gets_lines(environ: dict[str, str]) -> None:
    shown = run(**environ)
    assert "3.0 MiB of 4.0 MiB (75 %)\r\n" in shown
    assert "\x1b" not in shown


def test_quiet_shows_nothing() -> None:
    assert run(QUIET="1") == ""
