"""How a run ends that a signal ends: tidied up."""

import os
import signal
from collections.abc import Callable
from types import FrameType


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
