"""Worker processes, forked when the server starts; signals to the server do not reach them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_KEPT = 3


def fork_worker(descriptor: int, work: Callable[[int], None]) -> None:
    """Fork a process that keeps only `descriptor` open, calls `work` with it, and exits.

    Call this before threads start. The fork has its own session, so signals to the server's group
    do not end it. It keeps no pipe open that a client waits for.
    """
    if os.fork():
        os.close(descriptor)
        return

    try:
        os.setsid()
        for number in ENDINGS:
            signal.signal(number, signal.SIG_IGN)

        os.dup2(descriptor, _KEPT)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(_KEPT):
            os.dup2(nowhere, standard)
        os.closerange(_KEPT + 1, os.sysconf("SC_OPEN_MAX"))

        work(_KEPT)
    finally:
        os._exit(0)
