"""Make the records of a run for the history: of its start, and of its end."""

import posix
import time

from host.caller import RECORDED, RUN, is_ci
from host.launch.history import (
    NO_CLIENT,
    EndedRun,
    StartedRun,
    new_id,
    origin_of,
    user_name,
    utc_time,
)
from host.launch.watched_run import CommandEnding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.launch.plan import Run


def started_run(run: "Run") -> StartedRun:
    """Return what the history knows of a run that starts now."""
    environ = run.installation.environ
    run_id = ""
    origin = ""
    client = NO_CLIENT
    if RECORDED in environ:
        from host.launch.recorded_variable import parts_of

        run_id, origin, client = parts_of(environ[RECORDED])
    if not run_id:
        run_id = new_id()
    if not origin:
        origin = origin_of(is_ci(environ))

    return StartedRun(
        id=run_id,
        start=utc_time(time.time()),
        words=run.words,
        arguments=_masked_arguments(run),
        directory=_current_directory(),
        user=user_name(),
        host=posix.uname().nodename,
        version=run.installation.config.version,
        plugin=run.plugin,
        origin=origin,
        outer=_outer_id(environ),
        process=posix.getpid(),
        client=client,
    )


def _masked_arguments(run: "Run") -> "Sequence[str]":
    if not run.arguments:
        return ()

    from host.launch.run_masking import masked_arguments, secret_values

    return masked_arguments(run, run.arguments, secret_values(run))


def _outer_id(environ: "Mapping[str, str]") -> str:
    if RUN not in environ:
        return ""

    from host.variables.nested import outer_id

    return outer_id(environ)


def ended_run(started: StartedRun, ending: CommandEnding, run: "Run") -> EndedRun:
    """Return what the history knows of a run that has ended."""
    output = ""
    if ending.output:
        from host.launch.run_masking import masked_output, secret_values

        output = masked_output(ending.output, secret_values(run))
    return EndedRun(
        id=started.id,
        seconds=round(ending.seconds, 3),
        status=ending.status,
        signal=ending.signal,
        output=output,
    )


def not_started(status: int) -> CommandEnding:
    """Return the end of a run whose command could not be started."""
    return CommandEnding(status, 0, False, 0.0, b"")


def _current_directory() -> str:
    try:
        return posix.getcwd()
    except OSError:
        return ""  # it was deleted
