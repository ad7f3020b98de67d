"""One change at a time: a lock on an open file or directory."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from builtin_plugins.io.files.undo import os_errors_explained
from host import OperationError

PATIENCE = 120.0  # seconds that a change waits for the lock
_QUIET = 1.0  # seconds of waiting without a message
_PAUSE = 0.01

Waiting = Callable[[str], object]  # called with a message if another process has the lock


@contextmanager
def locked(
    path: str, patience: float = 0.0, waiting: Waiting | None = None, *, create: bool = False
) -> Iterator[int]:
    """Hold the lock on the file or directory `path`; yield its descriptor.

    With `create`, a missing file is made. Raises OperationError if it cannot be opened, or if
    another process has the lock for `patience` seconds.
    """
    flags = os.O_RDWR | os.O_CREAT if create else os.O_RDONLY | os.O_NONBLOCK
    with os_errors_explained(path):
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        if not take_lock(descriptor, patience, waiting):
            raise OperationError(f"{path}: another change is in progress", "try again")
        yield descriptor
    finally:
        os.close(descriptor)


def take_lock(descriptor: int, patience: float = 0.0, waiting: Waiting | None = None) -> bool:
    """Lock an open file or directory for this process and those that inherit the descriptor.

    Returns False if another process has the lock for `patience` seconds; after the first second
    `waiting` is called with a message. Closing the descriptor releases the lock. Raises OSError.
    """
    started = time.monotonic()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited = time.monotonic() - started
            if waited >= patience:
                return False
            if waiting is not None and waited >= _QUIET:
                waiting("waiting for another process to finish its change")
                waiting = None
            time.sleep(_PAUSE)
        else:
            return True
