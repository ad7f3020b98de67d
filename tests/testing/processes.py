"""Which processes there are (Linux)."""

from __future__ import annotations

import os
from contextlib import suppress

from testing.waiting import wait_until


def processes_left_with(mark: str) -> list[str]:
    """Return what `_processes_with` finds after those that are being killed had time to end."""
    with suppress(AssertionError):
        wait_until(lambda: not _processes_with(mark), 60)
    return _processes_with(mark)


def _processes_with(mark: str) -> list[str]:
    """Return the processes that have `mark` in their environment, each by its arguments."""
    commands = []
    for process in os.listdir("/proc"):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                environment = file.read()
            if mark.encode() in environment:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    commands.append(file.read().decode("utf-8", "replace"))
        except OSError:
            pass  # it has ended, or is somebody else's
    return commands
