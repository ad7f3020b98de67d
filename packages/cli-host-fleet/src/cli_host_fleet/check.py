"""`fleet check`: check that hosts can run a command, and compare its files with the local ones."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cli_host_fleet import protocol
from cli_host_fleet.asking import become
from cli_host_fleet.fleet import Fleet, Options, View
from cli_host_fleet.job import Job, Order, ShippedJob, asks_help, choose, there
from cli_host_fleet.json_view import JsonView
from cli_host_fleet.outcome import outcome
from cli_host_fleet.protocol import Facts
from cli_host_fleet.results import Result
from cli_host_fleet.session import Output
from cli_host_fleet.ssh import Host
from cli_host_fleet.targets import Targets, calling, connecting_options, target_options
from cli_host_fleet.text_view import TextView
from host import Program

_MOST_NAMED = 5


@click.command(context_settings={"allow_interspersed_args": False})
@target_options
@connecting_options
@click.option("--installed", default="", metavar="PATH", help="Check each host's program at PATH.")
@click.option("--format", "form", type=click.Choice(["text", "json", "jsonl"]), default="text")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
def command(targets: Targets, words: tuple[str, ...], **given: Any) -> None:
    """Check that every host of a set can run the command WORDS, without running it."""
    program = Program.current()
    if asks_help(program, words):
        sys.exit(program.run(words).returncode)
    order = Order(choose(program, words)[0], ())
    hosts = targets.hosts(program)
    job = (
        InstalledCheck(program, order, hosts, given["installed"])
        if given["installed"]
        else ShippedCheck(program, order, hosts)
    )
    job.connect(calling(targets, given), become(program, given))
    inner = TextView(1, 2, os.environ) if given["form"] == "text" else None
    shown: View = inner or JsonView(sys.stdout.buffer, given["form"])
    sums = checksums(order.command.directory) if given["installed"] else None
    view = CheckView(shown, sums)
    start = time.monotonic()
    options = Options(forks=given["forks"], connect_timeout=given["connect_timeout"])
    fleet = Fleet(job, options, view)
    fleet.run(list(job.hosts))
    shown.end(view.results, time.monotonic() - start)
    sys.exit(outcome(fleet, view, view.results))


class ShippedCheck(ShippedJob):
    """Does everything that a run does, but does not run the command."""

    def _start(self, facts: Facts, place: str) -> tuple[list[str], str]:
        super()._start(facts, place)
        return ["true"], ""


class InstalledCheck(Job):
    """Prints checksums of the command's files as installed on the host."""

    def __init__(
        self, program: Program, order: Order, hosts: Mapping[str, Host], installed: str
    ) -> None:
        super().__init__(program, order, hosts)
        self._installed = installed
        self.shipment.close()

    def _start(self, facts: Facts, place: str) -> tuple[list[str], str]:
        program = there(self._installed, facts)
        words = self.order.command.words
        return ["bash", "--norc", "-c", protocol.script("check.sh"), "check", program, *words], ""

    def _environment_there(
        self, host: Host, facts: Mapping[str, str], place: str
    ) -> dict[str, str]:
        return {}


class CheckView:
    """Passes results to another view, and adds differences between local and remote checksums."""

    def __init__(self, view: View, sums: Mapping[str, str] | None) -> None:
        self.results: list[Result] = []
        self._view = view
        self._sums = sums
        self._printed: dict[str, _Printed] = {}

    @property
    def problem(self) -> OSError | None:
        return self._view.problem

    @problem.setter
    def problem(self, problem: OSError | None) -> None:
        self._view.problem = problem

    def output(self, host: str) -> Output:
        self._printed[host] = _Printed()
        return self._printed[host]

    def finished(self, result: Result) -> None:
        printed = self._printed.pop(result.host, _Printed()).streams
        if result.state == "failed":
            reason = protocol.useful_line(printed["stderr"]) or "the check failed"
            result = replace(result, reason=reason)
        elif result.state == "ok" and self._sums is not None:
            differences = drift(self._sums, read_sums(printed["stdout"]))
            if differences:
                result = replace(result, state="failed", reason=differences)
        self.results.append(result)
        self._view.finished(result)

    def tick(self, running: Sequence[str], done: Sequence[Result], total: int) -> None:
        self._view.tick(running, self.results, total)

    def end(self, results: Sequence[Result], seconds: float) -> None:
        self._view.end(results, seconds)


class _Printed:
    def __init__(self) -> None:
        self.streams = {"stdout": b"", "stderr": b""}

    def write(self, stream: str, data: bytes) -> None:
        self.streams[stream] += data


def checksums(directory: str) -> dict[str, str]:
    """Return the SHA-256 of each file below a command's folder, except links and `.env*` files."""
    found = {}
    for path in sorted(Path(directory).rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.startswith(".env"):
            name = path.relative_to(directory).as_posix()
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def read_sums(printed: bytes) -> dict[str, str]:
    """Return the checksums in the output of `sha256sum`, by file name."""
    pairs = (line.split(b" ", 1) for line in printed.splitlines() if b" " in line)
    return {
        os.fsdecode(name.lstrip(b" *").removeprefix(b"./")): digest.decode()
        for digest, name in pairs
    }


def drift(here: Mapping[str, str], elsewhere: Mapping[str, str]) -> str:
    """Return how a host's files differ from the local ones, or "" if they do not."""
    names = sorted({*here, *elsewhere})
    different = [name for name in names if here.get(name) != elsewhere.get(name)]
    if not different:
        return ""
    more = len(different) - _MOST_NAMED
    shown = ", ".join(different[:_MOST_NAMED])
    return f"differs from the local files: {shown}{f' and {more} more' if more > 0 else ''}"
