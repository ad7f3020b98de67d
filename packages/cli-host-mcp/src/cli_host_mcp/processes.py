"""Find and end the processes of one call.

Each call has its own session and process group. Its processes also have the id of the call's run
in CLI_RUN. On Linux, this id identifies processes that left the group.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

GRACE = 1.0  # seconds between TERM and KILL; clients kill a server after two


@dataclass(slots=True)
class Processes:
    """All processes of a call: its process group, and those with `mark` in their environment.

    `mark` is the id of the run. `group` is 0 before the call has started. If `mark` is "",
    only the group is included.
    """

    mark: str
    group: int = 0

    def left(self) -> bool:
        """Return whether any process of the call remains."""
        if self._group_is_there():
            return True
        return bool(self.strays())

    def send(self, number: int) -> None:
        if self.group:
            try:
                os.killpg(self.group, number)
            except (ProcessLookupError, PermissionError):
                pass  # the group has ended, or another user owns it (sudo)
        for process in self.strays():
            try:
                os.kill(process, number)
            except (ProcessLookupError, PermissionError):
                pass

    def strays(self) -> list[int]:
        """Return the IDs of all processes that carry `mark`, in any group, or [] without /proc."""
        if not self.mark:
            return []
        marking = self.mark.encode()
        try:
            entries = os.listdir("/proc")
        except OSError:
            return []

        strays = []
        for name in entries:
            if name.isdigit() and marking in _environment(name):
                strays.append(int(name))
        return strays

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


def _environment(process: str) -> bytes:
    try:
        with open(f"/proc/{process}/environ", "rb") as opened:
            return opened.read()
    except OSError:
        return b""  # the process has ended, or another user owns it
