"""`fleet run`: one command on many hosts."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import click

from cli_host_fleet import remembered, ssh
from cli_host_fleet.asking import become, confirm
from cli_host_fleet.fleet import Fleet, Options
from cli_host_fleet.job import InstalledJob, Job, Order, ShippedJob, asks_help, choose
from cli_host_fleet.json_view import JsonView
from cli_host_fleet.outcome import outcome
from cli_host_fleet.preview import preview
from cli_host_fleet.rollout import Amount
from cli_host_fleet.targets import Targets, calling, connecting_options, target_options
from cli_host_fleet.text_view import TextView
from host import Program


class _AmountType(click.ParamType):  # type: ignore[type-arg]
    name = "N|N%"

    def convert(self, value: Any, param: Any, ctx: Any) -> Amount:
        try:
            return Amount.parse(value)
        except ValueError as failure:
            self.fail(str(failure), param, ctx)


@click.command(context_settings={"allow_interspersed_args": False})
@target_options
@connecting_options
@click.option("--serial", type=_AmountType(), help="Run in batches of N hosts.")
@click.option(
    "--max-fail", type=_AmountType(), help="Stop starting new hosts after more than N have failed."
)
@click.option("--retries", type=click.IntRange(0), default=0, help="Retries for unreachable hosts.")
@click.option(
    "--timeout", type=click.FloatRange(0), default=0, help="Limit the command to this many seconds."
)
@click.option("--installed", default="", metavar="PATH", help="Run the program at PATH on hosts.")
@click.option("--env", "asked", multiple=True, metavar="NAME", help="Also send this variable.")
@click.option(
    "--stdin", default="", metavar="FILE", help="Send FILE (- for stdin) to the command's stdin."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be done.")
@click.option("--format", "form", type=click.Choice(["text", "json", "jsonl"]), default="text")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
def command(targets: Targets, words: tuple[str, ...], **given: Any) -> None:
    """Run the command WORDS, with its arguments, on every host of a set."""
    program = Program.current()
    if asks_help(program, words):
        sys.exit(program.run(words).returncode)
    found, args = choose(program, words)
    hosts = targets.hosts(program)
    args, declared = program.ask_arguments(found, args)
    order = Order(found, args, given["asked"], given["stdin"], declared)
    job = (
        InstalledJob(program, order, hosts, given["installed"])
        if given["installed"]
        else ShippedJob(program, order, hosts)
    )
    options = Options(
        *(given["forks"], given["serial"], given["max_fail"], given["retries"]),
        *(given["timeout"], given["connect_timeout"]),
    )
    if given["dry_run"]:
        click.echo(preview(job, options, given["form"]))
        return
    parameters = calling(targets, given)
    confirm(program, found, list(hosts), agreed=given["yes"])
    job.connect(parameters, become(program, given))
    sys.exit(carry_out(program, job, options, given["form"]))


def carry_out(program: Program, job: Job, options: Options, form: str) -> int:
    """Run and show the job, and record the failed hosts.

    Return the exit status, or end this process with the signal that stopped the run.
    """
    view = TextView(1, 2, os.environ) if form == "text" else JsonView(sys.stdout.buffer, form)
    fleet = Fleet(job, options, view)
    start = time.monotonic()
    results = fleet.run(list(job.hosts))
    view.end(results, time.monotonic() - start)
    file = remembered.place(os.environ, program.root)
    try:
        failed = [job.hosts[one.host] for one in results if one.state != "ok"]
        remembered.remember(file, [ssh.login(host) for host in failed])
    except OSError as failure:
        program.messages.warn(f"{file}: {failure.strerror}; @failed does not know this run")
    return outcome(fleet, view, results)
