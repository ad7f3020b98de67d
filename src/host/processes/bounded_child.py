"""Run a program or a function in a child process, within limits.

supervise       runs a program and returns its output
supervise_call  calls a function in a fork and returns its result

A child gets a session of its own, so it has a process group that can be ended, and no terminal.
A command of the user is not such a child: it keeps the terminal and the group of its caller.
"""

import posix

from host.errors import HostError
from host.processes.bounds import (
    END,
    MOST_PRINTED,
    Watch,
    encoded,
    open_null,
    report_of,
    spawn,
)
from host.processes.programs import find_program
from host.record_base import Record
from host.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal, NoReturn

_MOST_KEPT = 1 << 20  # bytes of stderr


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
        if self.status > 0:
            return f"exit status {self.status}"
        return ""


def supervise(  # noqa: PLR0913 - each is a property of the child, as for `subprocess.run`
    argv: "Sequence[str]",
    environ: "Mapping[str, str] | None",
    seconds: float,
    *,
    most: int = MOST_PRINTED,
    given: "bytes | None" = b"",
    stderr: "Literal['return', 'drop', 'show', 'stdout']" = "return",
    directory: "str | None" = None,
    own_session: bool = True,
    keeps_background: bool = False,
) -> "Ending":
    """Run a program and return how it ended, after at most `seconds` and `most` bytes of stdout.

    environ           its environment; None for that of this process
    given             its input; None if it inherits stdin
    stderr            "return" it, "drop" it, "show" it where this process has it, or return it with
                      "stdout"
    directory         where it starts, by default the current directory
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

    path: str | None = argv[0]
    if "/" not in argv[0]:
        path = find_program(argv[0], environ)
    if path is None:
        raise FileNotFoundError(2, posix.strerror(2), argv[0])

    streams = _Streams(given, stderr)
    child: Any = None

    def start(stdout: int) -> int:
        nonlocal child
        errors = streams.stderr
        if stderr == "stdout":
            errors = stdout
        standard = (streams.stdin, stdout, errors)
        if directory is None:
            return spawn(path, argv, environ, standard, own_session)

        # Only `subprocess` can start a program elsewhere.
        child = _popen(path, argv, environ, standard, own_session, directory)
        return int(child.pid)

    try:
        watch = Watch(seconds, most, keeps_background=keeps_background)
        status, printed, limit = watch.run(start)
        if child is not None:
            child.returncode = status  # it has been waited for
        complaint = streams.complaint()
    finally:
        streams.close()

    return Ending(status, printed, complaint, limit, seconds, most)


class _Streams:
    """The stdin and the stderr of a program: descriptors, or None for those of this process."""

    def __init__(self, given: "bytes | None", stderr: str) -> None:
        self.stdin: int | None = None
        self.stderr: int | None = None
        self._files: list[Any] = []
        self._errors: Any = None
        self._null = open_null()

        if given:
            self.stdin = self._temporary_file(given).fileno()
        elif given is not None:
            self.stdin = self._null

        if stderr == "return":
            self._errors = self._temporary_file(b"")
            self.stderr = self._errors.fileno()
        elif stderr == "drop":
            self.stderr = self._null

    def complaint(self) -> bytes:
        """Return the end of what the program has printed to stderr, if that is returned."""
        if self._errors is None:
            return b""
        size = self._errors.seek(0, 2)
        self._errors.seek(max(size - _MOST_KEPT, 0))
        content: bytes = self._errors.read()
        return content

    def close(self) -> None:
        posix.close(self._null)
        for file in self._files:
            file.close()

    def _temporary_file(self, content: bytes) -> "Any":
        """Return a file with `content`. Unlike a pipe, it does not end when this process ends."""
        import tempfile

        file = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._files.append(file)
        file.write(content)
        file.seek(0)
        return file


def _popen(
    path: str,
    argv: "Sequence[str]",
    environ: "Mapping[str, str]",
    standard: "tuple[int | None, int | None, int | None]",
    own_session: bool,
    directory: str,
) -> "Any":
    from subprocess import Popen

    stdin, stdout, stderr = standard
    return Popen(
        [encode(word) for word in argv],
        executable=encode(path),
        cwd=directory,
        env=encoded(environ),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=own_session,
    )


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
        pid = posix.fork()
        if pid == 0:
            _call(report, function, keeps_terminal)
        return pid

    report = report_of(start, seconds)
    try:
        content = bytes.fromhex(report.decode())
        reason, result = marshal.loads(content)  # noqa: S302 - our child's
    except (ValueError, EOFError, TypeError):
        # The report is missing or damaged.
        raise ChildProcessError("ended the process instead of answering") from None

    if reason:
        raise ChildProcessError(reason)
    return result


def _call(
    report: int, function: "Callable[[], Any]", keeps_terminal: bool
) -> "NoReturn":
    """Call `function` in the child, write its result to the descriptor `report`, and exit."""
    import marshal
    import sys

    child = posix.getpid()
    try:
        if not keeps_terminal:
            posix.setsid()
            posix.dup2(open_null(), 0)
        posix.dup2(2, 1)
        sys.stdout = sys.stderr  # stderr needs no flush

        reason = ""
        result = None
        try:
            result = function()
        except HostError as failure:
            reason = str(failure)
        except BaseException as failure:  # noqa: BLE001 - may be any
            reason = f"raised {type(failure).__name__}: {failure}"

        # Hexadecimal digits cannot contain END.
        content = marshal.dumps((reason, result))
        answer = content.hex().encode() + END

        # A process that `function` has forked gets here too, and must not answer.
        while answer and posix.getpid() == child:
            written = posix.write(report, answer)
            answer = answer[written:]
    finally:
        posix._exit(0)  # noqa: SLF001 - `function` may have replaced os._exit
