"""Append records to the spool file of the history.

Appending a line to a file takes a tenth of a millisecond, and fails only if the disk does. `self
history` moves the lines into a database, which may be locked or damaged without harm to a run.

A line is a JSON object with the `id` of its run. A line that starts a run has `words`; a line that
ends a run has `status`. Lines are separated by at least one newline, so that the rest of an
interrupted line damages no other line.
"""

import _json
import posix
import time

from host.run.files import dirname
from host.run.state_files import make_directories
from host.run.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.run.history import EndedRun, StartedRun

_OWNER_ONLY = 0o600
_LOCK_ATTEMPTS = 50
_LOCK_SECONDS = 0.002  # between two attempts


def append_line(path: str, record: "StartedRun | EndedRun") -> tuple[int, int]:
    """Append a record to the spool file at `path`; return its sizes before and after that.

    Raises OSError.

    The reader of the spool renames it, then reads it. If that happened before the line was written,
    the line may have been too late for the reader, so it is written once more, to the new spool. A
    line that is read twice does no harm.
    """
    line = encode(f"\n{_json_of(record.values())}\n")
    while True:
        descriptor = _open(path)
        try:
            lock_spool(descriptor)
            written = posix.write(descriptor, line)
            if written != len(line):
                what = f"only {written} of {len(line)} bytes were written"
                raise OSError(f"{path}: {what}")

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


def _json_of(value: object) -> str:
    """Return a value as JSON. Importing `json` would take as long as half a run."""
    if isinstance(value, str):
        return _json.encode_basestring_ascii(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)

    if hasattr(value, "items"):
        pairs = []
        for key, item in value.items():
            pairs.append(f"{_json_of(str(key))}:{_json_of(item)}")
        return "{" + ",".join(pairs) + "}"

    items = [_json_of(item) for item in value]  # type: ignore[attr-defined]
    return "[" + ",".join(items) + "]"
