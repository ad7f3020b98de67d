"""Start a run that is recorded, limited or exclusive, or that a plugin waits for.

Such a run has a parent, which watches it (`host.run.watched_run`), except that an exclusive run
that is nothing else only inherits its lock.
"""

import posix
import time

from host.errors import HostError
from host.run.caller import RECORD, RECORDED, RUN, is_on, xdg_home
from host.run.chain_entry import with_id
from host.run.record import Record
from host.run.supervision import OUTPUT, WAIT
from host.run.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

    from host.run.declarations import AfterRun
    from host.run.history import EndedRun, StartedRun
    from host.run.messages import Messages
    from host.run.plan import Run
    from host.run.process import Exec
    from host.run.recorded_output import RecordedOutput
    from host.run.watched_run import CommandEnding


LARGE_SPOOL = 256 << 10  # bytes; about 400 runs


class Demands(Record):
    """What a run asks of its parent.

    record      whether it is recorded
    output      whether the end of its output is recorded, too
    seconds     its time limit, or None
    exclusive   see `Supervision`
    after       the functions of plugins that are called after it
    """

    record: bool
    output: bool
    seconds: "int | None"
    exclusive: "bool | str | None"
    after: "Sequence[AfterRun]"

    @property
    def need_parent(self) -> bool:
        return bool(self.record or self.seconds or self.after)

    @property
    def waits(self) -> bool:
        """Return whether the run waits for the lock of `exclusive`."""
        return self.exclusive == WAIT

    @property
    def lock_name(self) -> str:
        """Return the name that the definition gives the lock, or ""."""
        is_name = isinstance(self.exclusive, str) and not self.waits
        return str(self.exclusive) if is_name else ""


def demands_of(run: "Run") -> "Demands | None":
    """Return what a run asks of its parent, or None for an ordinary run."""
    supervision = run.supervision
    environ = run.installation.environ
    is_recorded = (
        records(run, is_asked=is_on(environ.get(RECORD))) and RECORDED not in environ
    )
    after = run.catalog.lock.after_runs_of(run.words)
    if not (is_recorded or supervision.seconds or supervision.exclusive or after):
        return None
    output = is_recorded and supervision.record == OUTPUT
    return Demands(
        is_recorded, output, supervision.seconds, supervision.exclusive, after
    )


def records(run: "Run", *, is_asked: bool) -> bool:
    """Return whether a run is recorded. `is_asked` says whether its caller asks for it."""
    if run.supervision.record:
        return True
    of_installation = run.installation.config.supervision
    is_forbidden = bool(of_installation and of_installation.record is False)
    return is_asked and not is_forbidden


def start_supervised(
    run: "Run", demands: Demands, replacement: "Exec", messages: "Messages"
) -> int:
    """Run a command as `demands` say; return the exit status for this process.

    Does not return if the command needs no parent, or if a signal ended it.
    """
    descriptor = _take_lock(run, demands, messages)
    if not demands.need_parent:
        _start_with_lock(replacement, descriptor)
    from host.run.watched_run import WatchedRun

    spool = Spool(run, messages) if demands.record else None
    kept = () if descriptor is None else (descriptor,)
    output = None
    if demands.output:
        from host.run.recorded_output import RecordedOutput

        output = RecordedOutput()
    started = started_run(run)
    if spool:
        spool.append(started)
        chain = with_id(replacement.env[RUN], started.id)
        replacement = replacement.replaced(env={**replacement.env, RUN: chain})
    watched = WatchedRun(replacement, demands.seconds, output=output, kept=kept)
    try:
        ending = watched.run()
    except HostError as error:
        if spool:
            spool.append(_ended(started, _not_started(error.status), run))
        raise
    ending = _reported(ending, run, output, messages)
    ended = _ended(started, ending, run)
    if spool:
        spool.append(ended)
        spool.empty_if_large(run)
    if demands.after:
        from host.supervised.after_run import call_after_run

        call_after_run(demands.after, started, ended, messages)
    return watched.leave(ending)


def _start_with_lock(replacement: "Exec", descriptor: int | None) -> "NoReturn":
    """Replace this process with the command, which inherits the lock. Raises HostError."""
    from host.run.process import execute

    if descriptor is not None:
        from host.run.exclusive import inheritable

        inheritable(descriptor)
    execute(replacement)


def _reported(
    ending: "CommandEnding",
    run: "Run",
    output: "RecordedOutput | None",
    messages: "Messages",
) -> "CommandEnding":
    """Print why the run failed if its command cannot know; return the ending with its status."""
    called = " ".join(run.words)
    if output is not None and output.failure:
        messages.error(f"{called}: its output could not be written: {output.failure}")
        ending = ending.replaced(status=ending.status or HostError.status)
    if ending.timed_out:
        messages.error(
            f"{called}: ended by its time limit of {run.supervision.timeout}"
        )
    return ending


class Spool:
    """The spool file of the history; an error is reported once and never stops a run."""

    def __init__(self, run: "Run", messages: "Messages") -> None:
        from host.run.history import history_path

        state = xdg_home(run.environ, "STATE")
        self._path = f"{history_path(state, run.installation.layout.root)}.spool"
        self._messages = messages
        self._is_large = False

    def append(self, record: "StartedRun | EndedRun") -> None:
        from host.run.spool_file import append_line

        try:
            before, after = append_line(self._path, record)
        except OSError as failure:
            what = (
                f"the run is not recorded: {self._path}: {failure.strerror or failure}"
            )
            self._messages.warn(what)
        else:
            self._is_large |= before // LARGE_SPOOL < after // LARGE_SPOOL

    def empty_if_large(self, run: "Run") -> None:
        """Let a detached process move a large spool into the database, if nobody reads it.

        If that is impossible, because the database is damaged, for example, the next attempt is
        made when the spool has become larger by as much again.
        """
        if not self._is_large:
            return
        try:
            layout = run.installation.layout
            launcher = f"{layout.core_dir}/{layout.program}"
            posix.posix_spawn(
                launcher,
                [launcher, "self", "history", "--limit", "1"],
                {
                    encode(name): encode(value)
                    for name, value in run.installation.environ.items()
                },
                file_actions=[
                    (posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0)
                    for number in (0, 1, 2)
                ],
                setsid=True,
                setsigmask=(),  # this process blocks all signals
            )
        except OSError:
            pass  # a later run tries it again


def started_run(run: "Run") -> "StartedRun":
    """Return what the history knows of a run that starts now."""
    from host.run.caller import is_ci
    from host.run.history import (
        NO_CLIENT,
        StartedRun,
        new_id,
        origin_of,
        user_name,
        utc_time,
    )

    environ = run.installation.environ
    if RECORDED in environ:
        from host.supervised.recorded_variable import parts_of

        run_id, origin, client = parts_of(environ[RECORDED])
    else:
        run_id, origin, client = "", "", NO_CLIENT
    return StartedRun(
        id=run_id or new_id(),
        start=utc_time(time.time()),
        words=run.words,
        arguments=_masked_arguments(run),
        directory=_current_directory(),
        user=user_name(),
        host=posix.uname().nodename,
        version=run.installation.config.version,
        plugin=run.plugin,
        origin=origin or origin_of(is_ci(environ)),
        outer=_outer_id(environ),
        process=posix.getpid(),
        client=client,
    )


def _masked_arguments(run: "Run") -> "Sequence[str]":
    if not run.arguments:
        return ()
    from host.supervised.masking import masked_arguments, secret_values

    return masked_arguments(run, run.arguments, secret_values(run))


def _outer_id(environ: "Mapping[str, str]") -> str:
    if RUN not in environ:
        return ""
    from host.run.nested import outer_id

    return outer_id(environ)


def _ended(started: "StartedRun", ending: "CommandEnding", run: "Run") -> "EndedRun":
    from host.run.history import EndedRun

    output = ""
    if ending.output:
        from host.supervised.masking import masked_output, secret_values

        output = masked_output(ending.output, secret_values(run))
    return EndedRun(
        started.id, round(ending.seconds, 3), ending.status, ending.signal, output
    )


def _not_started(status: int) -> "CommandEnding":
    from host.run.watched_run import CommandEnding

    return CommandEnding(status, 0, False, 0.0, b"")


def _take_lock(run: "Run", demands: Demands, messages: "Messages") -> int | None:
    if not demands.exclusive:
        return None
    from host.run.exclusive import lock_path, take_lock

    name = demands.lock_name or " ".join(run.words)
    path = lock_path(xdg_home(run.environ, "STATE"), run.installation.layout.root, name)

    def report(text: str) -> None:
        messages.line(f"{run.program}: {text}")

    return take_lock(path, run.words, demands.waits, report)


def _current_directory() -> str:
    try:
        return posix.getcwd()
    except OSError:
        return ""  # it was deleted
