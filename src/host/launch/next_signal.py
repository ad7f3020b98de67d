"""Wait for a signal, and find out whether the whole process group got it."""

import _signal  # not `signal`, which would import `enum`
import time

_OF_A_TERMINAL = frozenset(
    [
        _signal.SIGINT,
        _signal.SIGQUIT,
        _signal.SIGTSTP,
        _signal.SIGTTIN,
        _signal.SIGTTOU,
        _signal.SIGCONT,
        _signal.SIGWINCH,
    ]
)
_IS_TOLD_WHY = hasattr(_signal, "sigwaitinfo")  # macOS lacks it
_SHORTEST = 0.001  # seconds; a timer of 0 would never ring


def next_signal(deadline: "float | None") -> "tuple[int, bool]":
    """Wait for a signal; return its number, and whether the whole process group got it.

    All signals must be blocked. The number is 0 if the deadline has passed, or if the signal is
    only a change of a child process.
    """
    if _IS_TOLD_WHY:
        return _next_with_reason(deadline)
    return _next_without_reason(deadline)


def _next_with_reason(deadline: "float | None") -> "tuple[int, bool]":
    every = _signal.valid_signals()
    if deadline is None:
        received = _signal.sigwaitinfo(every)
    else:
        left = max(deadline - time.monotonic(), 0)
        received = _signal.sigtimedwait(every, left)

    if received is None or received.si_signo == _signal.SIGCHLD:
        return 0, False

    # What the kernel sends (`si_code` above 0), it sends to the whole process group. What a process
    # sends with `kill` reached only this process.
    return received.si_signo, received.si_code > 0


def _next_without_reason(deadline: "float | None") -> "tuple[int, bool]":
    """Wait where the system does not say who sent a signal.

    The signals that a terminal sends are taken for the kernel's.
    """
    if deadline is not None:
        left = max(deadline - time.monotonic(), _SHORTEST)
        _signal.signal(_signal.SIGALRM, lambda *_: None)
        _signal.setitimer(_signal.ITIMER_REAL, left)

    number = _signal.sigwait(_signal.valid_signals())
    if number in (_signal.SIGCHLD, _signal.SIGALRM):
        return 0, False
    return number, number in _OF_A_TERMINAL
