"""Watch a child process: bound its time and its output, pass on signals, and end all of it.

`host.processes.bounded_child` uses this module for programs and functions. A run itself uses it for
bash with settings.conf, and for the providers of sources and secrets.
"""

import _signal  # not `signal`, which would import `enum`
import posix

from host.errors import HostError, SourceError
from host.processes.process import send_signal
from host.text import encode
from host.words import is_digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SETTINGS_SECONDS = 10.0
SETTINGS_TIMEOUT = "CLI_SETTINGS_TIMEOUT"
_LONGEST = 1_000_000.0  # seconds; poll accepts no more than 24 days

END = b"\0\0"  # the last bytes of a report
# above the descriptors that scripts use, and below usual limits
REPORT_DESCRIPTOR = 250
MOST_PRINTED = 1 << 30  # bytes

_GRACE_SECONDS = 1.0  # between SIGTERM and SIGKILL
_TICK = 0.02  # seconds between looks at a child, on a system that cannot report its end
_ENDINGS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
_CHUNK = 1 << 16
_MOST_LEFT = 1 << 20  # bytes that a pipe may still contain when the child has ended


def read_report(
    argv: "Sequence[str]", environ: "Mapping[str, str]", seconds: float
) -> bytes:
    """Start a program and return its report, or b"" if it ends without one.

    The program writes the report and END to REPORT_DESCRIPTOR. Its stdin is empty, and its stdout
    goes to stderr. Raises TimeoutError, and OSError if the program cannot start.
    """

    def start(report: int) -> int:
        nothing = open_null()
        standard = (nothing, 2, None)
        try:
            return spawn(argv[0], argv, environ, standard, True, report)
        finally:
            posix.close(nothing)

    return report_of(start, seconds)


def open_null() -> int:
    """Open /dev/null for reading and writing. Raises HostError if it is missing (bare chroots)."""
    try:
        return posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
    except OSError as failure:
        what = f"/dev/null: {failure.strerror}"
        remedy = "to make it, as root: mknod -m 666 /dev/null c 1 3"
        raise HostError(what, remedy) from None


def report_of(start: "Callable[[int], int]", seconds: float) -> bytes:
    """Return the report of a child without END, or b"" if it has none. Raises TimeoutError."""
    watch = Watch(seconds, MOST_PRINTED, is_report=True)
    _, report, limit = watch.run(start)
    if limit:
        raise TimeoutError(f"did not answer within {seconds:g} s")
    if not report.endswith(END):
        return b""
    return report.removesuffix(END)


def limit_from(
    environ: "Mapping[str, str]",
    variable: str = SETTINGS_TIMEOUT,
    usual: float = SETTINGS_SECONDS,
) -> float:
    """Return the time limit in seconds that `variable` sets, by default `usual`.

    Raises SourceError if the variable is not a number above 0.
    """
    text = environ.get(variable)
    if not text:
        return usual

    seconds = 0.0
    if is_digits(text.replace(".", "", 1)):
        seconds = float(text)
    if not seconds:
        raise SourceError(f"{variable}: expected a number of seconds above 0")
    return min(seconds, _LONGEST)


def spawn(
    path: str,
    argv: "Sequence[str]",
    environ: "Mapping[str, str]",
    standard: "tuple[int | None, int | None, int | None]",
    own_session: bool,
    report: "int | None" = None,
) -> int:
    """Start a program with these standard descriptors (None: inherited); return its process id."""
    # The report comes first, because its descriptor may be one of those that are replaced.
    actions = []
    for target, descriptor in ((REPORT_DESCRIPTOR, report), *enumerate(standard)):
        if descriptor is not None:
            actions.append((posix.POSIX_SPAWN_DUP2, descriptor, target))

    return posix.posix_spawn(
        path,
        [encode(word) for word in argv],
        encoded(environ),
        file_actions=actions,
        setsid=own_session,  # a new session has its own process group and no terminal
        setsigdef=[_signal.SIGPIPE, _signal.SIGXFSZ, _signal.SIGCHLD],
    )


def encoded(environ: "Mapping[str, str]") -> "dict[bytes, bytes]":
    return {encode(name): encode(value) for name, value in environ.items()}


class Watch:
    """Watches one child, and ends it at a limit or when this process gets a signal."""

    def __init__(
        self,
        seconds: float,
        most: int,
        *,
        is_report: bool = False,
        keeps_background: bool = False,
        grace: float = _GRACE_SECONDS,
    ) -> None:
        self.seconds = seconds
        self.most = most
        self.is_report = is_report
        self.keeps_background = keeps_background
        self.grace = grace
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
            if self.caught:  # a signal arrived while the child started
                self._die_of(self.caught[0], None)

            limit = self._follow(reading, output)
            is_done = not limit
            if self.is_report:
                is_done = output.endswith(END)
        finally:
            if self.pid:
                if not is_done:
                    self._end(gently=True)
                elif not self.keeps_background:
                    self._end(gently=False)
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
        """Read the child's output until it has ended or a limit is reached; return that limit.

        Nothing waits for background processes that keep the output open. What the child itself has
        written is read.
        """
        import select
        import time

        poll = select.poll()
        poll.register(reading, select.POLLIN)
        longest = _TICK
        end = _end_descriptor(self.pid)
        if end is not None:
            poll.register(end, select.POLLIN)
            longest = self.seconds

        deadline = time.monotonic() + self.seconds
        has_ended = False
        try:
            while not has_ended:
                left = deadline - time.monotonic()
                if left <= 0:
                    return "time"

                events = poll.poll(min(left, longest) * 1000)
                ready = [descriptor for descriptor, _ in events]
                if reading in ready:
                    chunk = posix.read(reading, _CHUNK)
                    output += chunk
                    if len(output) > self.most:
                        return "output"

                    # A report is complete before its child ends.
                    if self._is_whole_report(chunk, output):
                        return ""

                    # At the end of the output, `poll` would return at once, again and again.
                    if not chunk:
                        poll.unregister(reading)

                # Checked after the output, because the child may have written and ended since.
                if end is None:
                    has_ended = self._is_reaped()
                else:
                    has_ended = end in ready
        finally:
            if end is not None:
                posix.close(end)

        return self._read_rest(reading, output, deadline)

    def _read_rest(self, reading: int, output: bytearray, deadline: float) -> str:
        """Read what the pipe still contains when the child has ended; return the limit, if any."""
        import select
        import time

        poll = select.poll()
        poll.register(reading, select.POLLIN)
        left_in_pipe = _MOST_LEFT  # a background process may write without end
        while left_in_pipe > 0 and time.monotonic() < deadline:
            is_readable = poll.poll(0)
            if not is_readable:
                break

            chunk = posix.read(reading, _CHUNK)
            output += chunk
            if len(output) > self.most:
                return "output"
            if not chunk or self._is_whole_report(chunk, output):
                break
            left_in_pipe -= len(chunk)

        return ""

    def _is_whole_report(self, chunk: bytes, output: bytearray) -> bool:
        """Return whether the output is a report that ends with `chunk`; b"" is its end, too."""
        if not self.is_report:
            return False
        return not chunk or output.endswith(END)

    def _is_reaped(self) -> bool:
        self._wait(posix.WNOHANG)
        return self.status is not None

    def _end(self, *, gently: bool) -> None:
        """Kill the child, and all that it left in its process group.

        With `gently`, the child and its descendants get SIGTERM first, and time to end by
        themselves, as a command gets at its time limit.
        """
        if gently and self.status is None:
            # Imported here, because few children must be ended.
            from host.processes.process_tree import end_tree

            end_tree(self.pid, self.grace)

        try:
            posix.killpg(self.pid, _signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        # A forked child may not have its own process group yet. One that has been reaped has no
        # process id any more.
        if self.status is None:
            send_signal(self.pid, _signal.SIGKILL)

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
