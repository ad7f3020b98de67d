"""Run a command below a parent that only watches, for runs that are recorded or limited in time.

Everywhere else a run *becomes* its command. Here, a fork becomes the command, and this process
waits for it. The command must not notice the difference, so it stays in the caller's process group
and session, and the parent never takes the terminal. The rules, with the case behind each:

- The parent blocks all signals and waits for them. A signal from the kernel, such as Ctrl-C, went
  to the whole process group, so the command has it, too; the parent forwards only the others.
- If the command stops (Ctrl-Z), the parent stops itself in the same way, so that the shell shows a
  stopped job. When it continues, the command does, too.
- The parent ends as the command did: with its exit status, or by its signal.
- If the parent is killed, a watcher notices it and ends the command (Linux).
"""

import _signal  # not `signal`, which would import `enum`
import posix
import time

from host.errors import HostError
from host.launch.forked_command import ForkedCommand
from host.launch.next_signal import OF_ONE_SESSION, next_signal
from host.launch.parent_watcher import ParentWatcher
from host.processes.process import Exec, close_all_but, send_signal
from host.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from host.launch.recorded_output import RecordedOutput

# the exit status of a run that its time limit ended, as GNU timeout has it
TIMED_OUT = 124

# The stops that a process may catch; SIGSTOP is not one of them.
_STOPS = frozenset([_signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU])

_DUMPS = frozenset(
    getattr(_signal, name)
    for name in [
        "SIGQUIT",
        "SIGILL",
        "SIGTRAP",
        "SIGABRT",
        "SIGBUS",
        "SIGFPE",
        "SIGSEGV",
        "SIGXCPU",
        "SIGXFSZ",
        "SIGSYS",
    ]
    if hasattr(_signal, name)
)


class CommandEnding(Record):
    """How a watched run ended.

    status      its exit status; 128 + n if signal n killed it; 124 after the time limit
    signal      the number of the signal that killed it, or 0
    timed_out   whether its time limit ended it
    seconds     how long it ran
    output      the last bytes of its output, if that is recorded
    """

    status: int
    signal: int
    timed_out: bool
    seconds: float
    output: bytes


class WatchedRun:
    """A command that runs below this process: `run` waits for its end, and `leave` ends like it.

    limit   its time limit in seconds; after it, the command and everything that it started are
            ended
    output  the command writes to its streams, and the end of its output is kept
    kept    descriptors that this process needs; it closes all others but stderr
    """

    def __init__(
        self,
        replacement: Exec,
        limit: "float | None" = None,
        *,
        output: "RecordedOutput | None" = None,
        kept: "Collection[int]" = (),
    ) -> None:
        self._replacement = replacement
        self._limit = limit
        self._output = output
        self._kept = kept
        self._watcher: ParentWatcher | None = None

    def run(self) -> CommandEnding:
        """Run the command to its end, and return how it ended.

        Raises the errors of `execute` if the command cannot be started.
        """
        callers_mask, ignores_child = _block_signals()
        if self._limit is not None:
            # Imported here, because only a time limit ends what the command has started.
            from host.processes.process_tree import become_subreaper

            become_subreaper()

        began = time.monotonic()
        deadline = None
        if self._limit is not None:
            deadline = began + self._limit

        output = self._output
        command = ForkedCommand(self._replacement, callers_mask, ignores_child, output)
        watcher = ParentWatcher(command.process)
        self._watcher = watcher
        written = b""
        try:
            command.begin()
            self._release_descriptors(watcher)
            status = _wait(command.process, deadline, watcher, output)
        except HostError:
            watcher.reap()
            _signal.pthread_sigmask(_signal.SIG_SETMASK, callers_mask)
            raise
        finally:
            watcher.dismiss()
            if output is not None:
                written = output.finish()

        seconds = time.monotonic() - began
        if status is None:
            return CommandEnding(TIMED_OUT, 0, True, seconds, written)
        if posix.WIFSIGNALED(status):
            number = posix.WTERMSIG(status)
            return CommandEnding(128 + number, number, False, seconds, written)
        return CommandEnding(posix.WEXITSTATUS(status), 0, False, seconds, written)

    def leave(self, ending: CommandEnding) -> int:
        """End this process as the command ended: return its status, or die of the same signal."""
        if self._watcher is not None:
            self._watcher.reap()
        if not ending.signal:
            return ending.status

        if ending.signal in _DUMPS:
            # The command may have written a core file; a second one would hide it.
            import resource

            _, hard = resource.getrlimit(resource.RLIMIT_CORE)
            resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
        if ending.signal != _signal.SIGKILL:
            _signal.signal(ending.signal, _signal.SIG_DFL)
        posix.kill(posix.getpid(), ending.signal)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [ending.signal])

        # The signal did not kill: this is process 1 of a container, for example.
        return ending.status

    def _release_descriptors(self, watcher: ParentWatcher) -> None:
        """Close what only the command needs, and begin to copy its output."""
        needed = {*self._kept, *watcher.descriptors}
        if self._output is None:
            _release_streams()
        else:
            self._output.start()
            needed |= self._output.descriptors
        close_all_but(needed)


def _block_signals() -> "tuple[set[int], bool]":
    """Block all signals; return what was blocked before, and whether SIGCHLD was ignored.

    If SIGCHLD stayed ignored, the kernel would reap the command without its status, and some
    systems drop a signal without a handler even while it is blocked.
    """
    callers_handler = _signal.getsignal(_signal.SIGCHLD)
    ignores_child = callers_handler == _signal.SIG_IGN
    _signal.signal(_signal.SIGCHLD, lambda *_: None)

    every = _signal.valid_signals()
    callers_mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, every)
    return callers_mask, ignores_child


def _release_streams() -> None:
    """Close this process's copies of the command's stdin and stdout.

    Somebody who reads from a pipe waits until all its writers have closed it. So if the command
    closes its stdout, this process must not hold it open. stderr stays, for this process's
    messages.
    """
    null = posix.open("/dev/null", posix.O_RDWR)
    posix.dup2(null, 0)
    posix.dup2(null, 1)
    posix.close(null)


def _wait(
    command: int,
    deadline: "float | None",
    watcher: ParentWatcher,
    output: "RecordedOutput | None",
) -> "int | None":
    """Wait until the command ends; return its wait status, or None if the time limit ended it."""
    # A command with a terminal of its own is no part of the shell's job.
    is_apart = output is not None and output.has_terminal
    while True:
        ended, stopped = _reap(command)
        if ended is not None:
            return ended

        if stopped and not is_apart:
            _stop_like(stopped)
            send_signal(command, _signal.SIGCONT)
            continue  # it may have changed again while this process was stopped

        if deadline is not None and time.monotonic() >= deadline:
            _end_in_time(command, watcher)
            return None

        number, has_reached_group = next_signal(deadline)
        if number == 0:
            continue
        if output is not None and number == _signal.SIGWINCH:
            output.resize()
        elif not has_reached_group or _must_pass_on(number, is_apart):
            send_signal(command, number)


def _must_pass_on(number: int, is_apart: bool) -> bool:
    """Return whether the command needs a signal that the process group of this process got."""
    if not is_apart:
        return False
    # The command is in a group of its own, which the signal has not reached.
    return number not in OF_ONE_SESSION


def _reap(command: int) -> "tuple[int | None, int]":
    """Collect all changes of child processes.

    Returns the command's wait status, or None if it has not ended, and the signal that stopped it,
    or 0. Orphans below a subreaper become children, too, and are reaped here.
    """
    stopped = 0
    while True:
        try:
            process, status = posix.waitpid(-1, posix.WNOHANG | posix.WUNTRACED)
        except ChildProcessError:
            return None, stopped
        if process == 0:
            return None, stopped
        if process != command:
            continue

        if not posix.WIFSTOPPED(status):
            return status, 0
        stopped = posix.WSTOPSIG(status)


def _stop_like(number: int) -> None:
    """Stop this process as its command was stopped; return when it continues.

    The same signal makes shells print the same line, such as "Stopped (tty input)".
    """
    if number not in _STOPS:
        number = _signal.SIGSTOP
    posix.kill(posix.getpid(), number)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [number])
    _signal.pthread_sigmask(_signal.SIG_BLOCK, [number])


def _end_in_time(command: int, watcher: ParentWatcher) -> None:
    """End the command and everything that it started."""
    from host.processes.process_tree import descendants, end_all

    def running() -> "list[int]":
        # Orphans are this process's children; another process may wait until they have vanished.
        _reap(command)
        below = descendants(posix.getpid())
        return [process for process in below if process != watcher.process]

    end_all(running)
