"""A child process that reports to this one, within a time limit, and ends with its session.

The child has a session of its own. END follows its report. Then, or if the time is up, its
process group is ended; a job in another process group may outlive it (CONTRACT 14). Its stdout
goes to stderr, its stdin is empty, and no other descriptor of the caller is open in it.
"""

import _signal  # `signal` costs a module of enums
import _stat
import posix

from host.errors import SourceError
from host.run.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, NoReturn

DEFAULT_TIMEOUT = 10.0  # seconds
TIMEOUT_VARIABLE = "CLI_SETTINGS_TIMEOUT"
END = b"\0\0"  # of a report

_HIGHEST = 1023  # the report's own descriptor at most: above those that a child may use
_INTERVAL = 50  # milliseconds between two checks whether the child is still running
_GRACE = 0.5  # seconds between SIGTERM and SIGKILL
_ENDINGS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


def time_limit(environ: "Mapping[str, str]") -> float:
    """Return how many seconds a source of variables may take; raises SourceError."""
    text = environ.get(TIMEOUT_VARIABLE)
    if not text:
        return DEFAULT_TIMEOUT
    from host.run.argument_spec import is_number

    seconds = float(text) if is_number(text) else 0.0
    if not 0 < seconds < float("inf"):
        raise SourceError(f"{TIMEOUT_VARIABLE}: expected a number of seconds above 0")
    return seconds


def report_descriptor() -> int:
    """Return the number of the descriptor to which a spawned child writes its report."""
    allowed = posix.sysconf("SC_OPEN_MAX")
    return min(allowed - 1, _HIGHEST) if allowed > 0 else _HIGHEST


def spawn_and_read(
    argv: "Sequence[str]", environ: "Mapping[str, str]", timeout: float
) -> bytes | None:
    """Return the report of a program: None if time ran out, b"" if it ends without one.

    The program writes to `report_descriptor()`. Raises OSError if it cannot start.
    """

    def start(pipes: _Pipes, mask: "Iterable[int]") -> int:
        return posix.posix_spawn(
            argv[0],
            [encode(word) for word in argv],
            {encode(name): encode(value) for name, value in environ.items()},
            file_actions=pipes.actions(),
            setsid=True,  # also a process group of its own, which no terminal can stop
            setsigmask=mask,
            setsigdef=[_signal.SIGPIPE, _signal.SIGXFSZ],
        )

    return _read(start, timeout)


def fork_and_read(question: "Callable[[], bytes]", timeout: float) -> bytes | None:
    """Return what `question` answers in a child forked from here, as `spawn_and_read` does.

    An answer has no NUL. The directory, umask and signals that the question changes are the
    child's own.
    """

    def start(pipes: _Pipes, mask: "Iterable[int]") -> int:
        return posix.fork() or _answer(pipes, mask, question)

    return _read(start, timeout)


def _answer(pipes: "_Pipes", mask: "Iterable[int]", question: "Callable[[], bytes]") -> "NoReturn":
    """Answer in the forked child, and exit."""
    import sys

    own = posix.getpid()
    try:
        posix.setsid()
        report = pipes.enter()
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
        answer = question() + END
        try:
            sys.stdout.flush()
        except (OSError, ValueError, AttributeError):
            pass  # there is none, or the question has closed it
        while answer and posix.getpid() == own:  # a process that the question forked comes here too
            answer = answer[posix.write(report, answer) :]
    finally:
        posix._exit(0)  # noqa: SLF001 - it is os._exit, which a question may have replaced


def _read(start: "Callable[[_Pipes, Iterable[int]], int]", timeout: float) -> bytes | None:
    """Return the report of the child that `start` starts with a signal mask."""
    pipes = _Pipes()
    pid = 0
    report: bytes | None = None
    handled: list[int] = []
    # If the caller ignores SIGCHLD, nobody can wait for a child.
    disposition = _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    # Blocked until `pid` is known, so that Ctrl-C cannot leave the child behind.
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, _ENDINGS)
    try:
        try:
            pid = start(pipes, mask)
            handled = _end_with_this_process(pid)
        finally:
            pipes.close_child_ends()
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
        report = _read_until_end(pipes, pid, timeout)
    finally:
        if pid:
            _end(pid, gently=not (report and report.endswith(END)))
        for number in handled:
            _signal.signal(number, _signal.SIG_DFL)
        pipes.close()
        _signal.signal(_signal.SIGCHLD, disposition)
    if report is None:
        return None
    return report.removesuffix(END) if report.endswith(END) else b""


def _read_until_end(pipes: "_Pipes", pid: int, timeout: float) -> bytes | None:
    import time

    deadline = time.monotonic() + timeout
    report = bytearray()
    while not report.endswith(END):
        ready = _ready([pipes.report, pipes.messages], _INTERVAL)
        pipes.pass_on()
        if pipes.report in ready:
            chunk = posix.read(pipes.report, 1 << 16)
            if not chunk:
                break
            report += chunk
        elif time.monotonic() > deadline:
            return None
        elif not ready and _has_ended(pid) and not _ready([pipes.report]):
            break  # a background job still holds the pipe
    return bytes(report)


class _Pipes:
    """What joins this process and a child: the report, and `messages` if stderr is a pipe.

    A terminal or a file is the child's stderr itself. A job that outlives the child would keep a
    pipe open, and its reader would wait for that job.
    """

    __slots__ = ("child_ends", "messages", "report")

    def __init__(self) -> None:
        self.report, end = posix.pipe()
        self.child_ends = [end]
        self.messages = -1
        if _is_pipe(2):
            self.messages, end = posix.pipe()
            self.child_ends.append(end)

    def actions(self) -> "list[Any]":
        """Return what posix_spawn does with the child's descriptors."""
        report, *messages = self.child_ends
        stdout: tuple[Any, ...] = (posix.POSIX_SPAWN_DUP2, 2, 1)
        if not _is_open(2):
            stdout = (posix.POSIX_SPAWN_OPEN, 1, "/dev/null", posix.O_WRONLY, 0)
        return [
            *((posix.POSIX_SPAWN_CLOSE, number) for number in _inherited_descriptors()),
            (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
            (posix.POSIX_SPAWN_DUP2, report, report_descriptor()),
            *((posix.POSIX_SPAWN_DUP2, number, 2) for number in messages),
            stdout,
        ]

    def enter(self) -> int:
        """Set up the descriptors in a forked child; return that of the report."""
        report, *messages = self.child_ends
        for number in _inherited_descriptors():
            posix.close(number)
        posix.dup2(posix.open("/dev/null", posix.O_RDONLY), 0)
        for number in messages:
            posix.dup2(number, 2)
        posix.dup2(2, 1)
        return posix.dup2(report, report_descriptor(), inheritable=False)

    def close_child_ends(self) -> None:
        while self.child_ends:
            posix.close(self.child_ends.pop())

    def pass_on(self) -> None:
        """Write to stderr what the child has written there meanwhile."""
        while self.messages >= 0 and _ready([self.messages]):
            text = posix.read(self.messages, 1 << 16)
            if not text:
                posix.close(self.messages)
                self.messages = -1
            try:
                while text:
                    text = text[posix.write(2, text) :]
            except OSError:
                pass  # nobody reads it any more

    def close(self) -> None:
        try:
            self.pass_on()
        finally:
            posix.close(self.report)
            if self.messages >= 0:
                posix.close(self.messages)


def _is_pipe(descriptor: int) -> bool:
    if not _is_open(descriptor):
        return False
    mode = posix.fstat(descriptor).st_mode
    return _stat.S_ISFIFO(mode) or _stat.S_ISSOCK(mode)


def _is_open(descriptor: int) -> bool:
    """Return whether a descriptor can be written to."""
    try:
        posix.write(descriptor, b"")
    except OSError:
        return False
    return True


def _ready(descriptors: "Iterable[int]", milliseconds: int = 0) -> list[int]:
    """Return which of the descriptors can be read within that time; a negative one is none."""
    import select

    poll = select.poll()
    for number in descriptors:
        if number >= 0:
            poll.register(number, select.POLLIN)
    return [number for number, _ in poll.poll(milliseconds)]


def _inherited_descriptors() -> list[int]:
    """Return the descriptors above 2 that a child inherits."""
    found = []
    for number in map(int, posix.listdir("/dev/fd")):
        try:
            if number > 2 and posix.get_inheritable(number):
                found.append(number)
        except OSError:
            pass  # the one through which the directory was listed
    return found


def _end_with_this_process(pid: int) -> list[int]:
    """Make signals that end this process kill the group `pid` first; return these signals."""

    def end(number: int, _: object) -> None:
        try:
            _end(pid, gently=True)
        finally:
            _signal.signal(number, _signal.SIG_DFL)
            posix.kill(posix.getpid(), number)

    changed = [one for one in _ENDINGS if _signal.getsignal(one) == _signal.SIG_DFL]
    for number in changed:
        _signal.signal(number, end)
    return changed


def _has_ended(pid: int) -> bool:
    return posix.waitid(posix.P_PID, pid, posix.WEXITED | posix.WNOHANG | posix.WNOWAIT) is not None


def _end(pid: int, *, gently: bool) -> None:
    """End the child `pid` with its process group, and wait for it.

    With `gently` SIGTERM comes first: a run of this program in the group then ends its own child,
    whose session is another one. Otherwise a settings.conf that calls this program would never end.
    """
    ended = False
    if gently:
        import time

        deadline = time.monotonic() + _GRACE
        left = _signal_group(pid, _signal.SIGTERM)
        while left and time.monotonic() < deadline:
            time.sleep(_GRACE / 50)
            ended = ended or posix.waitpid(pid, posix.WNOHANG)[0] == pid
            left = not ended or _signal_group(pid, 0)
    _signal_group(pid, _signal.SIGKILL)
    if not ended:
        posix.kill(pid, _signal.SIGKILL)  # a forked child may not have its group yet
        posix.waitpid(pid, 0)


def _signal_group(pid: int, signal: int) -> bool:
    """Send a signal to the process group `pid`; return whether there is one."""
    try:
        posix.killpg(pid, signal)
    except (ProcessLookupError, PermissionError):
        return False
    return True
