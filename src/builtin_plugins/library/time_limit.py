"""A time limit for code that cannot check the time itself."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def time_limit(seconds: float, error: Exception) -> Iterator[None]:
    """Raise `error` inside the block after `seconds`; works only in the main thread."""

    def expire(*_: object) -> None:
        raise error

    former = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
