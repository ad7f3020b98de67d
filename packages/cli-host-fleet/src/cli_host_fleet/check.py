"""`fleet check`: check that hosts can run a command, and compare its files with the local ones."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cli_host_fleet import to_host
from cli_host_fleet.asking import become
from cli_host_fleet.beginning import begin
from cli_host_fleet.captured import STREAMS, Captured
from cli_host_fleet.checksums import read_sums
from cli_host_fleet.command_jobs import CommandJob, Order, ShippedJob, path_on_host
from cli_host_fleet.complete import complete_words
from cli_host_fleet.connecting import connecting_options, transport
from cli_host_fleet.fleet import Fleet, Options
from cli_host_fleet.from_host import Facts
from cli_host_fleet.job import Job, Start
from cli_host_fleet.noise import useful_line
from cli_host_fleet.outcome import outcome
from cli_host_fleet.results import Result
from cli_host_fleet.run_options import format_option
from cli_host_fleet.running import carry_out, view_for
from cli_host_fleet.session import Output, Session
from cli_host_fleet.shortened import beginning, shortened
from cli_host_fleet.targets import Targets, target_options
from cli_host_fleet.transport import Host
from host import OneLineCommand, Program


@click.command(cls=OneLineCommand, context_settings={"allow_interspersed_args": False})
@target_options
@connecting_options
@click.option(
    "--installed", default="", metavar="PATH", help="Check each host's program at PATH."
)
@format_option
@click.argument(
    "words",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    metavar="WORDS...",
    shell_complete=complete_words,
)
def check_hosts(targets: Targets, words: tuple[str, ...], **params: Any) -> None:
    """Check that every host of a set can run the command WORDS, without running it."""
    beginning = begin(targets, words)
    program = beginning.program
    hosts = beginning.hosts
    order = Order(beginning.command, ())

    job: Job
    sums = None
    if params["installed"]:
        job = InstalledCheck(program, order, hosts, params["installed"])
        sums = checksums(order.command.directory)
    else:
        job = ShippedCheck(program, order, hosts)

    way = transport(targets, hosts, params)
    elevation = become(program, params)
    job.connect(way, elevation)

    view = view_for(params["form"], hosts)

    # A check is no run: it is not recorded, and `@failed` stays as it was.
    forks = params["forks"]
    connect_timeout = params["connect_timeout"]
    options = Options(forks=forks, connect_timeout=connect_timeout)
    fleet = Fleet(Check(job, sums), options, view)
    results = carry_out(fleet, job, view)
    sys.exit(outcome(fleet, view, results))


class ShippedCheck(ShippedJob):
    """Does everything that a run does, but does not run the command."""

    def _start(self, host: Host, facts: Facts, place: str) -> Start:
        start = super()._start(host, facts, place)
        return replace(start, argv=["true"])


class InstalledCheck(CommandJob):
    """Prints checksums of the command's files as installed on the host."""

    def __init__(
        self, program: Program, order: Order, hosts: Mapping[str, Host], installed: str
    ) -> None:
        super().__init__(program, order, hosts)
        self._installed = installed
        self.shipment.close()

    def _start(self, host: Host, facts: Facts, place: str) -> Start:
        program = path_on_host(self._installed, facts)
        words = self.order.command.words
        script = to_host.script("check.sh")
        argv = ["sh", "-c", script, "check", program, *words]
        return Start(argv)


class Check:
    """Carries out a job whose output is no output for the user: it becomes a reason, or nothing.

    `sums` are the checksums that a host must print, or None if it prints none.
    """

    def __init__(self, job: Job, sums: Mapping[str, str] | None) -> None:
        self.call = job.call
        self.explain = job.explain
        self._job = job
        self._sums = sums
        self._captured: dict[str, Captured] = {}

    def session(self, host: str, output: Output) -> Session:
        captured = Captured()
        self._captured[host] = captured
        return self._job.session(host, captured)

    def examined(self, result: Result) -> Result:
        captured = self._captured.pop(result.host)
        printed, error = (b"".join(captured.pieces(name)) for name in STREAMS)
        captured.close()

        if result.state == "failed" and not result.reason:
            reason = beginning(useful_line(error)) or "the check failed"
            return replace(result, reason=reason)
        # Without --installed, a host has printed no checksums.
        if result.state != "ok" or self._sums is None:
            return result

        differences = drift(self._sums, read_sums(printed))
        if not differences:
            return result
        return replace(result, state="failed", reason=differences)


def checksums(directory: str) -> dict[str, str]:
    """Return the SHA-256 of each file below a command's folder, except links and `.env*` files."""
    sums = {}
    for path in sorted(Path(directory).rglob("*")):
        # As check.sh does on the hosts.
        if path.is_symlink() or not path.is_file():
            continue
        if path.name.startswith(".env"):
            continue

        name = path.relative_to(directory).as_posix()
        with path.open("rb") as opened:
            sums[name] = hashlib.file_digest(opened, "sha256").hexdigest()
    return sums


def drift(local: Mapping[str, str], remote: Mapping[str, str]) -> str:
    """Return how a host's files differ from the local ones, or "" if they do not."""
    different = []
    for name in sorted({*local, *remote}):
        if local.get(name) != remote.get(name):
            different.append(name)
    if not different:
        return ""
    return f"differs from the local files: {shortened(different)}"
