"""Carry out a job: the options of a run, its view, its end, and the memory of failed hosts."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

from cli_host_fleet import remembered
from cli_host_fleet.asking import become
from cli_host_fleet.connecting import transport
from cli_host_fleet.fleet import Fleet, Options, View
from cli_host_fleet.grouped_view import GroupedView
from cli_host_fleet.job import Job
from cli_host_fleet.json_view import JsonView
from cli_host_fleet.outcome import outcome
from cli_host_fleet.preview import preview
from cli_host_fleet.results import Result, exit_status
from cli_host_fleet.rollout import Amount
from cli_host_fleet.targets import Targets
from cli_host_fleet.text_view import TextView
from cli_host_fleet.transport import login
from host import Program

# seconds for which the output of a running host is held back on a terminal
_PATIENCE = 1.0


class _AmountType(click.ParamType):  # type: ignore[type-arg]
    name = "N|N%"

    def __init__(self, least: int) -> None:
        self._least = least

    def convert(self, value: Any, param: Any, ctx: Any) -> Amount:
        try:
            amount = Amount.parse(value)
        except ValueError as failure:
            self.fail(str(failure), param, ctx)
        if amount.number < self._least:
            self.fail(f"{value!r}: must be at least {self._least}", param, ctx)
        return amount


def _all_of(
    options: Sequence[Any],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds these click options, the first of them first."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


rollout_options = _all_of(
    [
        click.option(
            "--serial",
            type=_AmountType(1),
            metavar="N",
            help="Run in batches of N hosts, or N%.",
        ),
        click.option(
            "--max-fail",
            type=_AmountType(0),
            metavar="N",
            help="Start no further host after more than N, or N%, have failed.",
        ),
        click.option(
            "--retries",
            type=click.IntRange(0),
            default=0,
            metavar="N",
            help="Try unreachable hosts again, at most N times.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(0),
            default=0,
            metavar="S",
            help="Limit the command to S seconds.",
        ),
    ]
)
variable_options = _all_of(
    [
        click.option(
            "--env", "asked", multiple=True, metavar="NAME", help="Send this variable."
        ),
        click.option(
            "--env-from-inventory",
            "from_inventory",
            multiple=True,
            metavar="NAME",
            help="Send this variable of the inventory, and no others of it.",
        ),
    ]
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Only show what would be done."
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    help="Print lines and a table, or the results as JSON.",
)
group_options = _all_of(
    [
        click.option(
            "--group/--no-group",
            default=None,
            help="Print equal outputs once (default: on a terminal).",
        ),
        click.option(
            "--diff", is_flag=True, help="Print differences from the largest group."
        ),
    ]
)


def options_of(params: Mapping[str, Any]) -> Options:
    """Return the options of a run, from those of `connecting_options` and `rollout_options`."""
    return Options(
        params["forks"],
        params["serial"],
        params["max_fail"],
        params["retries"],
        params["timeout"],
        params["connect_timeout"],
    )


def view_for(
    form: str, hosts: Iterable[str], *, group: bool | None = False, diff: bool = False
) -> View:
    """Return the view of a run. Without a choice, equal outputs are grouped on a terminal."""
    names = list(hosts)
    if form != "text":
        return JsonView(sys.stdout.buffer, form, names)

    if group or diff:
        return GroupedView(1, 2, os.environ, patience=math.inf, diff=diff)

    is_chosen = group is None and len(names) > 1
    if is_chosen and os.isatty(1):
        return GroupedView(1, 2, os.environ, patience=_PATIENCE, diff=False)
    return TextView(1, 2, os.environ)


def run_or_preview(
    program: Program,
    job: Job,
    targets: Targets,
    params: Mapping[str, Any],
    view: View | None = None,
) -> int:
    """Run a job on its hosts, or show it with --dry-run; return the exit status.

    The run is recorded in the history, and its failed hosts are remembered for `@failed`. If a
    signal stops the run, end this process with that signal.
    """
    options = options_of(params)
    if params["dry_run"]:
        click.echo(preview(job, options, params["form"]))
        return 0

    job.connect(transport(targets, job.hosts, params), become(program, params))
    if view is None:
        view = view_for(
            params["form"], job.hosts, group=params["group"], diff=params["diff"]
        )

    words, args = job.recorded_as(program)
    recorded = program.record(words, args, origin="fleet", secrets=job.secret_values())
    job.recorded = recorded.environment({})

    fleet = Fleet(job, options, view)
    results = carry_out(fleet, job, view)

    # `outcome` may end this process by a signal, so it comes last.
    _remember(program, job, results)
    status = exit_status(results)
    if fleet.signal:
        status = -fleet.signal
    recorded.finish(status, hosts=[_row(result) for result in results])
    return outcome(fleet, view, results)


def carry_out(fleet: Fleet, job: Job, view: View) -> list[Result]:
    """Run a job on its hosts and show it; return the results in the order of the hosts."""
    start = time.monotonic()
    results = fleet.run(list(job.hosts))
    view.end(results, time.monotonic() - start)
    return results


def _row(result: Result) -> dict[str, str | int | float | None]:
    """Return what the history keeps of a result."""
    return {
        "host": result.host,
        "state": result.state,
        "status": result.status,
        "attempts": result.attempts,
        "seconds": result.seconds,
        "reason": result.reason or None,
    }


def _remember(program: Program, job: Job, results: Iterable[Result]) -> None:
    """Write the hosts that failed, as the next `--on @failed` takes them."""
    file = remembered.place(os.environ, program.root)
    failed = []
    for result in results:
        if result.state != "ok":
            failed.append(login(job.hosts[result.host]))
    try:
        remembered.remember(file, failed)
    except OSError as failure:
        program.messages.warn(
            f"{file}: {failure.strerror}; @failed does not know this run"
        )
