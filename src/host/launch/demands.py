"""What a run asks of a parent: to be recorded, limited or exclusive, or that a plugin waits for it.

Such a run has a parent, which watches it (`host.launch.watched_run`), except that an exclusive
run that is nothing else only inherits its lock.
"""

import time

from host.caller import RECORD, RECORDED, RUN, is_on, xdg_home
from host.catalog.run_keys import WAIT, nearest
from host.errors import HostError
from host.processes.process import execute
from host.record_base import Record
from host.variables.chain_entry import with_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.catalog.definition import Definition
    from host.launch.history_database import RunRecorder
    from host.launch.history_record import EndedRun, StartedRun
    from host.launch.plan import Run
    from host.launch.watched_run import CommandEnding, WatchedRun
    from host.messages import Messages
    from host.plugin_functions import AfterRun
    from host.processes.process import Exec


class Demands(Record):
    """What a run asks of its parent.

    record      whether it is recorded
    seconds     its time limit, or None
    exclusive   see `Supervision`
    after       the functions of plugins that are called after it
    """

    record: bool
    seconds: "int | None"
    exclusive: "bool | str | None"
    after: "Sequence[AfterRun]"

    @property
    def need_parent(self) -> bool:
        return any((self.record, self.seconds, self.after))

    @property
    def waits(self) -> bool:
        """Return whether the run waits for the lock of `exclusive`."""
        return self.exclusive == WAIT

    @property
    def lock_name(self) -> str:
        """Return the name that the definition gives the lock, or ""."""
        if isinstance(self.exclusive, str) and not self.waits:
            return self.exclusive
        return ""


def demands_of(run: "Run") -> "Demands | None":
    """Return what a run asks of its parent, or None for an ordinary run."""
    supervision = run.supervision
    environ = run.installation.environ
    after = run.catalog.lock.after_runs_of(run.words, environ)
    if _records_itself(run.definition):
        is_recorded = False
        # In a trace, what it starts is below its own span.
        after = [call for call in after if call.traced_if]
    else:
        is_asked = is_on(environ.get(RECORD))
        is_recorded = records(run, is_asked=is_asked)
    if is_recorded and RECORDED in environ:
        is_recorded = not _is_recorded_by_caller(run, environ[RECORDED])

    demands = Demands(
        record=is_recorded,
        seconds=supervision.seconds,
        exclusive=supervision.exclusive,
        after=after,
    )
    if demands.need_parent or demands.exclusive:
        return demands
    return None


def _records_itself(definition: "Definition") -> bool:
    """Return whether a command calls `Program.record` for all that it starts: see there."""
    if not (definition.starts_commands and definition.in_python):
        return False
    return nearest(definition.own_supervisions).record is False


def _is_recorded_by_caller(run: "Run", variable: str) -> bool:
    """Return whether CLI_RECORDED names a run in the history; anything else does not count."""
    from host.launch.history_database import history_path_of, knows_run
    from host.variables.recorded_variable import id_of

    run_id = id_of(variable)
    return bool(run_id) and knows_run(history_path_of(run), run_id)


def records(run: "Run", *, is_asked: bool) -> bool:
    """Return whether a run is recorded. `is_asked` says whether its caller asks for it."""
    if run.supervision.record:
        return True
    if not is_asked:
        return False
    of_installation = run.installation.config.supervision
    if of_installation is None:
        return True
    return of_installation.record is not False


def take_lock(run: "Run", demands: Demands, messages: "Messages") -> int | None:
    """Return the descriptor that holds the lock of an exclusive run, or None for another run.

    Raises BusyError if another run holds the lock, unless this run is to wait.
    """
    if not demands.exclusive:
        return None

    from host.launch import exclusive

    state = xdg_home(run.environ, "STATE")
    directory = exclusive.locks_directory(state, run.installation.layout.root)
    path = exclusive.lock_path(directory, run.words, demands.lock_name)

    def report(text: str) -> None:
        messages.line(f"{run.program}: {text}")

    # Only a run inside another run can be inside the holder of the lock.
    is_inside = RUN in run.installation.environ
    return exclusive.take_lock(
        path, run.words, report, waits=demands.waits, is_inside=is_inside
    )


def start_with_demands(
    run: "Run",
    demands: Demands,
    lock: int | None,
    replacement: "Exec",
    messages: "Messages",
) -> int:
    """Run a command as `demands` say; return the exit status for this process.

    `lock` is the descriptor from `take_lock`, which the command inherits. Does not return if the
    command needs no parent, or if a signal ended it.
    """
    locks = _inherited_locks(lock)
    if not demands.need_parent:
        execute(replacement)

    # An exclusive run that is nothing else needs none of these.
    from host.launch.history_record import new_id
    from host.launch.watched_run import WatchedRun

    start = time.time()
    run_id = new_id()
    environ = dict(replacement.env)
    if demands.record:
        # Runs inside this one record its id as that of their outer run.
        environ[RUN] = with_id(environ[RUN], run_id)
    traceparent = ""
    if demands.after:
        from host.launch.trace import TRACEPARENT, new_span

        traceparent = new_span(demands.after, run.installation.environ)
        if traceparent:
            environ[TRACEPARENT] = traceparent
    replacement = replacement.replaced(env=environ)

    watched = WatchedRun(replacement, demands.seconds, kept=locks)
    failure: HostError | None = None
    try:
        watched.start()
    except HostError as error:
        failure = error

    # While the command runs, this process is idle: now there is time for the history.
    from host.launch.record_this_run import (
        ended_run,
        not_started,
        started_run,
        unparsed_run,
    )

    if not demands.record:
        run_id = ""  # a caller that records this run has given it an id
    started = started_run(run, start, run_id)
    unparsed = unparsed_run(run, started)
    recorder = _recorder_of(run, demands, messages)
    if failure is not None:
        recorder.end(unparsed, ended_run(started, not_started(failure.status)))
        raise failure

    ending, started, ended = _wait(watched, started, unparsed, recorder)
    if ending.timed_out:
        called = " ".join(run.words)
        limit = run.supervision.timeout
        messages.error(f"{called}: ended by its time limit of {limit}")

    if demands.after:
        from host.launch.after_run import call_after_run

        call_after_run(demands.after, started, ended, messages, traceparent)
    return watched.leave(ending)


def _wait(
    watched: "WatchedRun",
    started: "StartedRun",
    unparsed: "StartedRun",
    recorder: "RunRecorder | _NoRecorder",
) -> "tuple[CommandEnding, StartedRun, EndedRun]":
    """Wait for a run and write it to the history; return how it ended, and its final records."""
    from host.launch.record_this_run import ended_run

    # SQLite waits for the disk at each write, so a run that is over is written once.
    if not watched.has_ended():
        recorder.begin(unparsed)
    ending = watched.wait()
    ended = ended_run(started, ending)
    if ending.status:
        started = unparsed
    recorder.end(started, ended)
    return ending, started, ended


def _inherited_locks(lock: int | None) -> list[int]:
    """Return the descriptor that the command inherits, if it has a lock."""
    if lock is None:
        return []
    from host.launch.exclusive import inheritable

    return [inheritable(lock)]


class _NoRecorder:
    """Takes the place of a `RunRecorder` for a run that is not recorded."""

    def begin(self, started: "StartedRun") -> None: ...

    def end(self, started: "StartedRun", ended: "EndedRun") -> None: ...


def _recorder_of(
    run: "Run", demands: Demands, messages: "Messages"
) -> "RunRecorder | _NoRecorder":
    """Return what writes the run to the history."""
    if not demands.record:
        return _NoRecorder()
    try:
        from host.launch.history_database import RunRecorder
    except ImportError as missing:
        reason = f"this Python lacks SQLite ({missing})"
        messages.warn(f"the run is not recorded: {reason}")
        return _NoRecorder()
    return RunRecorder(run, messages)
