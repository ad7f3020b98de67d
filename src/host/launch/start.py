"""Start a run that is recorded, limited or exclusive, or that a plugin waits for.

Such a run has a parent, which watches it (`host.launch.watched_run`), except that an exclusive
run that is nothing else only inherits its lock.
"""

from host.caller import RECORD, RECORDED, RUN, is_on, xdg_home
from host.catalog.run_keys import OUTPUT, WAIT
from host.errors import HostError
from host.record import Record
from host.variables.chain_entry import with_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from host.launch.plan import Run
    from host.launch.recorded_output import RecordedOutput
    from host.launch.spool import Spool
    from host.launch.watched_run import CommandEnding
    from host.messages import Messages
    from host.plugin_functions import AfterRun
    from host.processes.process import Exec


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
    is_asked = is_on(environ.get(RECORD))
    is_recorded = records(run, is_asked=is_asked)
    if RECORDED in environ:
        is_recorded = False  # the caller of this run does it
    has_output = is_recorded and supervision.record == OUTPUT

    demands = Demands(
        record=is_recorded,
        output=has_output,
        seconds=supervision.seconds,
        exclusive=supervision.exclusive,
        after=run.catalog.lock.after_runs_of(run.words),
    )
    if demands.need_parent or demands.exclusive:
        return demands
    return None


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

    return exclusive.take_lock(path, run.words, demands.waits, report)


def start_supervised(
    run: "Run",
    demands: Demands,
    lock: int | None,
    replacement: "Exec",
    messages: "Messages",
) -> int:
    """Run a command as `demands` say; return the exit status for this process.

    `lock` is the descriptor from `take_lock`. Does not return if the command needs no parent, or
    if a signal ended it.
    """
    if not demands.need_parent:
        _start_with_lock(replacement, lock)

    # An exclusive run that is nothing else needs none of these.
    from host.launch.run_records import ended_run, not_started, started_run
    from host.launch.watched_run import WatchedRun

    output: "RecordedOutput | None" = None
    if demands.output:
        from host.launch.recorded_output import RecordedOutput

        output = RecordedOutput()

    started = started_run(run)
    spool: "Spool | None" = None
    if demands.record:
        from host.launch.spool import Spool

        spool = Spool(run, messages)
        spool.append(started)
        # Runs inside this one record its id as that of their outer run.
        environ = dict(replacement.env)
        environ[RUN] = with_id(environ[RUN], started.id)
        replacement = replacement.replaced(env=environ)

    locks = []
    if lock is not None:
        locks.append(lock)
    watched = WatchedRun(replacement, demands.seconds, output=output, kept=locks)
    try:
        ending = watched.run()
    except HostError as error:
        if spool:
            spool.append(ended_run(started, not_started(error.status), run))
        raise

    ending = _reported(ending, run, output, messages)
    ended = ended_run(started, ending, run)
    if spool:
        spool.append(ended)
        spool.empty_if_large(run)
    if demands.after:
        from host.launch.after_run import call_after_run

        call_after_run(demands.after, started, ended, messages)

    return watched.leave(ending)


def _start_with_lock(replacement: "Exec", lock: int | None) -> "NoReturn":
    """Replace this process with the command, which inherits the lock. Raises HostError."""
    from host.processes.process import execute

    if lock is not None:
        from host.launch.exclusive import inheritable

        inheritable(lock)
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
        if ending.status == 0:
            ending = ending.replaced(status=HostError.status)
    if ending.timed_out:
        limit = run.supervision.timeout
        messages.error(f"{called}: ended by its time limit of {limit}")
    return ending
