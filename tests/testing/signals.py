"""The signals with which the processes of tests start."""

from __future__ import annotations

import signal


def reset_signals() -> None:
    """Start processes with the default signals, whatever the caller ignores or blocks.

    pytest itself goes on ignoring what its caller ignores: a handler does not outlive an exec.
    """
    for number in signal.valid_signals() - {
        signal.SIGPIPE,
        signal.SIGXFSZ,
    }:  # Python's own
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
