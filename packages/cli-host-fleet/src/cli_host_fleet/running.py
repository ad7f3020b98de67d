"""Carry out a job on its hosts, show it and record it."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from cli_host_fleet import remembered
from cli_host_fleet.asking import become
from cli_host_fleet.connecting import transport
from cli_host_fleet.fleet import Fleet, View
from cli_host_fleet.grouped_view import GroupedView
from cli_host_fleet.job import Job
from cli_host_fleet.json_view import JsonView
from cli_host_fleet.outcome import outcome
from cli_host_fleet.preview import preview
from cli_host_fleet.problem import show
from cli_host_fleet.results import Result, exit_status
from cli_host_fleet.run_options import options_of
from cli_host_fleet.targets import Targets
from cli_host_fleet.text_view import TextView
from cli_host_fleet.transport import Host, login
from host import Program

_STDOUT = 1
_TRACEPARENT = "TRACEPARENT"  # of W3C Trace Context
_STDERR = 2
# seconds for which the output of a running host is held back on a terminal
_PATIENCE = 1.0


def view_for(
    form: str, hosts: Iterable[str], *, group: bool | None = False, diff: bool = False
) -> View:
    """Return the view of a run. Without a choice, equal outputs are grouped on a terminal."""
    names = list(hosts)
    if form != "text":
        return JsonView(sys.stdout.buffer, form, names)

    if group or diff:
        # The user has asked for groups, so all output waits for them.
        patience = math.inf
    elif group is None and len(names) > 1 and os.isatty(_STDOUT):
        patience = _PATIENCE
    else:
        return TextView(_STDOUT, _STDERR, os.environ)
    return GroupedView(_STDOUT, _STDERR, os.environ, patience=patience, diff=diff)


def run_or_preview(
    program: Program,
    job: Job,
    targets: Targets,
    params: Mapping[str, Any],
) -> int:
    """Run a job on its hosts, or show it with --dry-run; return the exit status.

    The run is recorded in the history, and its failed hosts are remembered for `@failed`. If a
    signal stops the run, end this process with that signal.
    """
    options = options_of(params)
    if params["dry_run"]:
        text = preview(job, options, params["form"])
        show(text)
        return 0

    way = transport(targets, job.hosts, params)
    elevation = become(program, params)
    job.connect(way, elevation)
    group = params["group"]
    view = view_for(params["form"], job.hosts, group=group, diff=params["diff"])

    words, args = job.recorded_as(program)
    hosts = [_full_name(host) for host in job.hosts.values()]
    program.permit(words, args, origin="fleet", hosts=hosts)
    secrets = job.secret_values()
    recorded = program.record(words, args, origin="fleet", secrets=secrets)
    job.recorded = recorded.environment(_trace())

    remembered.forget(remembered.place(os.environ, program.root))
    fleet = Fleet(job, options, view)
    results = carry_out(fleet, job, view)

    # `outcome` may end this process by a signal, so it comes last.
    _remember(program, job, results, targets.origin)
    status = exit_status(results)
    if fleet.signal:
        status = -fleet.signal
    rows = [_row(result, job.hosts[result.host]) for result in results]
    recorded.finish(status, hosts=rows)
    return outcome(fleet, view, results)


def _trace() -> dict[str, str]:
    """Return the span of this process, if it has one: a program on a host joins its trace."""
    span = os.environ.get(_TRACEPARENT)
    return {_TRACEPARENT: span} if span else {}


def carry_out(fleet: Fleet, job: Job, view: View) -> list[Result]:
    """Run a job on its hosts and show it; return the results in the order of the hosts."""
    start = time.monotonic()
    results = fleet.run(list(job.hosts))
    seconds = time.monotonic() - start
    view.end(results, seconds)
    return results


def _full_name(host: Host) -> str:
    """Return the name of a host with its place, such as `docker:web1`."""
    return f"{host.place}{host.name}"


def _row(result: Result, host: Host) -> dict[str, str | int | float | None]:
    """Return what the history keeps of a result."""
    return {
        "host": _full_name(host),
        "state": result.state,
        "status": result.status,
        "attempts": result.attempts,
        "seconds": result.seconds,
        "reason": result.reason or None,
    }


def _remember(
    program: Program, job: Job, results: Iterable[Result], origin: Mapping[str, str]
) -> None:
    """Write the hosts that failed, as the next `--on @failed` takes them."""
    file = remembered.place(os.environ, program.root)
    failed = []
    for result in results:
        if result.state != "ok":
            host = job.hosts[result.host]
            failed.append(login(host))

    # The run is over, so a file that cannot be written is no reason to fail.
    try:
        remembered.remember(file, failed, origin)
    except OSError as failure:
        program.messages.warn(
            f"{file}: {failure.strerror}; @failed does not know this run"
        )
