"""`fleet exec`: any words on many hosts, as they are typed, or one line of shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from cli_host_fleet.command_jobs import check_names
from cli_host_fleet.complete import complete_files
from cli_host_fleet.connecting import connecting_options
from cli_host_fleet.from_host import Facts
from cli_host_fleet.job import Job, Start
from cli_host_fleet.problem import FleetError
from cli_host_fleet.results import Result
from cli_host_fleet.run_options import (
    dry_run_option,
    format_option,
    group_options,
    rollout_options,
    variable_options,
    yes_option,
)
from cli_host_fleet.running import run_or_preview
from cli_host_fleet.targets import Targets, target_options
from cli_host_fleet.transport import Host
from host import OneLineCommand, Program

_NOT_FOUND = 127  # a shell's exit status
_OF_A_LINE = frozenset(" \t\n$|&;<>()`*?\"'")


@click.command(cls=OneLineCommand, context_settings={"allow_interspersed_args": False})
@target_options
@connecting_options
@rollout_options
@variable_options
@click.option(
    "--stdin",
    default="",
    metavar="FILE",
    shell_complete=complete_files,
    help="Send FILE (- for stdin) to the stdin of the words.",
)
@click.option(
    "--shell", default="", metavar="LINE", help="Run this line of bash, not words."
)
@dry_run_option
@format_option
@group_options
@yes_option
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[-- WORDS...]")
def exec_on_hosts(targets: Targets, words: tuple[str, ...], **params: Any) -> None:
    """Run WORDS on every host of a set: a program there and its arguments, without a shell.

    With --shell, bash runs LINE, and WORDS are its arguments: $1, $2 and so on.
    """
    line = params["shell"]
    if not line and not words:
        raise FleetError("name a program to run, or give a line with --shell")
    asked = params["asked"]
    check_names(asked)

    argv = [*words]
    if line:
        # The second "bash" is $0, so that the words begin with $1.
        argv = ["bash", "-c", line, "bash", *words]

    program = Program.current()
    hosts = targets.hosts(program)
    job = ExecJob(hosts, argv, asked, params["stdin"], is_line=bool(line))
    sys.exit(run_or_preview(program, job, targets, params))


class ExecJob(Job):
    """Runs an argv on each host, with the variables of the inventory and those asked for.

    With `is_line`, the argv is bash with a line to run; a host without bash runs it in sh.
    """

    def __init__(
        self,
        hosts: Mapping[str, Host],
        argv: Sequence[str],
        asked: Sequence[str],
        stdin: str,
        *,
        is_line: bool,
    ) -> None:
        super().__init__(hosts)
        self._argv = argv
        self._is_line = is_line
        self._asked = asked
        self.add_stdin(stdin)
        self.shipment.close()

    def examined(self, result: Result) -> Result:
        """Return the result, with a hint if the only word looks like a line of shell."""
        is_one = len(self._argv) == 1 and bool(_OF_A_LINE & set(self._argv[0]))
        if result.status == _NOT_FOUND and is_one:
            return replace(result, reason="not a program; for a line of shell: --shell")
        return result

    def _words(self) -> Sequence[str]:
        return self._argv

    def _start(self, host: Host, facts: Facts, place: str) -> Start:
        argv = self._argv
        if self._is_line and not facts.bash:
            argv = ["sh", *argv[1:]]
        environment = self._environment_on_host(host, facts.variables(), place)
        return Start(argv, environment)

    def _environment_on_host(
        self, host: Host, facts: Mapping[str, str], place: str
    ) -> Mapping[str, str]:
        # The facts, such as HOME, are not sent: each host has its own.
        names = {*host.variables, *self._asked} - facts.keys()
        # As for a command, the caller's variables win over the inventory's.
        values = {**host.variables, **os.environ}
        environment = {}
        for name in sorted(names):
            environment[name] = values[name]
        return environment
