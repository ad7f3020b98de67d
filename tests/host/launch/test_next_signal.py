"""Waiting for a signal, on systems that say who sent it, and on those that do not."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Signals are blocked in a process of their own. The deadline is far away, or now.
PROGRAM = """
import _signal, posix, sys, time
from host.launch import next_signal

name, number, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
wait = getattr(next_signal, name)
_signal.signal(_signal.SIGCHLD, lambda *_: None)
_signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
if number:
    posix.kill(posix.getpid(), number)
print(*wait(time.monotonic() + seconds))
"""
FAR = 300.0
NEAR = 0.01


def _waited(name: str, number: int, seconds: float) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name, str(number), str(seconds)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["next_signal", "_next_without_reason"])
@pytest.mark.parametrize(
    ("number", "seconds", "shown"),
    [
        (15, FAR, "15 False"),  # from one process to another
        (0, NEAR, "0 False"),  # the deadline
    ],
    ids=["kill", "deadline"],
)
def test_what_was_received(name: str, number: int, seconds: float, shown: str) -> None:
    assert _waited(name, number, seconds) == shown


def test_a_signal_of_the_terminal_is_for_the_whole_group() -> None:
    """Without the reason, SIGINT is taken for Ctrl-C; with it, a `kill -INT` is known."""
    assert _waited("_next_without_reason", 2, FAR) == "2 True"


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not say who sent it")
def test_an_interrupt_from_another_process_is_for_this_one_only() -> None:
    assert _waited("next_signal", 2, FAR) == "2 False"
