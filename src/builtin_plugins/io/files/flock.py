"""One change at a time: a lock on an open file or directory, waited for with patience."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from builtin_plugins.io.files.undo import os_errors_explained
from host import OperationError

PATIENCE = 120.0  # seconds that a change waits for another one
_TELL = 1.0  # seconds after which somebody who waits is told for what
_PAUSE = 0.01

Waiting = Callable[[str], object]  # is told who has the lock


@contextmanager
def locked(
    path: str, patience: float = 0.0, waiting: Waiting | None = None, *, create: bool = False
) -> Iterator[int]:
    """Be the only one who has the lock on the file or directory `path`; gives its descriptor.

    With `create` the file is made where it is missing. Raises OperationError when it cannot
    be opened, or another one keeps it for `patience` seconds.
    """
    flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY | os.O_NONBLOCK
    with os_errors_explained(path):
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        if not take_lock(descriptor, patience, waiting):
            raise OperationError(f"{path}: another change is under way", "try again")
        yield descriptor
    finally:
        os.close(descriptor)


def take_lock(descriptor: int, patience: float = 0.0, waiting: Waiting | None = None) -> bool:
    """Lock an open file or directory for this process and those that inherit the descriptor.

    Returns False when another process keeps it for `patience` seconds; after one of them
    `waiting` is told who. Closing the descriptor gives the lock back. Raises OSError.
    """
    started = time.monotonic()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited = time.monotonic() - started
            if waited >= patience:
                return False
            if waiting is not None and waited >= _TELL:
                waiting(f"waiting for {_holder(descriptor)}")
                waiting = None
            time.sleep(_PAUSE)
        else:
            return True


def _holder(descriptor: int) -> str:
    """Return who has the lock: the process and since when it runs, where the system tells."""
    inode = os.fstat(descriptor).st_ino
    try:
        with open("/proc/locks", encoding="ascii") as file:
            rows = [line.split() for line in file]
        process = next(row[4] for row in rows if row[1] == "FLOCK" and row[5].endswith(f":{inode}"))
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            begun = int(file.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        since = time.localtime(time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + begun)
    except (OSError, StopIteration, LookupError, ValueError, AttributeError):
        return "another process to end its change"
    return f"process {process}, at work since {time.strftime('%H:%M:%S', since)}, to end its change"
