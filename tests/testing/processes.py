"""Which processes are there (Linux)."""

from __future__ import annotations

import os
import time


def processes_left_with(mark: str) -> list[str]:
    """Return what `_processes_with` finds when those that are being killed had time to end."""
    deadline = time.monotonic() + 30
    while (found := _processes_with(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _processes_with(mark: str) -> list[str]:
    """Return the processes that have `mark` in their environment, each by its arguments."""
    found = []
    for process in os.listdir("/proc"):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                environment = file.read()
            if mark.encode() in environment:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    found.append(file.read().decode("utf-8", "replace"))
        except OSError:
            pass
    return found
