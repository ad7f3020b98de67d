"""`fleet run`: one command on many hosts."""

from __future__ import annotations

import sys
from typing import Any

import click

from cli_host_fleet.asking import confirm
from cli_host_fleet.beginning import begin
from cli_host_fleet.command_jobs import InstalledJob, Order, ShippedJob
from cli_host_fleet.complete import complete_files, complete_words
from cli_host_fleet.connecting import connecting_options, transport
from cli_host_fleet.job import Job
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
from host import OneLineCommand


@click.command(cls=OneLineCommand, context_settings={"allow_interspersed_args": False})
@target_options
@connecting_options
@rollout_options
@click.option(
    "--installed", default="", metavar="PATH", help="Run the program at PATH on hosts."
)
@variable_options
@click.option(
    "--stdin",
    default="",
    metavar="FILE",
    shell_complete=complete_files,
    help="Send FILE (- for stdin) to the command's stdin.",
)
@dry_run_option
@format_option
@group_options
@yes_option
@click.argument(
    "words",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    metavar="WORDS...",
    shell_complete=complete_words,
)
def run_on_hosts(targets: Targets, words: tuple[str, ...], **params: Any) -> None:
    """Run the command WORDS, with its arguments, on every host of a set."""
    beginning = begin(targets, words)
    program = beginning.program
    hosts = beginning.hosts
    command = beginning.command
    # Questions come first, so that a run that waits for the hosts needs nobody.
    args, declared = program.ask_arguments(command, beginning.args)
    order = Order(command, args, params["asked"], params["stdin"], declared)

    job: Job
    if params["installed"]:
        job = InstalledJob(program, order, hosts, params["installed"])
    else:
        job = ShippedJob(program, order, hosts)

    if not params["dry_run"]:
        transport(targets, hosts, params)  # reports a missing ssh before the question
        confirm(program, command, list(hosts), agreed=params["yes"])

    sys.exit(run_or_preview(program, job, targets, params))
