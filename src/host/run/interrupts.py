"""Ctrl-C: what it does meanwhile, and how a program ends that a signal has stopped."""

import _signal  # `signal` costs a module of enums
import posix

UNBLOCK = "unblock_interrupt"  # option -X of a Python that starts with SIGINT held back


class RaisedInterrupts:
    """Makes Ctrl-C a KeyboardInterrupt meanwhile, unless it is ignored.

    For work that tidies up when it is stopped. Elsewhere Ctrl-C ends the process: what
    imports modules turns the exception into anything.
    """

    def __init__(self) -> None:
        self._former: object = None

    def __enter__(self) -> None:
        self._former = _signal.getsignal(_signal.SIGINT)
        if self._former == _signal.SIG_DFL:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    def __exit__(self, *_: object) -> None:
        _signal.signal(_signal.SIGINT, self._former)


def interrupt_is_blocked() -> bool:
    """Return whether the caller lets no Ctrl-C through to this process."""
    return _signal.SIGINT in _signal.pthread_sigmask(_signal.SIG_BLOCK, [])


def die_of(signal: int) -> int:
    """End as a shell expects of a program that this signal stopped: killed by it."""
    _signal.signal(signal, _signal.SIG_DFL)
    posix.kill(posix.getpid(), signal)
    return 128 + signal
