"""Handle Ctrl-C in the program's own work, and while a Python command starts.

Ctrl-C in a command's run is the command's own, or that of `host.launch.watched_run`.
"""

import _signal  # not `signal`, which would import `enum`
import posix


class RaisedInterrupts:
    """A context in which Ctrl-C raises KeyboardInterrupt, unless SIGINT is ignored.

    It is used for work that must clean up. Everywhere else, Ctrl-C ends the process, because
    imported code may catch or replace the exception.
    """

    _former: object = None

    def __enter__(self) -> None:
        self._former = _signal.getsignal(_signal.SIGINT)
        # If the caller ignores SIGINT, it stays ignored.
        if self._former == _signal.SIG_DFL:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    def __exit__(self, *_: object) -> None:
        _signal.signal(_signal.SIGINT, self._former)


def die_of(signal: int) -> int:
    """Kill this process with `signal`, as a shell expects; return the exit status if that fails."""
    _signal.signal(signal, _signal.SIG_DFL)
    posix.kill(posix.getpid(), signal)
    return 128 + signal
