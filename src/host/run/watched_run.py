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
from host.run.process import Exec, close_all_but, exec_now, send_signal, start_error
from host.run.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import NoReturn

    from host.run.recorded_output import RecordedOutput

# the exit status of a run that its time limit ended, as GNU timeout has it
TIMED_OUT = 124

_WATCHER_NAME = "cli-host-watch"  # at most 15 characters
_IS_TOLD_WHY = hasattr(_signal, "sigwaitinfo")  # macOS lacks it
_OF_ONE_SESSION = (
    frozenset(  # for a command with a session of its own, they mean nothing
        [
            _signal.SIGTSTP,
            _signal.SIGTTIN,
            _signal.SIGTTOU,
            _signal.SIGCONT,
            _signal.SIGWINCH,
        ]
    )
)
_OF_A_TERMINAL = _OF_ONE_SESSION | {_signal.SIGINT, _signal.SIGQUIT}
_STOPS = frozenset(
    [_signal.SIGTSTP, _signal.SIGTTIN, _signal.SIGTTOU]
)  # may be caught; SIGSTOP not
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
        self._watcher: Watcher | None = None

    def run(self) -> CommandEnding:
        """Run the command to its end, and return how it ended.

        Raises the errors of `execute` if the command cannot be started.
        """
        output = self._output
        is_deaf = _signal.getsignal(_signal.SIGCHLD) == _signal.SIG_IGN
        # If SIGCHLD were ignored, the kernel would reap the command without its status, and some
        # systems drop a signal without a handler even while it is blocked.
        _signal.signal(_signal.SIGCHLD, lambda *_: None)
        callers_mask = _signal.pthread_sigmask(
            _signal.SIG_BLOCK, _signal.valid_signals()
        )
        if self._limit is not None:
            from host.run.process_tree import (
                become_subreaper,
            )  # other runs do not need it

            become_subreaper()
        began = time.monotonic()
        command = _Command(self._replacement, callers_mask, is_deaf, output)
        watcher = Watcher(command.process)
        self._watcher = watcher
        written = b""
        try:
            command.begin(self._replacement.path)
            if output is None:
                _let_go_of_streams()
                close_all_but({*self._kept, *watcher.descriptors})
            else:
                output.start()
                close_all_but({*self._kept, *watcher.descriptors, *output.descriptors})
            deadline = None if self._limit is None else began + self._limit
            status, timed_out = _wait(command.process, deadline, watcher, output)
        except HostError:
            watcher.reap()
            _signal.pthread_sigmask(_signal.SIG_SETMASK, callers_mask)
            raise
        finally:
            watcher.dismiss()
            if output is not None:
                written = output.finish()
        seconds = time.monotonic() - began
        if timed_out:
            return CommandEnding(TIMED_OUT, 0, True, seconds, written)
        if posix.WIFSIGNALED(status):
            number = posix.WTERMSIG(status)
            return CommandEnding(128 + number, number, False, seconds, written)
        return CommandEnding(posix.WEXITSTATUS(status), 0, False, seconds, written)

    def leave(self, ending: CommandEnding) -> int:
        """End this process as the command ended: return its status, or die of the same signal.

        The command may have written a core file; a second one of this process would hide it.
        """
        if self._watcher is not None:
            self._watcher.reap()
        if not ending.signal:
            return ending.status
        if ending.signal in _DUMPS:
            import resource

            _, hard = resource.getrlimit(resource.RLIMIT_CORE)
            resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
        if ending.signal != _signal.SIGKILL:
            _signal.signal(ending.signal, _signal.SIG_DFL)
        posix.kill(posix.getpid(), ending.signal)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [ending.signal])
        return (
            ending.status
        )  # if the signal does not kill, such as for process 1 of a container


class _Command:
    """A fork that becomes the command when `begin` is called.

    It waits for that, so that the command never runs without its watcher.
    """

    def __init__(
        self,
        replacement: Exec,
        callers_mask: "set[int]",
        is_deaf: bool,
        output: "RecordedOutput | None",
    ) -> None:
        waiting, self._gate = posix.pipe()
        self._status, status = (
            posix.pipe()
        )  # a successful exec closes it without a word
        self.process = posix.fork()
        if self.process == 0:
            posix.close(self._gate)
            if posix.read(waiting, 1):  # nothing if the parent was killed
                _become(replacement, callers_mask, is_deaf, output, status)
            posix._exit(127)  # noqa: SLF001 - nothing of the parent may run in this process
        posix.close(waiting)
        posix.close(status)

    def begin(self, path: str) -> None:
        """Let the fork become the command. Raises the errors of `execute`."""
        posix.write(self._gate, b"1")
        posix.close(self._gate)
        reason = posix.read(self._status, 16)
        posix.close(self._status)
        if reason:
            posix.waitpid(self.process, 0)
            number = int(reason)
            raise start_error(path, OSError(number, posix.strerror(number)))


def _become(
    replacement: Exec,
    callers_mask: "set[int]",
    is_deaf: bool,
    output: "RecordedOutput | None",
    status: int,
) -> None:
    """Replace the forked process with the command; if that fails, write why to `status`."""
    try:
        if output is not None:
            output.become_streams()
        if is_deaf:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, callers_mask)
        exec_now(replacement)
    except OSError as failure:
        posix.write(status, str(failure.errno).encode())
    finally:
        posix._exit(127)  # noqa: SLF001 - nothing of the parent may run in this process


def _let_go_of_streams() -> None:
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
    watcher: "Watcher",
    output: "RecordedOutput | None",
) -> "tuple[int, bool]":
    """Wait until the command ends; return its wait status, and whether the time limit ended it."""
    is_apart = output is not None and output.has_terminal
    while True:
        ended, stopped = _reap(command)
        if ended is not None:
            return ended, False
        if stopped and not is_apart:
            _stop_like(stopped)
            send_signal(command, _signal.SIGCONT)
            continue  # it may have changed again while this process was stopped
        if deadline is not None and time.monotonic() >= deadline:
            return _end_in_time(command, watcher), True
        number, is_of_kernel = _next_signal(deadline)
        if output is not None and number == _signal.SIGWINCH:
            output.resize()
        elif number and (
            not is_of_kernel or (is_apart and number not in _OF_ONE_SESSION)
        ):
            send_signal(command, number)


def _next_signal(deadline: "float | None") -> "tuple[int, bool]":
    """Wait for a signal; return its number, and whether the whole process group got it.

    The number is 0 if the deadline has passed, or if it is only a change of a child process.
    What the kernel sends (`si_code` above 0), it sends to the whole process group. What a process
    sends with `kill` reached only this process. macOS does not report the difference; there, the
    signals that a terminal sends are taken for the kernel's.
    """
    every = _signal.valid_signals()
    if not _IS_TOLD_WHY:
        if deadline is not None:
            _signal.signal(_signal.SIGALRM, lambda *_: None)
            _signal.setitimer(
                _signal.ITIMER_REAL, max(deadline - time.monotonic(), 0.001)
            )
        number = _signal.sigwait(every)
        is_ours = number in (_signal.SIGCHLD, _signal.SIGALRM)
        return 0 if is_ours else number, number in _OF_A_TERMINAL
    if deadline is None:
        received = _signal.sigwaitinfo(every)
    else:
        received = _signal.sigtimedwait(every, max(deadline - time.monotonic(), 0))
    if received is None or received.si_signo == _signal.SIGCHLD:
        return 0, False
    return received.si_signo, received.si_code > 0


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


def _end_in_time(command: int, watcher: "Watcher") -> int:
    """End the command and everything that it started; return the command's wait status."""
    from host.run.process_tree import descendants, end_all

    ended = 0

    def running() -> "list[int]":
        nonlocal ended
        status, _ = _reap(command)
        if status is not None:
            ended = status
        return [
            process
            for process in descendants(posix.getpid())
            if process != watcher.process
        ]

    end_all(running)
    return ended


class Watcher:
    """A process that ends the command if this process is killed; it runs until `dismiss`.

    It reads a pipe that only this process can write to. The kernel closes the pipe when this
    process ends, however that happens. The watcher keeps no descriptor, and no terminal: it does
    not hold a pipeline open, and is not part of the job.
    """

    def __init__(self, command: int) -> None:
        self.process = 0
        self._writing = -1
        try:
            descriptor = posix.pidfd_open(
                command
            )  # still means this process if its id is reused
        except (AttributeError, OSError):
            return  # not Linux, or a Linux before 5.3
        reading, self._writing = posix.pipe()
        self.process = posix.fork()
        if self.process == 0:
            self._watch(command, descriptor, reading)
        posix.close(reading)
        posix.close(descriptor)

    @property
    def descriptors(self) -> "tuple[int, ...]":
        """The descriptors that this process must keep open."""
        return (self._writing,) if self.process else ()

    def dismiss(self) -> None:
        """Let the watcher end, because the command has ended."""
        if self.process:
            send_signal(self.process, _signal.SIGKILL)

    def reap(self) -> None:
        """End the watcher, and wait until it has ended.

        Otherwise, it would stay as a zombie if nobody reaps orphans, as in many containers.
        """
        if not self.process:
            return
        self.dismiss()
        try:
            posix.waitpid(self.process, 0)
        except ChildProcessError:
            pass  # somebody killed it, and it is reaped already
        self.process = 0

    @staticmethod
    def _watch(command: int, descriptor: int, reading: int) -> "NoReturn":
        try:
            # Imported at once: the program may be updated before the import is needed.
            from host.run.process_tree import end_all, freeze

            posix.setsid()
            _rename_process(_WATCHER_NAME)
            posix.dup2(reading, 0)
            posix.dup2(descriptor, 1)
            posix.close(2)
            close_all_but(())
            posix.read(0, 1)  # ends when the parent does, because nobody ever writes
            _signal.pidfd_send_signal(1, 0)  # fails if it has ended
            started = freeze(command)
            end_all(lambda: [process for process in started if _is_running(process)])
        finally:
            posix._exit(0)  # noqa: SLF001 - nothing of the parent may run in this process


def _rename_process(name: str) -> None:
    """Give this process another name, so that `killall acme` does not end the watcher, too."""
    try:
        with open("/proc/self/comm", "wb") as file:
            file.write(name.encode())
    except OSError:
        pass  # /proc is not mounted


def _is_running(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return False
