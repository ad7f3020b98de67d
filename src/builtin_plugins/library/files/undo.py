"""Protect changes from signals, undo failed ones, and report each failure in one line."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

from host import HostError, OperationError


@contextmanager
def os_errors_explained(otherwise: object = "") -> Iterator[None]:
    """Turn an OSError into an OperationError that names its file, or `otherwise` if it has none."""
    try:
        yield
    except OSError as failure:
        raise OperationError(_worded(failure, otherwise)) from None


@contextmanager
def undoing() -> Iterator[ExitStack]:
    """Collect undo steps (`undo.callback(step, *arguments)`) and run them if the block fails.

    The last step runs first. Raises the block's error, or OperationError if an undo step fails.
    """
    undo = ExitStack()
    try:
        yield undo
    except BaseException as failure:
        try:
            undo.close()
        except (OSError, HostError) as second:
            undone = f"the changes could not be undone ({_worded(second)})"
            raise OperationError(f"{_worded(failure)}; {undone}") from None
        raise


def _worded(failure: BaseException, otherwise: object = "") -> str:
    """Return a failure as one line; an OSError names its file, or `otherwise`."""
    if not isinstance(failure, OSError):
        text = str(failure)
        if not text:
            text = type(failure).__name__  # Ctrl-C has no text
        return text

    reason = failure.strerror or str(failure)
    # A rename has two files: the second is the one that it was to make.
    path = failure.filename2 or failure.filename or str(otherwise)
    if not path:
        return reason
    return f"{os.fsdecode(path)}: {reason}"


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Delay SIGINT, SIGTERM and SIGHUP until the end of the block, which must be short."""
    delayed = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    former = signal.pthread_sigmask(signal.SIG_BLOCK, delayed)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def cleanup_on_signal(work: Callable[[], int]) -> int:
    """Call `work` and return its result; SIGINT, SIGTERM and SIGHUP interrupt it.

    The signal raises KeyboardInterrupt in `work`, so that its cleanup runs; then the process ends
    with the same signal. An ignored signal (nohup) stays ignored.
    """
    received = int(signal.SIGINT)

    def interrupt(number: int, _: FrameType | None) -> None:
        nonlocal received
        received = number
        signal.signal(number, signal.SIG_IGN)  # a second one must not stop the cleanup
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupt)

    try:
        return work()
    except KeyboardInterrupt:
        # The caller sees that a signal ended the process, not an exit status.
        signal.signal(received, signal.SIG_DFL)
        os.kill(os.getpid(), received)
        return 128 + received
