"""The spool file of the history, to which runs append lines.

Appending a line to a file takes a tenth of a millisecond, and fails only if the disk does. `self
history` moves the lines into a database, which may be locked or damaged without harm to a run.

A line is a JSON object with the `id` of its run. A line that starts a run has `words`; a line that
ends a run has `status`. Lines are separated by at least one newline, so that the rest of an
interrupted line damages no other line.
"""

import posix
import time

from host.caller import xdg_home
from host.files.json_line import json_line
from host.files.paths import dirname
from host.launch.history import history_path
from host.launch.state_files import make_directories
from host.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.launch.history import EndedRun, StartedRun
    from host.launch.plan import Run
    from host.messages import Messages

LARGE_SPOOL = 256 << 10  # bytes; about 400 runs

_OWNER_ONLY = 0o600
_LOCK_ATTEMPTS = 50
_LOCK_SECONDS = 0.002  # between two attempts
_STREAMS = (0, 1, 2)


class Spool:
    """The spool file of the history; an error is reported once and never stops a run."""

    def __init__(self, run: "Run", messages: "Messages") -> None:
        state = xdg_home(run.environ, "STATE")
        root = run.installation.layout.root
        self._path = f"{history_path(state, root)}.spool"
        self._messages = messages
        self._is_large = False
        self._has_failed = False

    def append(self, record: "StartedRun | EndedRun") -> None:
        try:
            before, after = append_line(self._path, record)
        except OSError as failure:
            # The second line of a run may fail for another reason than the first.
            if not self._has_failed:
                self._has_failed = True
                reason = failure.strerror or failure
                self._messages.warn(f"the run is not recorded: {self._path}: {reason}")
        else:
            has_passed_limit = before // LARGE_SPOOL < after // LARGE_SPOOL
            self._is_large |= has_passed_limit

    def empty_if_large(self, run: "Run") -> None:
        """Let a detached process move a large spool into the database, if nobody reads it.

        If that is impossible, because the database is damaged, for example, the next attempt is
        made when the spool has become larger by as much again.
        """
        if not self._is_large:
            return
        from host.processes.watch import encoded

        layout = run.installation.layout
        launcher = f"{layout.core_dir}/{layout.program}"
        argv = [launcher, "self", "history", "--limit", "1"]
        actions = []
        for stream in _STREAMS:
            nothing = (stream, "/dev/null", posix.O_RDWR, 0)
            actions.append((posix.POSIX_SPAWN_OPEN, *nothing))
        try:
            posix.posix_spawn(
                launcher,
                argv,
                encoded(run.installation.environ),
                file_actions=actions,
                setsid=True,
                setsigmask=(),  # this process blocks all signals
            )
        except OSError:
            pass  # a later run tries it again


def append_line(path: str, record: "StartedRun | EndedRun") -> tuple[int, int]:
    """Append a record to the spool file at `path`; return its sizes before and after that.

    Raises OSError.

    The reader of the spool renames it, then reads it. If that happened before the line was written,
    the line may have been too late for the reader, so it is written once more, to the new spool. A
    line that is read twice does no harm.
    """
    text = json_line(record.values())
    line = encode(f"\n{text}\n")
    while True:
        descriptor = _open(path)
        try:
            lock_spool(descriptor)
            written = posix.write(descriptor, line)
            if written != len(line):
                raise OSError(f"only {written} of {len(line)} bytes were written")

            if _is_still(path, descriptor):
                size = posix.fstat(descriptor).st_size
                return size - written, size
        finally:
            posix.close(descriptor)


def lock_spool(descriptor: int) -> None:
    """Lock an open spool file for its next change, if that is possible at once.

    On a local disk, appending a line needs no lock. On NFS, two hosts could write to the same
    place. The lock is held for microseconds, so whoever holds it longer must not stop a run.
    """
    for _ in range(_LOCK_ATTEMPTS):
        try:
            # Unlike `flock`, it needs no import.
            posix.lockf(descriptor, posix.F_TLOCK, 0)
        except (BlockingIOError, PermissionError):
            time.sleep(_LOCK_SECONDS)
        except OSError:
            return  # a file system without locks
        else:
            return


def _open(path: str) -> int:
    flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC
    # Neither a link nor a pipe that somebody has put in its place is used.
    flags |= posix.O_NOFOLLOW | posix.O_NONBLOCK
    try:
        return posix.open(path, flags, _OWNER_ONLY)
    except FileNotFoundError:
        make_directories(dirname(path))
        return posix.open(path, flags, _OWNER_ONLY)


def _is_still(path: str, descriptor: int) -> bool:
    """Return whether `path` still names the open file `descriptor`."""
    try:
        named = posix.stat(path)
    except FileNotFoundError:
        return False
    opened = posix.fstat(descriptor)
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)
