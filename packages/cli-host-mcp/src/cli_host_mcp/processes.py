"""The processes of one call: which are left, and how they are ended.

A call is a session and a process group of its own, and its processes carry a variable
with its mark. On Linux those that left the group are found by that.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

VARIABLE = "CLI_MCP_CALL"
GRACE = 1.0  # seconds between TERM and KILL; clients kill a server after two


@dataclass(slots=True)
class Processes:
    """All processes of a call; `group` is 0 before it has begun.

    With "" for its mark they are those of the group alone.
    """

    mark: str
    group: int = 0

    def left(self) -> bool:
        """Tell whether any is there still."""
        return self._group_is_there() or bool(self.strays())

    def send(self, number: int) -> None:
        if self.group:
            try:
                os.killpg(self.group, number)
            except (ProcessLookupError, PermissionError):
                pass  # ended, or somebody else's by now (sudo)
        for process in self.strays():
            try:
                os.kill(process, number)
            except (ProcessLookupError, PermissionError):
                pass

    def strays(self) -> list[int]:
        """Return those that carry the mark, in whatever group; [] where there is no /proc."""
        wanted = f"{VARIABLE}={self.mark}".encode()
        try:
            entries = os.listdir("/proc") if self.mark else []
        except OSError:
            return []
        numbers = filter(str.isdigit, entries)
        return [int(one) for one in numbers if wanted in _environment(one)]

    def _group_is_there(self) -> bool:
        if not self.group:
            return False
        try:
            os.killpg(self.group, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


TERM, KILL = signal.SIGTERM, signal.SIGKILL


def _environment(process: str) -> list[bytes]:
    try:
        with open(f"/proc/{process}/environ", "rb") as opened:
            return opened.read().split(b"\0")
    except OSError:
        return []  # it ended, or is somebody else's
