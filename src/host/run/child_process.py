"""Run a child process in its own session and read its report, within a time limit.

The marker END ends the report. Then, or after the time limit, the child's process group is killed;
jobs in other groups may survive. The child's stdout goes to stderr, and its stdin is empty.
"""

import _signal  # not `signal`, which would import `enum`
import posix

from host.errors import HostError, SourceError
from host.run.text import encode, is_digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

SETTINGS_SECONDS = 10.0
SETTINGS_TIMEOUT = "CLI_SETTINGS_TIMEOUT"
_LONGEST = 1_000_000.0  # seconds; poll accepts no more than 24 days
END = b"\0\0"
REPORT_DESCRIPTOR = 250  # above the descriptors that scripts use, and below usual limits

_GRACE_SECONDS = 0.2  # the time between SIGTERM and SIGKILL
_ENDINGS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


def limit_from(
    environ: "Mapping[str, str]", variable: str = SETTINGS_TIMEOUT, usual: float = SETTINGS_SECONDS
) -> float:
    """Return the time limit in seconds that `variable` sets, by default `usual`.

    Raises SourceError if the variable is not a number above 0.
    """
    text = environ.get(variable)
    if not text:
        return usual
    seconds = float(text) if is_digits(text.replace(".", "", 1)) else 0.0
    if not seconds:
        raise SourceError(f"{variable}: expected a number of seconds above 0")
    return min(seconds, _LONGEST)


def spawn_and_read(argv: "Sequence[str]", environ: "Mapping[str, str]", timeout: float) -> bytes:
    """Start a program and return its report, or b"" if it ends without one.

    The program writes to REPORT_DESCRIPTOR. Raises TimeoutError, and OSError if the program
    cannot start.
    """

    def start(report: int) -> int:
        return posix.posix_spawn(
            argv[0],
            [encode(word) for word in argv],
            {encode(name): encode(value) for name, value in environ.items()},
            file_actions=[
                (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
                (posix.POSIX_SPAWN_DUP2, report, REPORT_DESCRIPTOR),
                (posix.POSIX_SPAWN_DUP2, 2, 1),
            ],
            setsid=True,  # a new session has its own process group and no terminal
            setsigdef=[_signal.SIGPIPE, _signal.SIGXFSZ, _signal.SIGCHLD],
        )

    return _read(start, timeout)


def fork_and_read(
    function: "Callable[[], Any]", timeout: float, *, keeps_terminal: bool = False
) -> "Any":
    """Call `function` in a forked child and return its result, which marshal must support.

    With `keeps_terminal`, the child stays in this session and keeps stdin. Changes to the current
    directory, umask or signal handlers affect only the child. Raises TimeoutError, or
    ChildProcessError with the reason if `function` raises an exception or ends the process.
    """
    import marshal

    def start(report: int) -> int:
        return posix.fork() or _call(report, function, keeps_terminal)

    report = _read(start, timeout)
    try:
        reason, answer = marshal.loads(bytes.fromhex(report.decode()))  # noqa: S302 - our child's
    except (ValueError, EOFError, TypeError):  # the report is missing or damaged
        reason, answer = "ended the process instead of answering", None
    if reason:
        raise ChildProcessError(reason)
    return answer


def _call(report: int, function: "Callable[[], Any]", keeps_terminal: bool) -> "NoReturn":
    """Call `function` in the child, write its result to the descriptor `report`, and exit."""
    import marshal
    import sys

    own = posix.getpid()
    try:
        if not keeps_terminal:
            posix.setsid()
            posix.dup2(posix.open("/dev/null", posix.O_RDONLY), 0)
        posix.dup2(2, 1)
        sys.stdout = sys.stderr  # stderr needs no flush
        reason, found = "", None
        try:
            found = function()
        except BaseException as failure:  # noqa: BLE001 - may be any
            raised = f"raised {type(failure).__name__}: {failure}"
            reason = str(failure) if isinstance(failure, HostError) else raised
        answer = marshal.dumps((reason, found)).hex().encode() + END  # hex cannot contain END
        while answer and posix.getpid() == own:  # a process forked in `function` gets here too
            answer = answer[posix.write(report, answer) :]
    finally:
        posix._exit(0)  # noqa: SLF001 - `function` may have replaced os._exit


def _read(start: "Callable[[int], int]", timeout: float) -> bytes:
    """Start a child by calling `start` with the report's descriptor, and return its report."""
    pid = 0  # 0 until the child has started
    report = b""
    caught: list[int] = []

    def end(number: int, _: object) -> None:
        caught.append(number)
        if pid:
            _end(pid, gently=True)
            _signal.signal(number, _signal.SIG_DFL)
            posix.kill(posix.getpid(), number)

    reading, writing = posix.pipe()
    handled = [one for one in _ENDINGS if _signal.getsignal(one) == _signal.SIG_DFL]
    for number in handled:
        _signal.signal(number, end)
    try:
        try:
            pid = start(writing)
        finally:
            posix.close(writing)
        for number in caught[:1]:  # a signal arrived while the child started
            end(number, None)
        report = _read_until_end(reading, timeout)
    finally:
        if pid:
            _end(pid, gently=not report)
        posix.close(reading)
        for number in handled:
            _signal.signal(number, _signal.SIG_DFL)
    return report


def _read_until_end(descriptor: int, timeout: float) -> bytes:
    """Return the bytes before the marker END, or b"" if there is no END. Raises TimeoutError."""
    import select
    import time

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    deadline = time.monotonic() + timeout
    report = bytearray()
    while not report.endswith(END):
        if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
            raise TimeoutError(f"did not answer within {timeout:g} s")
        chunk = posix.read(descriptor, 1 << 16)
        if not chunk:
            return b""
        report += chunk
    return bytes(report.removesuffix(END))


def _end(pid: int, *, gently: bool) -> None:
    """Kill the process group of the child, and wait for the child.

    With `gently`, the group gets SIGTERM first, so that a run that settings.conf has started can
    end its own child. That child is in another session and would otherwise survive.
    """
    if gently:
        import time

        _kill(pid, _signal.SIGTERM)
        time.sleep(_GRACE_SECONDS)
    _kill(pid, _signal.SIGKILL)
    try:
        posix.waitpid(pid, 0)
    except ChildProcessError:
        pass  # the caller ignores SIGCHLD, so the kernel has reaped the child


def _kill(pid: int, number: int) -> None:
    for kill in (posix.killpg, posix.kill):  # a forked child may not have its own process group yet
        try:
            kill(pid, number)
        except (ProcessLookupError, PermissionError):
            pass
