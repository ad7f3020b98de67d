"""Handle Ctrl-C, and end the process by a signal."""

import _signal  # `signal` would import `enum`
import posix

UNBLOCK = "unblock_interrupt"  # option -X of a Python that starts with SIGINT blocked


class RaisedInterrupts:
    """A context in which Ctrl-C raises KeyboardInterrupt, unless SIGINT is ignored.

    For work that must clean up. Elsewhere Ctrl-C ends the process, because imported code may
    catch or replace the exception.
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
    """Return whether SIGINT is blocked in this process."""
    return _signal.SIGINT in _signal.pthread_sigmask(_signal.SIG_BLOCK, [])


def die_of(signal: int) -> int:
    """Kill this process by the signal, as a shell expects; return the status if that fails."""
    _signal.signal(signal, _signal.SIG_DFL)
    posix.kill(posix.getpid(), signal)
    return 128 + signal
