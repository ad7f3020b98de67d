"""The protocol with one host, without I/O: a session takes received bytes and yields replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from cli_host_fleet import to_host
from cli_host_fleet.from_host import Facts, Greeting, Reports
from cli_host_fleet.noise import sudo_line, useful_line
from cli_host_fleet.results import Ending, Stop

Prepare = Callable[[Facts, str], Iterable[bytes]]


class RefusedError(Exception):
    """The host must not run the command; the message is the reason."""


class Output(Protocol):
    """Receives the output of a command."""

    def write(self, stream: str, data: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class Elevation:
    """The user to run the command as, with sudo; without --become-ask, `password` is None."""

    user: str
    password: bytes | None = None


class Session:
    """A session lasts from the host's greeting to its report that the command has ended.

    `prepare(facts, nonce)` returns the bytes that the host needs, or raises RefusedError. `over`
    is true when the command has ended or cannot start. `ended` holds the streams that carry no
    further output of the command.
    """

    def __init__(
        self, nonce: str, elevation: Elevation | None, prepare: Prepare, output: Output
    ) -> None:
        self.stopped: Stop = ""
        self.over = False
        self.ended: set[str] = set()
        self._nonce = nonce
        self._elevation = elevation
        # how many shells have yet to greet: the login's, and the other user's
        self._to_come = 2 if elevation else 1
        self._prepare = prepare
        self._output = output
        self._greeting: Greeting | None = Greeting()
        self._reports = {
            "stdout": Reports(nonce, 0),
            "stderr": Reports(nonce, self._to_come),
        }
        self._greeted = False
        self._asked = False
        self._refusal = ""
        self._status: int | None = None

    @property
    def running(self) -> bool:
        """Return whether the command may be running, because the user's shell has answered."""
        return not self._to_come

    def heard(self, stream: str, data: bytes) -> Iterator[bytes]:
        """Process bytes from ssh's stdout or stderr; yield the bytes to send."""
        if stream == "stdout" and self._greeting is not None:
            yield from self._heard_greeting(self._greeting, data)
            return

        # Whatever the command prints is passed on, byte for byte; only reports are taken out.
        text, reports = self._reports[stream].feed(data)
        if text:
            self._output.write(stream, text)
        for report in reports:
            yield from self._heard_report(stream, report)

    def ending(self, exit_status: int) -> Ending:
        """After the connection has ended, write its buffered output; return the facts."""
        for stream, reports in self._reports.items():
            rest = reports.rest()
            if rest:
                self._output.write(stream, rest)

        noise = self._reports["stderr"].noise
        if not noise and self._greeting is not None:
            noise = self._greeting.noise  # nologin explains itself on stdout

        # A login that has greeted, without the elevated shell: then sudo printed the noise.
        if self._greeted and self._to_come:
            words = sudo_line(noise)
        else:
            words = useful_line(noise)

        return Ending(
            self._greeted,
            self.running,
            self._refusal,
            self._status,
            self.stopped,
            exit_status,
            words,
        )

    def _heard_greeting(self, greeting: Greeting, data: bytes) -> Iterator[bytes]:
        facts, rest = greeting.feed(data)
        if facts is None:
            return
        self._greeted = True
        self._to_come -= 1

        # The shell of the other user greets again; only its facts count.
        if self._to_come and self._elevation:
            self._greeting = Greeting()
            yield self._elevate(self._elevation)
            yield from self.heard("stdout", rest)
            return

        self._greeting = None
        try:
            yield from self._prepare(facts, self._nonce)
        except RefusedError as refusal:
            self._refuse(str(refusal))

    def _elevate(self, elevation: Elevation) -> bytes:
        """Return the bytes that make the login's shell become the other user, and greet again."""
        asks = elevation.password is not None
        greeting = to_host.script("greeting.sh")
        return to_host.elevation(self._nonce, elevation.user, asks, greeting)

    def _heard_report(self, stream: str, report: str) -> Iterator[bytes]:
        """Act on a report of the host; take.sh, run.sh and elevate.sh print them."""
        word, _, text = report.partition(" ")

        if word == "status" and text.isdigit():
            self._status = int(text)
            self.over = True
            self.ended.add(stream)
        elif word == "refused":
            self._refuse(text)
        elif word == "password":
            yield from self._answer_sudo()

    def _answer_sudo(self) -> Iterator[bytes]:
        """Yield the password; sudo asks once more only after a wrong one."""
        if self._elevation is None or self._elevation.password is None:
            return
        if self._asked:
            self._refuse("sudo: the password is wrong")
            return

        self._asked = True
        yield self._elevation.password + b"\n"

    def _refuse(self, reason: str) -> None:
        if not self._refusal:
            self._refusal = reason  # the first reason is the cause of any other
        self.over = True
        self.ended = {"stdout", "stderr"}
