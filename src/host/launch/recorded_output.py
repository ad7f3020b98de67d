"""Pass a command's output on, and keep its end for the history (`"record": "output"`).

A stream that is a terminal becomes a terminal again: the command gets a pseudo-terminal of the same
size, in a session of its own, as with `script` of util-linux. A stream that is a pipe or a file
becomes a pipe. If stdout and stderr are the same file, they stay one, so that their lines keep
their order.

Somebody who reads the output must see its end when the command closes its stdout, even if the
command goes on, and must not see it while a process in the background can still write.
"""

import _thread
import fcntl
import posix
import select
import termios
import tty

from host.launch.history import TAIL_BYTES
from host.processes.process import close_all_but

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHUNK = 64 << 10
# a background process may hold the pipe open after the command has ended
_LAST_MILLISECONDS = 200
_STREAMS = (1, 2)


class RecordedOutput:
    """The streams of one run. The parent makes it, then forks.

    In the child, `become_streams` replaces stdin, stdout and stderr. In the parent, `start` begins
    to copy in a thread; `finish` ends it and returns the last bytes of the output. Then `failure`
    says why a part of the output could not be written, or is "".
    """

    failure = ""

    def __init__(self) -> None:
        self._tail = bytearray()
        # Where the bytes of each readable descriptor go.
        self._targets: dict[int, int] = {}
        self._child_streams: dict[int, int] = {}
        self._parent_ends: set[int] = set()
        self._master = -1
        self._slave = -1
        self._mode: list[Any] | None = None  # of the caller's terminal
        self._done = _thread.allocate_lock()

        terminals = []
        others = []
        for stream in _STREAMS:
            if not _is_writable(stream):
                continue
            if posix.isatty(stream):
                terminals.append(stream)
            else:
                others.append(stream)

        if terminals:
            self._open_terminal(terminals)
        if len(others) == len(_STREAMS) and _is_same_file(*_STREAMS):
            self._open_pipe(others)
        else:
            for stream in others:
                self._open_pipe([stream])

        self._pending = set(self._targets)
        self._stop_reading, self._stop_writing = posix.pipe()
        self._parent_ends |= {self._stop_reading, self._stop_writing}

    @property
    def has_terminal(self) -> bool:
        """Whether the command has a terminal, and thus a session, of its own."""
        return self._master >= 0

    @property
    def descriptors(self) -> "frozenset[int]":
        """The descriptors that the parent needs until `finish`."""
        return frozenset({0, 1, 2, *self._parent_ends})

    def become_streams(self) -> None:
        """Replace the standard streams of this process, the forked child."""
        if self.has_terminal:
            posix.setsid()
            fcntl.ioctl(self._slave, termios.TIOCSCTTY, 0)
        for stream, descriptor in self._child_streams.items():
            posix.dup2(descriptor, stream)

    def start(self) -> None:
        """Begin to copy, in the parent."""
        for descriptor in {*self._child_streams.values(), self._slave}:
            if descriptor >= 0:
                posix.close(descriptor)

        # A job in the background must not touch the terminal.
        has_keyboard = self.has_terminal and posix.isatty(0)
        if has_keyboard and _may_read_terminal():
            # The command's own terminal echoes, and makes signals of Ctrl-C and the like.
            self._mode = termios.tcgetattr(0)
            tty.setraw(0)
            self._targets[0] = self._master

        self._done.acquire()
        _thread.start_new_thread(self._copy, ())

    def resize(self) -> None:
        """Give the command's terminal the size of the caller's terminal."""
        if not self.has_terminal:
            return
        try:
            size = fcntl.ioctl(self._outer_terminal, termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, size)
        except OSError:
            pass  # the caller's terminal is gone

    def finish(self) -> bytes:
        """End the copying after the command has ended; return the last bytes of the output."""
        posix.write(self._stop_writing, b"\0")
        self._done.acquire()
        if self._mode is not None:
            termios.tcsetattr(0, termios.TCSADRAIN, self._mode)

        if self._pending:
            self._go_on_copying()
        for descriptor in self._parent_ends:
            posix.close(descriptor)
        return bytes(self._tail)

    def _open_terminal(self, terminals: "list[int]") -> None:
        self._master, self._slave = posix.openpty()
        self._outer_terminal = terminals[0]
        try:
            settings = termios.tcgetattr(self._outer_terminal)
            termios.tcsetattr(self._slave, termios.TCSANOW, settings)
        except termios.error:
            pass  # it keeps the usual settings
        self.resize()

        self._parent_ends.add(self._master)
        self._targets[self._master] = self._outer_terminal
        for stream in terminals:
            self._child_streams[stream] = self._slave
        if posix.isatty(0):
            self._child_streams[0] = self._slave

    def _open_pipe(self, streams: "list[int]") -> None:
        reading, writing = posix.pipe()
        self._parent_ends.add(reading)
        self._targets[reading] = streams[0]
        for stream in streams:
            self._child_streams[stream] = writing

    def _copy(self) -> None:
        """Copy until all sources have ended, or until a moment after the command has ended."""
        try:
            poll = select.poll()
            for descriptor in (*self._targets, self._stop_reading):
                poll.register(descriptor, select.POLLIN)

            patience: int | None = None
            while self._pending:
                ready = poll.poll(patience)
                if not ready:
                    return  # the command has ended, and its pipes are quiet

                for descriptor, _ in ready:
                    if descriptor == self._stop_reading:
                        patience = _LAST_MILLISECONDS
                        poll.unregister(descriptor)
                    elif not self._copy_chunk(descriptor):
                        poll.unregister(descriptor)
                        self._pending.discard(descriptor)
                        self._close_stdout_if_unused()
        finally:
            self._done.release()

    def _copy_chunk(self, source: int) -> bool:
        """Copy what can be read; return False if the source has ended or its copy cannot go on."""
        try:
            chunk = posix.read(source, _CHUNK)
        except OSError:
            return False  # the last process closed the pseudo-terminal
        if not chunk:
            return False

        if source != 0:
            self._tail += chunk
            del self._tail[:-TAIL_BYTES]
        try:
            _write_all(self._targets[source], chunk)
        except BrokenPipeError:
            self._refuse(source)  # whoever reads may end at any time
            return False
        except OSError as failure:
            self.failure = failure.strerror or str(failure)
            self._refuse(source)
            return False

        return True

    def _refuse(self, source: int) -> None:
        """Let the command's next write get SIGPIPE, as without the copy."""
        if source in (0, self._master):
            return
        null = posix.open("/dev/null", posix.O_RDONLY | posix.O_CLOEXEC)
        posix.dup2(null, source, inheritable=False)
        posix.close(null)

    def _close_stdout_if_unused(self) -> None:
        """Close stdout if nothing is copied to it any more; stderr stays, for messages."""
        used = {self._targets[source] for source in self._pending}
        if 1 in used:
            return
        null = posix.open("/dev/null", posix.O_RDWR | posix.O_CLOEXEC)
        posix.dup2(null, 1)
        posix.close(null)

    def _go_on_copying(self) -> None:
        """Copy for the processes that the command has left in the background, in another process.

        The history has nothing of what they write from here on.
        """
        if posix.fork():
            return

        try:
            posix.setsid()
            null = posix.open("/dev/null", posix.O_RDWR)
            needed = {self._targets[source] for source in self._pending}
            for stream in {0, *_STREAMS} - needed:
                posix.dup2(null, stream)
            close_all_but(self._pending)

            poll = select.poll()
            for source in self._pending:
                poll.register(source, select.POLLIN)

            while self._pending:
                for source, _ in poll.poll():
                    if not self._copy_chunk(source):
                        poll.unregister(source)
                        self._pending.discard(source)
                        self._close_stdout_if_unused()
        finally:
            posix._exit(0)  # noqa: SLF001 - nothing of the parent may run in this process


def _write_all(target: int, chunk: bytes) -> None:
    """Write all of `chunk`. Raises OSError."""
    while chunk:
        try:
            written = posix.write(target, chunk)
            chunk = chunk[written:]
        except BlockingIOError:  # another program has made the stream non-blocking
            poll = select.poll()
            poll.register(target, select.POLLOUT)
            poll.poll()


def _is_writable(stream: int) -> bool:
    """Return whether a stream is open for writing; one that the caller closed is not."""
    try:
        flags = fcntl.fcntl(stream, fcntl.F_GETFL)
    except OSError:
        return False
    return bool(flags & (posix.O_WRONLY | posix.O_RDWR))


def _may_read_terminal() -> bool:
    """Return whether this process may read the terminal that is its stdin."""
    try:
        return posix.tcgetpgrp(0) == posix.getpgrp()
    except OSError:
        return True  # not the terminal of this session, so it has no background jobs


def _is_same_file(first: int, second: int) -> bool:
    try:
        status = posix.fstat(first)
        other = posix.fstat(second)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (other.st_dev, other.st_ino)
