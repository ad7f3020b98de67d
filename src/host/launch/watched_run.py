"""Run a command below a parent that waits, for runs that are recorded or limited in time.

Everywhere else a run *becomes* its command. Here, a fork becomes the command, and this process
waits for it. The command must not notice the difference, so it stays in the caller's process group
and session, and the parent never takes the terminal. The rules, with the case behind each:

- The parent blocks all signals and waits for them. A signal from the kernel, such as Ctrl-C, went
  to the whole process group, so the command has it, too; the parent forwards only the others.
- If the command stops (Ctrl-Z), the parent stops itself in the same way, so that the shell shows a
  stopped job. When it continues, the command does, too.
- The parent ends as the command did: with its exit status, or by its signal.
- At the time limit, the command gets SIGTERM, and then SIGKILL, with all that it has started, as
  far as the chain of parents shows it. If the parent is killed, the command goes on.
"""

import _signal  # not `signal`, which would import `enum`
import posix
import time

from host.launch.next_signal import next_signal
from host.processes.process import (
    Exec,
    close_all_but,
    exec_now,
    send_signal,
    start_error,
)
from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import NoReturn

# the exit status of a run that its time limit ended, as GNU timeout has it
TIMED_OUT = 124
GRACE_SECONDS = 10.0  # between SIGTERM and SIGKILL at the time limit

_LONGEST_NUMBER = 16  # bytes of an error number

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
    """

    status: int
    signal: int
    timed_out: bool
    seconds: float


class WatchedRun:
    """A command that runs below this process: `start` it, `wait` for its end, and `leave` like it.

    limit   its time limit in seconds
    grace   the seconds between SIGTERM and SIGKILL at the time limit
    kept    descriptors that this process needs; it closes all others but stderr
    """

    def __init__(
        self,
        replacement: Exec,
        limit: "float | None" = None,
        *,
        grace: float = GRACE_SECONDS,
        kept: "Collection[int]" = (),
    ) -> None:
        self._replacement = replacement
        self._limit = limit
        self._grace = grace
        self._kept = kept
        self._command = 0
        self._began = 0.0

    def start(self) -> None:
        """Start the command. Raises the errors of `execute` if that is impossible."""
        callers_mask, ignores_child = _block_signals()
        # A successful exec closes this pipe without a word.
        failing, failure = posix.pipe()

        self._began = time.monotonic()
        self._command = posix.fork()
        if self._command == 0:
            _become(self._replacement, callers_mask, ignores_child, failure)

        posix.close(failure)
        reason = posix.read(failing, _LONGEST_NUMBER)
        posix.close(failing)
        if reason:
            posix.waitpid(self._command, 0)
            _signal.pthread_sigmask(_signal.SIG_SETMASK, callers_mask)
            number = int(reason)
            error = OSError(number, posix.strerror(number))
            raise start_error(self._replacement.path, error)

        _release_streams()
        close_all_but(self._kept)

    def has_ended(self) -> bool:
        """Return whether the command has ended already, where the system can tell."""
        if not hasattr(posix, "waitid"):  # macOS before Python 3.13
            return False
        options = posix.WEXITED | posix.WNOHANG | posix.WNOWAIT
        return posix.waitid(posix.P_PID, self._command, options) is not None

    def wait(self) -> CommandEnding:
        """Wait until the command has ended, and return how."""
        deadline = None
        if self._limit is not None:
            deadline = self._began + self._limit
        status = self._status(deadline)
        seconds = time.monotonic() - self._began

        if status is None:
            return CommandEnding(TIMED_OUT, 0, True, seconds)
        if posix.WIFSIGNALED(status):
            number = posix.WTERMSIG(status)
            return CommandEnding(128 + number, number, False, seconds)
        return CommandEnding(posix.WEXITSTATUS(status), 0, False, seconds)

    def _status(self, deadline: "float | None") -> "int | None":
        """Wait until the command ends; return its wait status, or None after the time limit."""
        command = self._command
        while True:
            # As process 1 of a container, this process also gets orphans, and reaps them.
            process, status = posix.waitpid(-1, posix.WNOHANG | posix.WUNTRACED)
            if process == command and not posix.WIFSTOPPED(status):
                return status
            if process == command:
                _stop_like(posix.WSTOPSIG(status))
                send_signal(command, _signal.SIGCONT)
            if process:
                continue  # others may have changed, too, or the same one again

            if deadline is not None and time.monotonic() >= deadline:
                # Imported here, because few runs reach their time limit.
                from host.processes.process_tree import end_tree

                end_tree(command, self._grace)
                return None

            number, has_reached_group = next_signal(deadline)
            if number and not has_reached_group:
                send_signal(command, number)

    def leave(self, ending: CommandEnding) -> int:
        """End this process as the command ended: return its status, or die of the same signal."""
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


def _become(
    replacement: Exec,
    callers_mask: "set[int]",
    ignores_child: bool,
    failure: int,
) -> "NoReturn":
    """Replace the forked process with the command; if that fails, write why to `failure`."""
    try:
        if ignores_child:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, callers_mask)
        exec_now(replacement)
    except OSError as error:
        posix.write(failure, str(error.errno).encode())
    finally:
        posix._exit(127)  # noqa: SLF001 - nothing of the parent may run in this process


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


def _stop_like(number: int) -> None:
    """Stop this process as its command was stopped; return when it continues.

    The same signal makes shells print the same line, such as "Stopped (tty input)".
    """
    if number not in _STOPS:
        number = _signal.SIGSTOP
    posix.kill(posix.getpid(), number)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [number])
    _signal.pthread_sigmask(_signal.SIG_BLOCK, [number])
