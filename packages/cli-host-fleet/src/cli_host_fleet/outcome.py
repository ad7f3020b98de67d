"""How `fleet run` and `fleet check` end: with an exit status, or by a signal."""

from __future__ import annotations

import errno
import signal
from collections.abc import Iterable

from cli_host_fleet.fleet import Fleet, View, die_of
from cli_host_fleet.problem import unwritable
from cli_host_fleet.results import Result, exit_status


def outcome(fleet: Fleet, view: View, results: Iterable[Result]) -> int:
    """Return the exit status of a run. Raises OperationError if its output cannot be written.

    If a signal stopped the run, end this process with that signal. Otherwise, if stdout's reader is
    gone, end it with SIGPIPE.
    """
    problem = view.problem
    if problem and problem.errno != errno.EPIPE:
        raise unwritable(problem)

    if fleet.signal:
        die_of(fleet.signal)
    if problem:
        die_of(signal.SIGPIPE)
    return exit_status(results)
