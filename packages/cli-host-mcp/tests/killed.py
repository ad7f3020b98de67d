"""A server for each state of a call, in which it kills itself with SIGKILL; prints how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from typing import Any

import anyio

from cli_host_mcp import runs
from cli_host_mcp.guard import Guard
from cli_host_mcp.processes import TERM, Processes
from host import Variable

STATES = (
    *("call recorded", "forked", "started", "group recorded", "secrets requested"),
    *("listening", "ending"),
)
_REPORT = "printf 'A=a\\0\\0' >&$CLI_REPORT_FD"  # as the program does before the command starts
_COMMAND = (
    f"{_REPORT}; trap '' TERM INT; sleep 300 & setsid sleep 301 & echo up; wait; wait"
)
_state = ""


def at(state: str) -> None:
    if state == _state:
        os.kill(os.getpid(), signal.SIGKILL)


def forked() -> None:
    """Kill the parent process, and start the command only when the parent is gone."""
    parent = os.getppid()
    os.kill(parent, signal.SIGKILL)
    while os.getppid() == parent:
        pass


def start(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
    options["preexec_fn"] = forked if _state == "forked" else None
    process = _popen(*args, **options)
    at("started")
    return process


class KillingGuard(Guard):
    def began(self, processes: Processes) -> None:
        super().began(processes)
        at("group recorded" if processes.group else "call recorded")


def hidden(variables: Mapping[str, Variable]) -> set[str]:
    assert variables["A"].value == "a"
    at("secrets requested")
    return set()


async def progress(_: int, line: str) -> None:
    assert line == "up"
    at("listening")


async def end(processes: Processes) -> None:
    processes.send(TERM)
    at("ending")


async def call() -> None:
    limits = runs.Limits(seconds=0 if _state == "ending" else 300)
    environ = {**os.environ, "CLI_RECORDED": "0123456789ab:mcp:"}
    await runs.Runner(guard, limits).run(
        ["bash", "-c", _COMMAND], environ, hidden, progress
    )


if __name__ == "__main__":
    _popen, subprocess.Popen = subprocess.Popen, start  # type: ignore[assignment,misc]
    runs.end = end
    servers = {}
    for _state in STATES:
        servers[_state] = os.fork()
        if servers[_state] == 0:
            guard = KillingGuard()
            guard.start()
            anyio.run(call)
            os._exit(0)
    ends = {}
    for state, server in servers.items():
        _, status = os.waitpid(server, 0)
        ends[state] = os.waitstatus_to_exitcode(status)
    print(json.dumps(ends))
