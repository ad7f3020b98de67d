"""Run a command: start it, read its output, and end all of its processes."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import anyio
import anyio.to_thread

from cli_host_mcp.guard import Guard
from cli_host_mcp.masking import Mask, variables_of
from cli_host_mcp.output import Lines, Stream
from cli_host_mcp.problem import SecretsUnknownError
from cli_host_mcp.processes import GRACE, KILL, TERM, Processes
from host import Variable

_PIECE = 1 << 16
_TICK = 0.1  # seconds between checks for progress
_STEP = 0.02
_DEATH = 3.0  # seconds until killed processes have disappeared, also on a busy machine
_LAST_WORDS = 0.5  # seconds that a pipe may stay open after the command has ended
_RECORDED = "CLI_RECORDED"  # see `RecordedRun.environment`
_REPORT = (
    "CLI_REPORT_FD"  # where the run writes its variables before it starts the command
)
_REPORT_END = b"\0\0"

Progress = Callable[[int, str], Awaitable[None]]
Hidden = Callable[[Mapping[str, Variable]], set[str]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a run: the number of bytes to keep from each stream, and the time in seconds."""

    output: int = 65536
    seconds: float = 600


@dataclass(frozen=True, slots=True)
class Ending:
    """The result of a run; `status` is None after a timeout, `whole` if stdout was cut."""

    status: int | None
    stdout: str
    stderr: str
    whole: bytes | None = None


class Runner:
    """Runs commands; no process of a run is left when `run` returns or is cancelled."""

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
        """Run `argv`; `hidden` returns the texts to mask, given the command's variables.

        Raises OSError if the command cannot be started, and SecretsUnknownError if its secrets are
        unknown.
        """
        run_id, _, _ = environ[_RECORDED].partition(":")
        processes = Processes(run_id)
        # Twice: the guard must know the call before its process exists, and then its group.
        self._guard.began(processes)
        left = processes
        try:
            running = _Running(argv, environ, processes)
            self._guard.began(processes)
            ending = await self._follow(running, hidden, progress)
            if ending.status is not None:
                # After a normal end, processes that left the group are daemons: they stay.
                left = Processes("", processes.group)
            return ending
        finally:
            with anyio.CancelScope(shield=True):
                await end(left)
            self._guard.ended(processes)

    async def _follow(
        self, running: _Running, hidden: Hidden, progress: Progress
    ) -> Ending:
        """Read a run to its end or its time limit. Raises SecretsUnknownError."""
        status = None
        try:
            with anyio.move_on_after(self._limits.seconds):
                texts = hidden(await running.variables())
                running.listen(texts, self._limits.output)
                status = await running.finish(progress)
            stdout, stderr = running.output()
            return Ending(status, stdout, stderr, running.whole_stdout())
        finally:
            running.close()


class _Running:
    """A started command and its output so far."""

    def __init__(
        self, argv: Sequence[str], environ: Mapping[str, str], processes: Processes
    ) -> None:
        self._environ = environ
        self._variables, writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                argv,
                env={**environ, _REPORT: str(writing)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # the command gets its own process group and no terminal
                pass_fds=[writing],
            )
        except OSError:
            os.close(self._variables)
            raise
        finally:
            os.close(writing)

        processes.group = self._process.pid
        self._processes = processes
        self._streams: dict[str, Stream] = {}
        self._over = {"stdout": anyio.Event(), "stderr": anyio.Event()}
        self._lines = Lines()

    async def variables(self) -> dict[str, Variable]:
        """Return the variables that the run reports before it executes the command.

        A run that ends without a report has started no command. In that case, the variables that
        the run was given are returned, so that secrets in its messages can be masked.
        """
        report = await self._read_report()
        if report.endswith(_REPORT_END):
            return _parsed(report)

        # A run that closed the pipe without a report is about to end, or hides its variables.
        if not await self._ends_soon():
            what = "the command was ended, because its secrets are unknown"
            raise SecretsUnknownError(what)

        return variables_of(self._environ)

    async def _read_report(self) -> bytes:
        """Read to the end of the report; a command could keep the pipe open behind it."""
        report = b""
        while not report.endswith(_REPORT_END):
            await anyio.wait_readable(self._variables)
            piece = os.read(self._variables, _PIECE)
            if not piece:
                break
            report += piece
        return report

    async def _ends_soon(self) -> bool:
        """Wait a short time for the end of the process; return whether it ended."""
        with anyio.move_on_after(_DEATH):
            while self._process.poll() is None:  # noqa: ASYNC110 - a process has no event
                await anyio.sleep(_STEP)
        return self._process.returncode is not None

    def listen(self, hidden: set[str], limit: int) -> None:
        """Begin to keep the output; nothing may be read before the secrets are known."""
        for name in self._over:
            self._streams[name] = Stream(Mask(hidden), limit)

    def output(self) -> tuple[str, str]:
        """Return stdout and stderr as text; both are empty before `listen`."""
        if not self._streams:
            return "", ""
        stdout = self._streams["stdout"]
        stderr = self._streams["stderr"]
        return stdout.text(), stderr.text()

    def whole_stdout(self) -> bytes | None:
        """Return all bytes of stdout, or None if its middle is missing."""
        if not self._streams:
            return None
        return self._streams["stdout"].whole()

    async def finish(self, progress: Progress) -> int:
        """Read until the command has ended, end leftover processes, and return the exit status."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._report, progress)
            for name in self._streams:
                tasks.start_soon(self._read, name)
            status: int = await anyio.to_thread.run_sync(
                self._process.wait, abandon_on_cancel=True
            )
            # Something that the command left in the background still holds its output open.
            if not await self._silent():
                Processes("", self._processes.group).send(TERM)
                await self._silent()

            await self._send(progress)
            tasks.cancel_scope.cancel()
        return status

    def close(self) -> None:
        """Close the pipes of the run."""
        os.close(self._variables)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    async def _read(self, name: str) -> None:
        """Read the pipe `name` until its end."""
        descriptor = getattr(self._process, name).fileno()
        stream = self._streams[name]
        try:
            while True:
                await anyio.wait_readable(descriptor)
                piece = os.read(descriptor, _PIECE)
                if not piece:
                    return
                self._lines.feed(name, stream.feed(piece))
        finally:
            # The mask has held back what may have been the start of a secret.
            self._lines.feed(name, stream.end())
            self._over[name].set()

    async def _silent(self) -> bool:
        """Wait briefly for end of file on both pipes; return whether both reached it."""
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


def _parsed(report: bytes) -> dict[str, Variable]:
    """Return each variable with its value and, as `shadows`, the values that it overrides.

    Values without a name came from references to secrets. They are secret, whatever the names of
    their variables.
    """
    variables: dict[str, Variable] = {}
    for pair in report.removesuffix(_REPORT_END).split(b"\0"):
        text = pair.decode("utf-8", "surrogateescape")
        name, _, value = text.partition("=")
        variable = Variable(name, value, "", 1, secret=not name)

        # The first value of a name is the one that the command gets.
        winner = variables.setdefault(name, variable)
        if winner.value != value:
            shadows = (*winner.shadows, variable)
            variables[name] = winner.replaced(shadows=shadows)
    return variables


async def end(processes: Processes) -> None:
    """End all remaining processes of a call: send TERM, and KILL to those left a second later.

    Returns when none is left, or three seconds after KILL, which cannot end processes of sudo.
    """
    for number, seconds in ((TERM, GRACE), (KILL, _DEATH)):
        if not processes.left():
            return
        processes.send(number)
        with anyio.move_on_after(seconds):
            while processes.left():  # noqa: ASYNC110 - not child processes
                await anyio.sleep(_STEP)


def how_it_ended(status: int | None, seconds: float) -> str:
    """Return how a run ended, as a line, or "" if it succeeded."""
    if status is None:
        return f"ended at its time limit of {seconds:g} s"
    if status < 0:
        meaning = signal.strsignal(-status) or "unknown"
        return f"killed by signal {-status}, {meaning}"
    if status:
        return f"exit status {status}"
    return ""
