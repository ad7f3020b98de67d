"""How a run ends early: tidied up when a signal ends it, in one line when the system refuses."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from host import OperationError


def tidily(work: Callable[[], int]) -> int:
    """Return what `work` returns; Ctrl-C and polite kills end it, and then this process, as ever.

    To `work` each of them is a KeyboardInterrupt. A signal that is ignored, as under
    nohup, stays so.
    """
    ended = [signal.SIGINT]

    def end(number: int, _: FrameType | None) -> None:
        ended[0] = signal.Signals(number)
        signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)
    try:
        return work()
    except KeyboardInterrupt:
        signal.signal(ended[0], signal.SIG_DFL)
        os.kill(os.getpid(), ended[0])
        return 128 + ended[0]


@contextmanager
def explained() -> Iterator[None]:
    """Turn a failed system call into an OperationError that names the file."""
    try:
        yield
    except OSError as failure:
        named = failure.filename2 or failure.filename
        where = f"{os.fsdecode(named)}: " if named else ""
        raise OperationError(f"{where}{failure.strerror or failure}") from None
