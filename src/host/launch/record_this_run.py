"""Make the records of a run for the history: of its start, and of its end."""

import posix
import time

from host.caller import RECORDED, RUN
from host.launch.history_record import (
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


def started_run(
    run: "Run", start: "float | None" = None, run_id: str = ""
) -> StartedRun:
    """Return what the history knows of a run that started at `start`, by default now.

    Without `run_id`, it has the id that its caller has given it, or else a new one.
    """
    environ = run.installation.environ
    known_id, origin, client = caller_of(environ)
    if start is None:
        start = time.time()

    shown = shown_arguments(run)
    return StartedRun(
        id=run_id or known_id or new_id(),
        start=utc_time(start),
        words=run.words,
        arguments=shown,
        masked=masked_positions(run.arguments, shown),
        directory=current_directory(),
        user=user_name(),
        host=posix.uname().nodename,
        version=run.installation.config.version,
        plugin=run.plugin,
        origin=origin,
        outer=_outer_id(environ),
        process=posix.getpid(),
        client=client,
    )


def unparsed_run(run: "Run", started: StartedRun) -> StartedRun:
    """Return a run as it is recorded unless it ends with status 0.

    Only click itself parses the words of its commands. Of those that it refuses, or has not reached
    yet, any may be a secret, as in `--passwrod=hunter2`.
    """
    tree = run.definition.click
    if tree is None or not tree.has_secrets:
        return started

    from host.launch.run_masking import MASK

    masked = [MASK] * len(started.arguments)
    return started.replaced(arguments=masked, masked=[*range(len(masked))])


def shown_arguments(run: "Run") -> "Sequence[str]":
    """Return the arguments of a run, masked."""
    if not run.arguments:
        return ()

    from host.launch.run_masking import masked_arguments, secret_values

    return masked_arguments(run, run.arguments, secret_values(run))


def caller_of(
    environ: "Mapping[str, str]",
) -> "tuple[str, str, Mapping[str, str]]":
    """Return the id that the caller has given a run, or "", its origin, and its client."""
    known_id = ""
    if RECORDED in environ:
        from host.variables.recorded_variable import parts_of

        known_id, origin, client = parts_of(environ[RECORDED])
        if origin:
            return known_id, origin, client
    return known_id, *origin_of(environ)


def masked_positions(
    arguments: "Sequence[str]", shown: "Sequence[str]"
) -> "Sequence[int]":
    """Return the positions of the arguments that are not shown as they are."""
    pairs = zip(arguments, shown, strict=True)
    return [number for number, (given, masked) in enumerate(pairs) if given != masked]


def _outer_id(environ: "Mapping[str, str]") -> str:
    if RUN not in environ:
        return ""

    from host.variables.nested import outer_ids

    return outer_ids(environ).partition(".")[0]


def ended_run(started: StartedRun, ending: CommandEnding) -> EndedRun:
    """Return what the history knows of a run that has ended."""
    return EndedRun(
        id=started.id,
        seconds=round(ending.seconds, 3),
        status=ending.status,
        signal=ending.signal,
    )


def not_started(status: int) -> CommandEnding:
    """Return the end of a run whose command could not be started."""
    return CommandEnding(status, 0, False, 0.0)


def current_directory() -> str:
    try:
        return posix.getcwd()
    except OSError:
        return ""  # it was deleted
