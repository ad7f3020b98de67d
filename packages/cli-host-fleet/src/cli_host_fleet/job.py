"""The work on each host, whatever it is: the connection, the files to send, and what to start."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from cli_host_fleet import to_host
from cli_host_fleet.from_host import Facts
from cli_host_fleet.problem import FleetError
from cli_host_fleet.results import Result, State
from cli_host_fleet.session import Elevation, Output, RefusedError, Session
from cli_host_fleet.shipment import Shipment, stem_of_a_run
from cli_host_fleet.transport import Host, Transport
from host import HostError, OperationError, Program, is_secret, masked_line


@dataclass(frozen=True, slots=True)
class Start:
    """What a host starts: an argv and its environment.

    `library` is the program's name if bash must load core/lib, or "". `requires` has a program, a
    version and a hint for each program that the host must have.
    """

    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    library: str = ""
    requires: Sequence[Sequence[str]] = ()


class Job:
    """Work to do on many hosts. Call `connect` before the first session.

    A subclass adds files to `shipment`, closes it, and says what each host starts.
    """

    def __init__(self, hosts: Mapping[str, Host]) -> None:
        self.hosts = hosts
        self.shipment = Shipment()
        # If run.sh cannot be executed where it was unpacked, that place is mounted noexec.
        script = to_host.script("run.sh")
        self.shipment.add_text("run.sh", script, 0o755)
        self._greeting = to_host.script("greeting.sh")
        self._transport: Transport  # `connect` sets it
        self._options: Mapping[str, Sequence[str]] = {}
        self._elevation: Elevation | None = None
        # Tells a program on a host that this run is recorded already (see `Program.record`), and
        # to which trace it belongs.
        self.recorded: Mapping[str, str] = {}

    def connect(self, transport: Transport, elevation: Elevation | None) -> None:
        """Set the way to the hosts, and the user to run as."""
        self._transport = transport
        self._elevation = elevation
        hosts = list(self.hosts.values())
        self._options = transport.options(hosts)

    def call(self, host: str) -> tuple[list[str], Mapping[str, str]]:
        """Return the argv and the environment of the program that connects to a host."""
        options = self._options.get(host, ())
        transport = self._transport
        argv = transport.argv(self.hosts[host], options, self._greeting)
        return argv, transport.environ

    def explain(self, status: int, words: str) -> tuple[State, str]:
        """Return the state and the reason if no shell has answered: see `Transport.explain`."""
        return self._transport.explain(status, words)

    def session(self, host: str, output: Output) -> Session:
        record = self.hosts[host]

        def prepare(facts: Facts, nonce: str) -> Iterable[bytes]:
            return self._prepared(record, facts, nonce)

        nonce = os.urandom(8).hex()  # so that no command can print a report
        return Session(nonce, self._elevation, prepare, output)

    def examined(self, result: Result) -> Result:
        """Return the final result of a host: see `fleet.Job`."""
        return result

    def add_stdin(self, file: str) -> None:
        """Ship a file, or this process's stdin for `-`, as the stdin of what the hosts start.

        With "", it is empty. Raises FleetError.
        """
        if not file:
            return
        try:
            self.shipment.add_stdin(file)
        except OSError as failure:
            raise FleetError(f"--stdin {file}: {failure.strerror}") from None

    def recorded_as(self, program: Program) -> tuple[Sequence[str], Sequence[str]]:
        """Return the words and the arguments under which the history has the run."""
        return program.words, sys.argv[1:]

    def secret_values(self) -> Collection[str]:
        """Return the secret values that only this job knows; `connect` comes first."""
        values = []
        for host in self.hosts.values():
            values += self._secrets_among({**host.settings, **host.variables})
        return values

    def masked_words(self) -> list[str]:
        """Return what runs, for display: secrets of this machine and the inventory are masked."""
        secrets = [*self._secrets_among(self._local_variables()), *self.secret_values()]
        return [masked_line(word, secrets) for word in self._words()]

    def _secrets_among(self, variables: Mapping[str, str]) -> list[str]:
        """Return the secret values among the variables of what runs."""
        return [value for name, value in variables.items() if is_secret(name)]

    def _local_variables(self) -> Mapping[str, str]:
        """Return the variables that what runs would get on this machine."""
        return os.environ

    def _words(self) -> Sequence[str]:
        """Return what runs, for display, with secret arguments masked."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """Return the names of all variables that would reach a host; raises HostError."""
        names: set[str] = set()
        for host in self.hosts.values():
            # Of a host's facts, only its name can be guessed before anything connects.
            facts = {"HOSTNAME": host.name}
            try:
                names |= self._environment_on_host(host, facts, "").keys()
            except RefusedError as refusal:
                raise OperationError(f"{host.name}: {refusal}") from None

        return sorted(names)

    def _prepared(self, host: Host, facts: Facts, nonce: str) -> Iterable[bytes]:
        """Return the bytes that a host needs to start; raises RefusedError."""
        stem = stem_of_a_run()  # a new name on each host
        place = f"{facts.temporary}/{stem}"
        try:
            start = self._start(host, facts, place)
        except HostError as failure:
            raise RefusedError(str(failure)) from None
        program = start.argv[0]
        if program.startswith("-"):  # an option of the shell's `exec`
            raise RefusedError(f"{program} is not a program")

        if not facts.bash:
            return self._prepared_for_sh(start, nonce, stem, place)

        opening = to_host.opening(nonce, self.shipment.size, place)
        order = to_host.order(
            start.library, start.environment, start.argv, start.requires
        )
        archive = self.shipment.chunks(stem)
        return chain([opening], archive, [order])

    def _prepared_for_sh(
        self, start: Start, nonce: str, stem: str, place: str
    ) -> Iterable[bytes]:
        """Return the bytes for a host without bash; raises RefusedError if bash is needed."""
        # The second word of `/usr/bin/env bash`, which a script's first line can name.
        programs = list(map(os.path.basename, start.argv[:2]))
        if start.library or "bash" in programs:
            raise RefusedError("no bash on this host")
        for program, version, _ in start.requires:
            if version:
                raise RefusedError(
                    f"the version of {program} cannot be checked: no bash here"
                )

        size = self.shipment.size
        opening = to_host.opening_in_sh(nonce, size, place, start.requires)
        order = to_host.order_in_sh(start.environment, start.argv)
        archive = self.shipment.chunks(stem)
        return chain([opening], archive, [order])

    def _start(self, host: Host, facts: Facts, place: str) -> Start:
        """Return what a host starts in the directory `place`; raises HostError, RefusedError."""
        raise NotImplementedError

    def _environment_on_host(
        self, host: Host, facts: Mapping[str, str], place: str
    ) -> Mapping[str, str]:
        """Return the environment on a host; raises HostError and RefusedError."""
        raise NotImplementedError
