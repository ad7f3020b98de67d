"""Handle Ctrl-C: for work that must clean up, and while a Python command starts."""

import _signal  # not `signal`, which would import `enum`
import posix
import sys

from host.run.process import Exec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The code that starts a command in Python; -m would import `runpy` first.
PYTHON_COMMAND = (
    "import sys; from host.run.python_entrypoint import main; sys.exit(main(sys.argv[1:]))"
)


class RaisedInterrupts:
    """A context in which Ctrl-C raises KeyboardInterrupt, unless SIGINT is ignored.

    It is used for work that must clean up. Everywhere else, Ctrl-C ends the process, because
    imported code may catch or replace the exception.
    """

    _former: object = None

    def __enter__(self) -> None:
        self._former = _signal.getsignal(_signal.SIGINT)
        if self._former == _signal.SIG_DFL:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    def __exit__(self, *_: object) -> None:
        _signal.signal(_signal.SIGINT, self._former)


def python_exec(argv: "Sequence[str]", environment: "Mapping[str, str]") -> Exec:
    """Return the process that calls a Python reference; `argv` is for `python_entrypoint.main`.

    SIGINT is blocked while Python starts, unless the caller has blocked it already.
    """
    is_blocked = _signal.SIGINT in _signal.pthread_sigmask(_signal.SIG_BLOCK, [])
    options = "-I" if is_blocked else "-IXunblock_interrupt"
    command = [sys.executable, options, "-c", PYTHON_COMMAND, *argv]
    return Exec(sys.executable, command, environment, holds_interrupt=not is_blocked)


def die_of(signal: int) -> int:
    """Kill this process with the signal, as a shell expects; return the status if that fails."""
    _signal.signal(signal, _signal.SIG_DFL)
    posix.kill(posix.getpid(), signal)
    return 128 + signal
