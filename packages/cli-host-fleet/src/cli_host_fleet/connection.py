"""One ssh process in ClusterShell's engine."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import chain

from ClusterShell.Worker.EngineClient import EngineClient
from ClusterShell.Worker.Worker import Worker

from cli_host_fleet.conversation import Conversation
from cli_host_fleet.lifelines import Lifelines
from cli_host_fleet.results import Result, Stop, judge

_GRACE = 8.0  # seconds for a host to end a process group; it takes 3 itself
_DRAIN = 1.0  # seconds for the rest of the output, when something there still holds it


class Connection(EngineClient):  # type: ignore[misc]
    """Carries a conversation; `ended` is called with the result when ssh is gone.

    `call` is ssh's argv and environment, `seconds` how long a greeting and the command may take.
    """

    def __init__(
        self,
        host: str,
        call: tuple[list[str], dict[str, str]],
        conversation: Conversation,
        lifelines: Lifelines,
        seconds: tuple[float, float],
        ended: Callable[[Result], None],
    ) -> None:
        until_greeting, self._until_end = seconds
        super().__init__(Worker(None), host, True, until_greeting, False)
        self.conversation = conversation
        self._argv, self._environ = call
        self._lifelines = lifelines
        self._ended = ended
        self._outgoing: Iterator[bytes] = iter(())
        self._started = 0.0
        self._running = False

    def stop(self, why: Stop) -> None:
        """End what runs there by ending the lifeline; end ssh at once where nothing runs."""
        conversation = self.conversation
        if conversation.stopped or conversation.over:
            return
        conversation.stopped = why
        if conversation.running:
            self._hang_up(_GRACE)
        else:
            self._engine.remove(self, abort=True)

    def _start(self) -> Connection:
        self._started = time.monotonic()
        pipes = [os.pipe(), os.pipe(), os.pipe()]
        (there_in, here_in), (here_out, there_out), (here_err, there_err) = pipes
        self._process = subprocess.Popen(
            self._argv,
            stdin=there_in,
            stdout=there_out,
            stderr=there_err,
            env=self._environ,
            start_new_session=True,  # Ctrl-C is for us: hosts end in order
        )
        for descriptor in (there_in, there_out, there_err):
            os.close(descriptor)
        os.set_blocking(here_in, False)
        self.streams.set_writer("stdin", here_in, retain=False)
        self.streams.set_reader("stdout", here_out)
        self.streams.set_reader("stderr", here_err)
        return self

    def _handle_read(self, sname: str) -> None:
        conversation = self.conversation
        self._send(conversation.heard(sname, self._read(sname)))
        if conversation.over:
            self._hang_up(_DRAIN)
        elif conversation.running and not self._running:
            self._running = True
            self.set_nextfire(self._until_end)

    def _send(self, chunks: Iterator[bytes]) -> None:
        """Send now what is made now, and the rest as the host takes it."""
        first = next(chunks, None)
        if first is not None and "stdin" in self.streams:
            self._outgoing = chain(self._outgoing, [first], chunks)
            self._set_writing("stdin")

    def _handle_write(self, sname: str) -> None:
        stream = self.streams[sname]
        if not stream.wbuf:
            stream.wbuf = next(self._outgoing, b"")
            if not stream.wbuf and self.conversation.running:
                self._lifelines.add(stream.fd)
        if self.conversation.over:
            self._hang_up(_DRAIN)
        else:
            super()._handle_write(sname)

    def _hang_up(self, seconds: float) -> None:
        """Send nothing more, and wait so many seconds for the end."""
        self._outgoing = iter(())
        stream = self.streams.get("stdin")
        if stream is not None:
            self._engine.remove_stream(self, stream)
        if self._engine:
            self.set_nextfire(seconds)

    def _close_stream(self, sname: str, abort: bool = False) -> None:
        if sname == "stdin" and sname in self.streams:
            self._lifelines.remove(self.streams[sname].fd)
        super()._close_stream(sname, abort)

    def _fire(self) -> None:
        """A deadline has passed: of the greeting, of the command, of its end or of the rest."""
        conversation = self.conversation
        if conversation.over and self._more_to_read():
            self.set_nextfire(_DRAIN)
        elif conversation.over or conversation.stopped:
            self._engine.remove(self, abort=True)
        elif conversation.running:
            conversation.stopped = "timeout"
            self._hang_up(_GRACE)
        else:
            conversation.stopped = "no answer"
            self._engine.remove(self, abort=True)

    def _more_to_read(self) -> bool:
        poll = select.poll()
        for stream in self.streams.active_readers():
            poll.register(stream.fd, select.POLLIN)
        return any(event & select.POLLIN for _, event in poll.poll(0))

    def _close(self, abort: bool, timeout: bool) -> None:
        if abort and self._process.poll() is None:
            self._process.kill()
        try:
            status = self._process.wait(_DRAIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        for name in list(self.streams):
            self._close_stream(name, abort=True)
        self.invalidate()
        state, number, reason = judge(self.conversation.ending(status))
        seconds = round(time.monotonic() - self._started, 3)
        self._ended(Result(self.key, state, number, reason, 1, seconds))
