"""One run of a command: started, listened to, and ended with all that it started."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import anyio
import anyio.to_thread

from cli_host_mcp.guard import Guard
from cli_host_mcp.masking import Mask
from cli_host_mcp.output import Lines, Stream
from cli_host_mcp.processes import GRACE, KILL, TERM, VARIABLE, Processes

_PIECE = 1 << 16
_TICK = 0.1  # seconds between two looks for progress
_STEP = 0.02
_DEATH = 3.0  # seconds for what was killed to be gone, on a busy machine
_LAST_WORDS = 0.5  # seconds that a pipe may stay open after the command has ended

Progress = Callable[[int, str], Awaitable[None]]
Hidden = Callable[[Processes], Awaitable[set[str]]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of each stream that are kept, and seconds for a run."""

    output: int = 65536
    seconds: float = 600


@dataclass(frozen=True, slots=True)
class Ending:
    """What a run left; `status` is None where its time was up."""

    status: int | None
    stdout: str
    stderr: str


class Runner:
    """Starts commands; nothing of a run is left when `run` returns or is cancelled."""

    def __init__(self, guard: Guard, limits: Limits) -> None:
        self._guard = guard
        self._limits = limits

    async def run(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        hidden: Hidden,
        progress: Progress,
    ) -> Ending:
        """Run `argv`; `hidden` tells what its output must not show.

        Raises OSError where it cannot be started.
        """
        processes = Processes(secrets.token_hex(8))
        marked = {**environ, VARIABLE: processes.mark}
        self._guard.began(processes)
        ended = False
        try:
            running = _Running(argv, marked, processes)
            self._guard.began(processes)
            ending = await self._follow(running, processes, hidden, progress)
            ended = ending.status is not None
            return ending
        finally:
            with anyio.CancelScope(shield=True):
                # What left the group of a command that ended is there on purpose.
                await end(Processes("", processes.group) if ended else processes)
            self._guard.ended(processes)

    async def _follow(
        self,
        running: _Running,
        processes: Processes,
        hidden: Hidden,
        progress: Progress,
    ) -> Ending:
        status = None
        try:
            with anyio.move_on_after(self._limits.seconds):
                running.listen(await hidden(processes), self._limits.output)
                status = await running.finish(progress)
            return Ending(status, *running.said())
        finally:
            running.close()


class _Running:
    """A started command and what it printed so far."""

    def __init__(
        self, argv: Sequence[str], environ: Mapping[str, str], processes: Processes
    ) -> None:
        self._process = subprocess.Popen(
            argv,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,  # no terminal to ask on, and a process group
            close_fds=False,  # all of ours end with exec, so that the guard finds what it starts
        )
        self._processes = processes
        processes.group = self._process.pid
        self._streams: dict[str, Stream] = {}
        self._over = {"stdout": anyio.Event(), "stderr": anyio.Event()}
        self._lines = Lines()

    def listen(self, hidden: set[str], limit: int) -> None:
        self._streams = {name: Stream(Mask(hidden), limit) for name in self._over}

    def said(self) -> tuple[str, str]:
        if not self._streams:
            return "", ""
        return self._streams["stdout"].text(), self._streams["stderr"].text()

    async def finish(self, progress: Progress) -> int:
        """Listen until the command has ended; then end what it left, and return its status."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._report, progress)
            for name in self._streams:
                tasks.start_soon(self._read, name)
            status: int = await anyio.to_thread.run_sync(self._process.wait, abandon_on_cancel=True)
            if not await self._silent():
                Processes("", self._processes.group).send(TERM)
                await self._silent()
            await self._send(progress)
            tasks.cancel_scope.cancel()
        return status

    def close(self) -> None:
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()

    async def _read(self, name: str) -> None:
        pipe = getattr(self._process, name)
        stream = self._streams[name]
        try:
            while True:
                await anyio.wait_readable(pipe.fileno())
                piece = os.read(pipe.fileno(), _PIECE)
                if not piece:
                    return
                self._lines.feed(name, stream.feed(piece))
        finally:
            self._lines.feed(name, stream.end())
            self._over[name].set()

    async def _silent(self) -> bool:
        """Tell whether both pipes ended, or did so in a while."""
        with anyio.move_on_after(_LAST_WORDS):
            for over in self._over.values():
                await over.wait()
        return all(over.is_set() for over in self._over.values())

    async def _report(self, progress: Progress) -> None:
        while True:
            await anyio.sleep(_TICK)
            await self._send(progress)

    async def _send(self, progress: Progress) -> None:
        for number, line in self._lines.taken():
            await progress(number, line)


async def end(processes: Processes) -> None:
    """End all that is left of a call: TERM, and KILL for what is there a second later.

    It returns when nothing is left, or what not even KILL ends (sudo's).
    """
    for number, seconds in ((TERM, GRACE), (KILL, _DEATH)):
        if not processes.left():
            return
        processes.send(number)
        with anyio.move_on_after(seconds):
            while processes.left():  # noqa: ASYNC110 - they are not ours to wait for
                await anyio.sleep(_STEP)


def how_it_ended(status: int | None, seconds: float) -> str:
    """Return how a run ended, as a line; "" where it ended well."""
    if status is None:
        return f"it was ended after {seconds:g} s"
    if status < 0:
        return f"killed by signal {-status}, {signal.strsignal(-status) or 'unknown'}"
    return f"exit status {status}" if status else ""
