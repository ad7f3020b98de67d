"""A child process that is asked for a report: under a deadline, and gone afterwards."""

import _stat
import posix

from host.errors import SourceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, NoReturn

DEFAULT_TIMEOUT = 10.0  # seconds
TIMEOUT_VARIABLE = "CLI_SETTINGS_TIMEOUT"
END = b"\0\0"  # of a report

_HIGHEST = 1023  # the report's own descriptor at most: above those that a child may use
_SLICE = 50  # milliseconds between two looks at whether the child is still there


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


def report_of(start: "Callable[[Pipes, Iterable[int]], int]", timeout: float) -> bytes | None:
    """Return a child's report: None if time ran out, b"" if the child ends without one.

    `start(pipes, mask)` starts the child in a session of its own, with the signal mask `mask`,
    and returns its process id. END follows the report; the child's process group is ended then.
    Without END, everything that descends from the child is ended. The child's stderr is passed
    on.
    """
    import _signal

    pipes = Pipes()
    pid = 0
    ended = False
    passed_on: list[int] = []
    # A caller may ignore SIGCHLD; then nobody could wait for the child.
    disposition = _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    # Held back until `pid` is known: Ctrl-C must not leave the child behind.
    endings = [_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP]
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, endings)
    try:
        try:
            pid = start(pipes, mask)
            passed_on = _pass_on(endings, pid)
        finally:
            pipes.close_far_ends()
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
        output = _read_until_end(pipes, pid, timeout)
        if output is None:
            return None
        ended = output.endswith(END)
        return output.removesuffix(END) if ended else b""
    finally:
        if pid:
            _end(pid, tree=not ended)
        for number in passed_on:
            _signal.signal(number, _signal.SIG_DFL)
        pipes.close()
        _signal.signal(_signal.SIGCHLD, disposition)


def answer_of(question: "Callable[[], bytes]", timeout: float) -> bytes | None:
    """Return what `question` answers in a child forked from here, as `report_of` has it.

    An answer has no NUL. Whatever else the question does ends with the child: directory, umask,
    signals, output (which goes to stderr) and processes that it starts.
    """

    def start(pipes: Pipes, mask: "Iterable[int]") -> int:
        return posix.fork() or _answer(pipes, mask, question)

    return report_of(start, timeout)


def _answer(pipes: "Pipes", mask: "Iterable[int]", question: "Callable[[], bytes]") -> "NoReturn":
    """Be the child: end what the question started, answer, and exit."""
    import _signal
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
        if posix.getpid() == own:  # a fork in the question comes back here, too
            for one in _descendants(own)[1:]:
                _send(one, _signal.SIGKILL)
            while answer:
                answer = answer[posix.write(report, answer) :]
    finally:
        posix._exit(0)  # noqa: SLF001 - it is os._exit, which a question may have replaced


class Pipes:
    """What joins this program and a child: its report, and a stderr to pass on.

    A terminal or a file is the child's stderr itself. A pipe is not: whatever the child
    leaves running would hold it, and its reader would wait for that.
    """

    __slots__ = ("far", "messages", "output", "output_number")

    def __init__(self) -> None:
        self.output, report = posix.pipe()
        self.far = [report]
        self.messages = -1
        if _is_pipe(2):
            self.messages, messages = posix.pipe()
            self.far.append(messages)
        allowed = posix.sysconf("SC_OPEN_MAX")  # the highest that is allowed, within reason
        self.output_number = min(allowed - 1, _HIGHEST) if allowed > 0 else _HIGHEST

    def actions(self) -> "list[Any]":
        """Return what posix_spawn is to do with the child's descriptors."""
        report, *messages = self.far
        found: list[Any] = [
            (posix.POSIX_SPAWN_CLOSE, number) for number in _open_descriptors() if number > 2
        ]
        found += [
            (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
            (posix.POSIX_SPAWN_DUP2, report, self.output_number),
        ]
        try:
            posix.write(2, b"")
        except OSError:  # stderr is closed
            return [*found, (posix.POSIX_SPAWN_OPEN, 1, "/dev/null", posix.O_WRONLY, 0)]
        found += [(posix.POSIX_SPAWN_DUP2, number, 2) for number in messages]
        return [*found, (posix.POSIX_SPAWN_DUP2, 2, 1)]

    def enter(self) -> int:
        """Give a forked child its descriptors, in the child; return that of the report."""
        report, *messages = self.far
        for number in _open_descriptors():
            if number > 2:
                posix.close(number)
        posix.dup2(posix.open("/dev/null", posix.O_RDONLY), 0)
        for number in messages:
            posix.dup2(number, 2)
        posix.dup2(2, 1)
        return posix.dup2(report, self.output_number, inheritable=False)

    def close_far_ends(self) -> None:
        while self.far:
            posix.close(self.far.pop())

    def pass_on(self) -> None:
        """Write what the child has said meanwhile to stderr."""
        while self.messages >= 0 and _is_ready(self.messages):
            said = posix.read(self.messages, 1 << 16)
            if not said:
                posix.close(self.messages)
                self.messages = -1
            try:
                while said:
                    said = said[posix.write(2, said) :]
            except OSError:
                pass  # nobody reads it any more

    def close(self) -> None:
        try:
            self.pass_on()
        finally:
            posix.close(self.output)
            if self.messages >= 0:
                posix.close(self.messages)


def _is_pipe(descriptor: int) -> bool:
    try:
        mode = posix.fstat(descriptor).st_mode
    except OSError:
        return False
    return _stat.S_ISFIFO(mode) or _stat.S_ISSOCK(mode)


def _is_ready(descriptor: int) -> bool:
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _open_descriptors() -> list[int]:
    """Return the descriptors that a program would inherit."""
    found = []
    for number in map(int, posix.listdir("/dev/fd")):
        try:
            if posix.get_inheritable(number):
                found.append(number)
        except OSError:
            pass  # the one that the list itself was read through
    return found


def _pass_on(numbers: "Iterable[int]", pid: int) -> list[int]:
    """Let signals that end this process end the process group `pid` first; return which do."""
    import _signal

    def end(number: int, _: object) -> None:
        try:
            _end(pid, tree=True)
        finally:
            _signal.signal(number, _signal.SIG_DFL)
            posix.kill(posix.getpid(), number)

    changed = [one for one in numbers if _signal.getsignal(one) == _signal.SIG_DFL]
    for number in changed:
        _signal.signal(number, end)
    return changed


def _read_until_end(pipes: Pipes, pid: int, timeout: float) -> bytes | None:
    import select
    import time

    deadline = time.monotonic() + timeout
    output = bytearray()
    while not output.endswith(END):
        poll = select.poll()
        for number in (pipes.output, pipes.messages):
            if number >= 0:
                poll.register(number, select.POLLIN)
        ready = [number for number, _ in poll.poll(_SLICE)]
        pipes.pass_on()
        if pipes.output in ready:
            chunk = posix.read(pipes.output, 1 << 16)
            if not chunk:
                break
            output += chunk
        elif time.monotonic() > deadline:
            return None
        elif not ready and _is_over(pid) and not _is_ready(pipes.output):
            break  # a background job still holds the pipe
    return bytes(output)


def _is_over(pid: int) -> bool:
    return posix.waitid(posix.P_PID, pid, posix.WEXITED | posix.WNOHANG | posix.WNOWAIT) is not None


def _end(pid: int, *, tree: bool) -> None:
    """Kill the process group `pid`, and with `tree` what descends from it in other groups."""
    import _signal

    found: set[int] = set()
    while tree and (inner := set(_descendants(pid)) - found):
        for one in inner:  # what is stopped starts no more
            _send(one, _signal.SIGSTOP)
        for one in inner:
            _wait_until_stopped(one)
        found |= inner
    try:
        posix.killpg(pid, _signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    _send(pid, _signal.SIGKILL)  # it may have no group of its own yet
    posix.waitpid(pid, 0)
    for one in found - {pid}:
        _send(one, _signal.SIGKILL)


def _descendants(pid: int) -> list[int]:
    """Return `pid` and what it started, and so on, where the system lists it (Linux)."""
    found = [pid]
    for one in found:
        try:
            with open(f"/proc/{one}/task/{one}/children", "rb") as file:
                found += map(int, file.read().split())
        except OSError:
            pass
    return found


def _wait_until_stopped(pid: int) -> None:
    """Wait, a tenth of a second at most, until a signal has stopped or ended `pid`."""
    import time

    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                state = file.read().rpartition(b")")[2].split()[0]
        except OSError:
            return
        if state in b"TtZX":
            return
        time.sleep(0.001)


def _send(pid: int, signal: int) -> None:
    try:
        posix.kill(pid, signal)
    except (ProcessLookupError, PermissionError):
        pass
