"""A process that outlives the server and, if the server is killed, ends its calls.

The guard reads a pipe that only the server holds open: end of file means the server has ended.
"""

from __future__ import annotations

import os
import time

from cli_host_mcp.forked_worker import fork_worker
from cli_host_mcp.processes import GRACE, KILL, TERM, Processes

_STEP = 0.02


class Guard:
    """The server's pipe to the guard.

    Failed writes are ignored: unless it is killed, the server ends its calls itself.
    """

    def __init__(self) -> None:
        self._pipe = -1

    def start(self) -> None:
        """Fork the guard; call this after other forks, which must not inherit the pipe."""
        reading, self._pipe = os.pipe()
        fork_worker(reading, _watch)

    def began(self, processes: Processes) -> None:
        """Report a call to the guard.

        Used before the call starts, and again when its process group is known.
        """
        self._note(f"+ {processes.mark} {processes.group}\n")

    def ended(self, processes: Processes) -> None:
        self._note(f"- {processes.mark} 0\n")

    def _note(self, line: str) -> None:
        try:
            os.write(self._pipe, line.encode())
        except OSError:
            pass  # somebody has killed the guard


def _watch(reading: int) -> None:
    """Read until the server ends, then end its remaining calls."""
    calls: dict[str, Processes] = {}
    with open(reading, encoding="ascii") as lines:
        for line in lines:
            sign, mark, group = line.split()
            if sign == "+":
                calls[mark] = Processes(mark, int(group))
            else:
                calls.pop(mark, None)
    end_all(list(calls.values()))


def end_all(calls: list[Processes]) -> None:
    """End all processes of these calls: send TERM, and KILL to those left a second later.

    If a call has no group yet, wait the whole second: its process may be about to start.
    """
    for call in calls:
        call.send(TERM)

    until = time.monotonic() + GRACE
    while time.monotonic() < until:
        if not _may_remain(calls):
            break
        time.sleep(_STEP)

    for call in calls:
        call.send(KILL)


def _may_remain(calls: list[Processes]) -> bool:
    for call in calls:
        if not call.group or call.left():
            return True
    return False
