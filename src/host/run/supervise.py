"""Start a child process, bound its time and its output, pass on signals, and end all of it.

There are three kinds of children, and one way to watch and to end them:

supervise       runs a program and returns its output
supervise_call  calls a function in a fork and returns its result
read_report     runs a program that writes a report to a descriptor, as bash does for settings.conf

A child gets a session of its own, so it has a process group that can be ended, and no terminal.
A command of the user is not such a child: it keeps the terminal and the group of its caller.
"""

import _signal  # not `signal`, which would import `enum`
import posix

from host.errors import HostError, SourceError
from host.run import Record, find_program
from host.run.text import decode, encode, is_digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any, Literal, NoReturn

SETTINGS_SECONDS = 10.0
SETTINGS_TIMEOUT = "CLI_SETTINGS_TIMEOUT"
_LONGEST = 1_000_000.0  # seconds; poll accepts no more than 24 days

END = b"\0\0"  # the last bytes of a report
REPORT_DESCRIPTOR = 250  # above the descriptors that scripts use, and below usual limits

_GRACE_SECONDS = 0.2  # the time between SIGTERM and SIGKILL
_TICK = 0.02  # seconds between looks at a child, on a system that cannot report its end
_ENDINGS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
_CHUNK = 1 << 16
_MOST_LEFT = 1 << 20  # bytes that a pipe may still contain when the child has ended
_MOST_KEPT = 1 << 20  # bytes of stderr
_MOST_PRINTED = 1 << 30


class Ending(Record):
    """How a program that `supervise` ran has ended.

    status   the exit status, or minus the number of the signal that killed it
    stdout   the bytes that it printed
    stderr   the last MiB that it printed to stderr, if that is returned
    limit    the limit that ended it, "time" or "output", or "" if it ended by itself
    seconds, most   the limits
    """

    status: int
    stdout: bytes
    stderr: bytes
    limit: str
    seconds: float
    most: int

    @property
    def why(self) -> str:
        """Why the program failed, such as "exit status 3", or "" for exit status 0."""
        if self.limit == "time":
            return f"not finished within {self.seconds:g} seconds"
        if self.limit == "output":
            return f"printed more than {self.most} bytes"
        if self.status < 0:
            return f"killed by signal {-self.status}"
        return f"exit status {self.status}" if self.status else ""


def supervise(  # noqa: PLR0913 - each is a property of the child, as for `subprocess.run`
    argv: "Sequence[str]",
    environ: "Mapping[str, str] | None",
    seconds: float,
    *,
    most: int = _MOST_PRINTED,
    given: "bytes | None" = b"",
    stderr: "Literal['return', 'drop', 'show', 'stdout']" = "return",
    directory: "str | None" = None,
    held: "Collection[int]" = (),
    own_session: bool = True,
    keeps_background: bool = False,
) -> Ending:
    """Run a program and return how it ended, after at most `seconds` and `most` bytes of stdout.

    environ           its environment; None for that of this process
    given             its input; None if it inherits stdin
    stderr            "return" it, "drop" it, "show" it where this process has it, or return it with
                      "stdout"
    directory         where it starts, by default the current directory
    held              the descriptors that it inherits
    own_session       without it, the program keeps the terminal, and only the program itself is
                      ended at a limit
    keeps_background  whether processes that it left in its group go on, if it ended by itself

    When the program has ended, nothing waits for background processes that keep stdout open. If
    this process gets SIGINT, SIGTERM or SIGHUP, the program is ended first. Raises OSError if the
    program cannot be started. For example::

        ended = supervise(["kubectl", "version"], os.environ, seconds=5)
        if ended.why:
            raise OperationError(f"kubectl version: {ended.why}")
    """
    if environ is None:
        environ = {decode(name): decode(value) for name, value in posix.environ.items()}
    path = argv[0] if "/" in argv[0] else find_program(argv[0], environ)
    if path is None:
        raise FileNotFoundError(2, posix.strerror(2), argv[0])
    files = [_file(given) if given else None, _file() if stderr == "return" else None]
    stdin, errors = [None if file is None else file.fileno() for file in files]
    nothing = posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
    stdin = nothing if given == b"" else stdin
    errors = nothing if stderr == "drop" else errors
    child: Any = None

    def start(stdout: int) -> int:
        nonlocal child
        errors_or_stdout = stdout if stderr == "stdout" else errors
        if directory is None and not held:
            return _spawn(path, argv, environ, (stdin, stdout, errors_or_stdout), own_session)
        from subprocess import Popen

        child = Popen(
            [encode(word) for word in argv],
            executable=encode(path),
            cwd=directory,
            env=_encoded(environ),
            stdin=stdin,
            stdout=stdout,
            stderr=errors_or_stdout,
            start_new_session=own_session,
            pass_fds=held,
        )
        return int(child.pid)

    try:
        watch = _Watch(seconds, most, keeps_background=keeps_background)
        status, printed, limit = watch.run(start)
        if child is not None:
            child.returncode = status  # it has been waited for
        complaint = b""
        if files[1] is not None:
            files[1].seek(max(files[1].seek(0, 2) - _MOST_KEPT, 0))
            complaint = files[1].read()
    finally:
        posix.close(nothing)
        for file in filter(None, files):
            file.close()
    return Ending(status, printed, complaint, limit, seconds, most)


def supervise_call(
    function: "Callable[[], Any]", seconds: float, *, keeps_terminal: bool = False
) -> "Any":
    """Call `function` in a forked child and return its result, which marshal must support.

    With `keeps_terminal`, the child stays in this session and keeps stdin. Changes to the current
    directory, umask or signal handlers affect only the child. Raises TimeoutError, or
    ChildProcessError with the reason if `function` raises an exception or ends the process.
    """
    import marshal

    def start(report: int) -> int:
        return posix.fork() or _call(report, function, keeps_terminal)

    report = _report(start, seconds)
    try:
        reason, answer = marshal.loads(bytes.fromhex(report.decode()))  # noqa: S302 - our child's
    except (ValueError, EOFError, TypeError):  # the report is missing or damaged
        reason, answer = "ended the process instead of answering", None
    if reason:
        raise ChildProcessError(reason)
    return answer


def read_report(argv: "Sequence[str]", environ: "Mapping[str, str]", seconds: float) -> bytes:
    """Start a program and return its report, or b"" if it ends without one.

    The program writes the report and END to REPORT_DESCRIPTOR. Its stdin is empty, and its stdout
    goes to stderr. Raises TimeoutError, and OSError if the program cannot start.
    """

    def start(report: int) -> int:
        nothing = posix.open("/dev/null", posix.O_RDONLY | posix.O_CLOEXEC)
        try:
            return _spawn(argv[0], argv, environ, (nothing, 2, None), True, report)
        finally:
            posix.close(nothing)

    return _report(start, seconds)


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


def _spawn(
    path: str,
    argv: "Sequence[str]",
    environ: "Mapping[str, str]",
    standard: "tuple[int | None, int | None, int | None]",
    own_session: bool,
    report: "int | None" = None,
) -> int:
    """Start a program with these standard descriptors (None: inherited); return its process id."""
    actions = [
        (posix.POSIX_SPAWN_DUP2, descriptor, target)
        for target, descriptor in ((REPORT_DESCRIPTOR, report), *enumerate(standard))
        if descriptor is not None
    ]
    return posix.posix_spawn(
        path,
        [encode(word) for word in argv],
        _encoded(environ),
        file_actions=actions,
        setsid=own_session,  # a new session has its own process group and no terminal
        setsigdef=[_signal.SIGPIPE, _signal.SIGXFSZ, _signal.SIGCHLD],
    )


def _encoded(environ: "Mapping[str, str]") -> "dict[bytes, bytes]":
    return {encode(name): encode(value) for name, value in environ.items()}


def _file(content: bytes = b"") -> "Any":
    """Return a temporary file. Unlike a pipe, it does not end when this process closes it."""
    import tempfile

    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(content)
    file.seek(0)
    return file


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


def _report(start: "Callable[[int], int]", seconds: float) -> bytes:
    """Return the report of a child without END, or b"" if it has none. Raises TimeoutError."""
    _, report, limit = _Watch(seconds, _MOST_PRINTED, is_report=True).run(start)
    if limit:
        raise TimeoutError(f"did not answer within {seconds:g} s")
    return report.removesuffix(END) if report.endswith(END) else b""


class _Watch:
    """Watches one child, and ends it at a limit or when this process gets a signal."""

    def __init__(
        self, seconds: float, most: int, *, is_report: bool = False, keeps_background: bool = False
    ) -> None:
        self.seconds = seconds
        self.most = most
        self.is_report = is_report
        self.keeps_background = keeps_background
        self.pid = 0  # 0 until the child has started
        self.status: int | None = None  # None until the child has been reaped
        self.caught: list[int] = []

    def run(self, start: "Callable[[int], int]") -> tuple[int, bytes, str]:
        """Start a child by calling `start` with the descriptor to which it writes.

        Returns its exit status, its output, and the limit that ended it, or "".
        """
        reading, writing = posix.pipe()
        handled = self._catch_signals()
        output = bytearray()
        is_done = False
        limit = ""
        try:
            try:
                self.pid = start(writing)
            finally:
                posix.close(writing)
            for number in self.caught[:1]:  # a signal arrived while the child started
                self._die_of(number, None)
            limit = self._follow(reading, output)
            is_done = output.endswith(END) if self.is_report else not limit
        finally:
            if self.pid and not (is_done and self.keeps_background):
                self._end(gently=not is_done)
            if self.pid:
                self._wait()
            posix.close(reading)
            for number in handled:
                _signal.signal(number, _signal.SIG_DFL)
        return self.status or 0, bytes(output), limit

    def _catch_signals(self) -> list[int]:
        """Handle the signals that would end this process but not the child; return these."""
        handled = []
        try:
            for number in _ENDINGS:
                if _signal.getsignal(number) == _signal.SIG_DFL:
                    _signal.signal(number, self._die_of)
                    handled.append(number)
        except ValueError:
            pass  # not in the main thread, which alone can handle signals
        return handled

    def _die_of(self, number: int, _: object) -> None:
        """End the child, then this process, with the signal `number`."""
        self.caught.append(number)
        if self.pid:
            self._end(gently=True)
            _signal.signal(number, _signal.SIG_DFL)
            posix.kill(posix.getpid(), number)

    def _follow(self, reading: int, output: bytearray) -> str:
        """Read the child's output until it has ended or a limit is reached; return that limit."""
        import select
        import time

        poll = select.poll()
        poll.register(reading, select.POLLIN)
        deadline = time.monotonic() + self.seconds
        end = _end_descriptor(self.pid)
        if end is not None:
            poll.register(end, select.POLLIN)
        is_open = True
        try:
            while (left := deadline - time.monotonic()) > 0:
                wait = left if end is not None else min(left, _TICK)
                ready = [descriptor for descriptor, _ in poll.poll(max(wait * 1000, 1))]
                has_ended = self._has_ended()
                if is_open and (reading in ready or has_ended):
                    most = _MOST_LEFT if has_ended else _CHUNK
                    is_open = self._read(reading, output, most)
                    if len(output) > self.most:
                        return "output"
                    if self.is_report and (output.endswith(END) or not is_open):
                        return ""
                    if not is_open:
                        poll.unregister(reading)
                if has_ended:
                    return ""
            return "time"
        finally:
            if end is not None:
                posix.close(end)

    def _read(self, reading: int, output: bytearray, most: int) -> bool:
        """Read what the pipe contains, at most `most` bytes; return whether it is still open."""
        import select

        poll = select.poll()
        poll.register(reading, select.POLLIN)
        size = len(output)
        while len(output) - size < most and poll.poll(0):
            chunk = posix.read(reading, _CHUNK)
            if not chunk:
                return False
            output += chunk
        return True

    def _has_ended(self) -> bool:
        """Return whether the child has ended.

        If possible, it is not reaped yet, so that no other process can get its id.
        """
        try:
            if hasattr(posix, "waitid"):
                flags = posix.WEXITED | posix.WNOHANG | posix.WNOWAIT
                return posix.waitid(posix.P_PID, self.pid, flags) is not None
            self._wait(posix.WNOHANG)
        except ChildProcessError:
            return True  # this process ignores SIGCHLD, so the kernel has reaped the child
        return self.status is not None

    def _end(self, *, gently: bool) -> None:
        """Kill the child and its process group.

        With `gently`, the group gets SIGTERM first, so that a run that settings.conf has started
        can end its own child. That child is in another session and would otherwise survive.
        """
        if gently:
            import time

            self._kill(_signal.SIGTERM)
            time.sleep(_GRACE_SECONDS)
        self._kill(_signal.SIGKILL)

    def _kill(self, number: int) -> None:
        try:
            posix.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            pass
        try:
            if self.status is None:  # a forked child may not have its own process group yet
                posix.kill(self.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _wait(self, flags: int = 0) -> None:
        """Reap the child, if that has not happened, and keep its exit status."""
        if self.status is not None:
            return
        try:
            pid, status = posix.waitpid(self.pid, flags)
        except ChildProcessError:
            self.status = 0  # this process ignores SIGCHLD, so nobody knows the status
            return
        if pid:
            self.status = posix.waitstatus_to_exitcode(status)


def _end_descriptor(pid: int) -> "int | None":
    """Return a descriptor that becomes readable when the process ends, or None without Linux."""
    try:
        return posix.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
