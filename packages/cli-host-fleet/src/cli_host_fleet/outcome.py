"""How `fleet run` and `fleet check` end: with an exit status, or by a signal."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterable

from cli_host_fleet.fleet import Fleet, View, die_of
from cli_host_fleet.results import Result, exit_status
from host import Program


def outcome(program: Program, fleet: Fleet, view: View, results: Iterable[Result]) -> int:
    """Return the exit status of a run; print an error if its output could not be written.

    If a signal stopped the run, end this process by it, or by SIGPIPE if stdout's reader is gone.
    """
    problem = view.problem
    if problem and problem.errno != errno.EPIPE:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python retries to write its buffer at exit
        program.messages.error(f"cannot write the output: {problem.strerror}")
        return 1
    if fleet.signal or problem:
        die_of(fleet.signal or signal.SIGPIPE)
    return exit_status(results)
