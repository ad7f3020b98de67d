"""Locks on files and directories, so that only one process changes them at a time."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from builtin_plugins.library.files.undo import os_errors_explained
from host import OperationError

_WAIT_SECONDS = 120.0  # maximum time that a change waits for the lock
_SILENT_SECONDS = 1.0  # time to wait before a message is printed
_RETRY_SECONDS = 0.01

# Called with a message if another process has the lock.
OnWait = Callable[[str], object]


@contextmanager
def file_lock(path: str, on_wait: OnWait | None = None) -> Iterator[int]:
    """Hold the file lock on the file or directory `path`; yield its descriptor.

    Raises OperationError if the file cannot be opened, or if another process has the lock. With
    `on_wait`, the function first waits for the lock, as `take_file_lock` does.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    with os_errors_explained(path):
        descriptor = os.open(path, flags)

    try:
        if not take_file_lock(descriptor, on_wait) or not _is_at(path, descriptor):
            raise OperationError(f"{path}: another change is in progress", "try again")
        yield descriptor
    finally:
        os.close(descriptor)


def _is_at(path: str, descriptor: int) -> bool:
    """Return whether the open file is still at `path`; the last lock holder may have removed it."""
    with suppress(FileNotFoundError):
        state = os.stat(path)
        return os.path.samestat(state, os.fstat(descriptor))
    return False


def take_file_lock(descriptor: int, on_wait: OnWait | None = None) -> bool:
    """Lock an open file or directory for this process and children that inherit `descriptor`.

    Returns False if another process has the lock. With `on_wait`, the function first waits for up
    to two minutes, and calls `on_wait` with a message after one second. Closing the descriptor
    releases the lock. Raises OSError.
    """
    started = time.monotonic()
    is_announced = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            return True

        waited = time.monotonic() - started
        if on_wait is None or waited >= _WAIT_SECONDS:
            return False
        if waited >= _SILENT_SECONDS and not is_announced:
            on_wait("waiting for another process to finish its change")
            is_announced = True
        time.sleep(_RETRY_SECONDS)
