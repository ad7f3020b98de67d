"""One connection in ClusterShell's engine: the process of ssh, or of another transport."""

from __future__ import annotations

import math
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from ClusterShell.Worker.EngineClient import EngineClient, EngineClientEOF
from ClusterShell.Worker.Worker import Worker

from cli_host_fleet.lifelines import Lifelines
from cli_host_fleet.programs import start
from cli_host_fleet.results import Result, State, Stop, judge
from cli_host_fleet.session import Session

_GRACE = 8.0  # seconds that a host gets to end a process group; it needs up to 3
# seconds to go on reading the output of processes that outlive the command
_DRAIN = 1.0
_CHUNK = 1 << 16


class Connection(EngineClient):  # type: ignore[misc]
    """Connects a session to a process; calls `ended` with the result when the process has exited.

    `call` is the argv and the environment of ssh, or of another transport's program; `explain`
    tells why no shell has answered. `seconds` are the time limits for the host's first
    answer and for the command.

    ClusterShell's engine calls five methods whose names begin with an underscore.
    `_start`, `_handle_read` and `_close` are abstract; `_handle_write` takes the next piece to
    send, and `_close_stream` ends the heartbeats (`lifelines`) to a descriptor, then closes it.
    """

    def __init__(
        self,
        host: str,
        call: tuple[list[str], Mapping[str, str]],
        session: Session,
        lifelines: Lifelines,
        seconds: tuple[float, float],
        ended: Callable[[Result], None],
        loop: Any,
        *,
        explain: Callable[[int, str], tuple[State, str]],
    ) -> None:
        until_greeting, self._until_end = seconds
        # Without ClusterShell's time limit, because the session has its own; stderr is separate.
        super().__init__(Worker(None), host, True, None, False)
        self.session = session
        self._loop = loop
        self._deadline = time.monotonic() + until_greeting
        self._argv, self._environ = call
        self._explain = explain
        self._lifelines = lifelines
        self._ended = ended
        self._outgoing: Iterator[bytes] = iter(())
        self._started = 0.0
        self._running = False

    def stop(self, why: Stop) -> None:
        """Stop the remote command by closing ssh's stdin; if no command runs, end ssh at once."""
        session = self.session
        if session.over:
            # The command has ended, so its result counts; only the rest of its output comes.
            self._limit(_DRAIN)
            return
        if session.stopped:
            return

        session.stopped = why
        if session.running:
            self._hang_up()
            self._limit(_GRACE)
        else:
            self.abort()

    def check(self) -> None:
        """Stop if the deadline has passed; must be called several times a second."""
        session = self.session
        open_outputs = {"stdout", "stderr"} & self.streams.keys()
        if session.over and open_outputs <= session.ended:
            self._limit(_DRAIN)

        if time.monotonic() < self._deadline:
            return
        if session.over or session.stopped:
            self.abort()
            return

        self._deadline = math.inf  # `stop` sets a new one for the end
        if session.running:
            self.stop("timeout")
        else:
            self.stop("no answer")

    def _limit(self, seconds: float) -> None:
        """Move the deadline to `seconds` from now, unless it is earlier already."""
        latest = time.monotonic() + seconds
        self._deadline = min(self._deadline, latest)

    def _start(self) -> Connection:
        self._started = time.monotonic()
        self._process, pipes = start(self._argv, self._environ)

        streams = self.streams
        streams.set_writer("stdin", pipes.stdin, retain=False)
        streams.set_reader("stdout", pipes.stdout)
        streams.set_reader("stderr", pipes.stderr)
        return self

    def _handle_read(self, sname: str) -> None:
        session = self.session
        descriptor = self.streams[sname].fd
        data = os.read(descriptor, _CHUNK)
        if not data:
            raise EngineClientEOF

        self._loop.set_reading(self, sname)
        self._send(session.heard(sname, data))

        if session.over:
            self._hang_up()
        elif session.running and not self._running:
            # The time limit of the command begins when the host has answered.
            self._running = True
            self._deadline = time.monotonic() + self._until_end

    def _send(self, chunks: Iterator[bytes]) -> None:
        """Queue the chunks; the host receives them as fast as it reads."""
        # `chunks` must begin even if nothing is sent: that is what makes the session act.
        first = next(chunks, None)
        if first is not None and "stdin" in self.streams:
            self._outgoing = chain(self._outgoing, [first], chunks)
            self._loop.set_writing(self, "stdin")

    def _handle_write(self, sname: str) -> None:
        stream = self.streams[sname]
        if not stream.wbuf:
            stream.wbuf = next(self._outgoing, b"")
            if not stream.wbuf and self.session.running:
                # Everything is sent, so from now on only heartbeats are.
                self._lifelines.add(stream.fd)

        if self.session.over:
            self._hang_up()
        else:
            super()._handle_write(sname)

    def _hang_up(self) -> None:
        """Close stdin; the host then ends the command."""
        self._outgoing = iter(())
        stream = self.streams.get("stdin")
        if stream is not None:
            self._loop.remove_stream(self, stream)

    def _close_stream(self, sname: str) -> None:
        stream = self.streams.get(sname)
        if sname == "stdin" and stream is not None:
            self._lifelines.remove(stream.fd)
        super()._close_stream(sname)

    def _close(self, abort: bool, timeout: bool) -> None:
        exit_status = self._end_process(abort)
        for name in list(self.streams):
            self._close_stream(name)
        self.invalidate()

        # Only now are all bytes of the host read, and its result known.
        ending = self.session.ending(exit_status)
        state, status, reason = judge(ending, self._explain)
        seconds = time.monotonic() - self._started
        result = Result(
            self.key, state, status, reason, attempts=1, seconds=round(seconds, 3)
        )
        self._ended(result)

    def _end_process(self, abort: bool) -> int:
        """Wait for the end of the process, and return its exit status; with `abort`, kill it."""
        if abort and self._process.poll() is None:
            self._process.kill()
        try:
            return self._process.wait(_DRAIN)
        except subprocess.TimeoutExpired:
            # It has closed its outputs, but goes on.
            self._process.kill()
            return self._process.wait()
