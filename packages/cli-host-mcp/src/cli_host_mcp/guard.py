"""A process that outlives the server, to end what a killed one leaves.

It is a fork of the server's own beginning, in a session of its own, and waits at a pipe
that the server alone holds: its end is the server's, whatever ended that.
"""

from __future__ import annotations

import os
import signal
import time

from cli_host_mcp.processes import GRACE, KILL, TERM, Processes

_STEP = 0.02


class Guard:
    """The server's end of it; `tell` never fails: without a guard only SIGKILL leaves more."""

    def __init__(self) -> None:
        self._pipe = -1

    def start(self) -> None:
        """Fork it; must come before threads and before stdin and stdout are in use."""
        reading, self._pipe = os.pipe()
        if os.fork():
            os.close(reading)
            return
        try:
            _become_guard(reading)
        finally:
            os._exit(0)

    def began(self, processes: Processes) -> None:
        """Note a call, before it starts and again when its group is known."""
        self._tell(f"+ {processes.mark} {processes.group}\n")

    def ended(self, processes: Processes) -> None:
        self._tell(f"- {processes.mark} 0\n")

    def _tell(self, line: str) -> None:
        try:
            os.write(self._pipe, line.encode())
        except OSError:
            pass


def _become_guard(reading: int) -> None:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.dup2(reading, 3)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):  # the client must see the server's end at once
        os.dup2(nowhere, descriptor)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    os.chdir("/")
    left = watch(3)
    end_all(left)


def watch(reading: int) -> list[Processes]:
    """Read until the server ends; return the calls that it had not ended."""
    calls: dict[str, Processes] = {}
    with open(reading, encoding="ascii") as lines:
        for line in lines:
            sign, mark, group = line.split()
            if sign == "+":
                calls[mark] = Processes(mark, int(group))
            else:
                calls.pop(mark, None)
    return list(calls.values())


def end_all(calls: list[Processes]) -> None:
    """End all processes of these calls: TERM, and KILL for what is there a second later."""
    for call in calls:
        call.send(TERM)
    until = time.monotonic() + GRACE
    while time.monotonic() < until and any(call.left() for call in calls):
        time.sleep(_STEP)
    for call in calls:
        call.send(KILL)
