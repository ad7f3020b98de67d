"""`python -m host.run.python_entrypoint LABEL module:attr ARGS…`: a command written in Python."""

import os
import sys

from host.errors import HostError
from host.run.importing import load_reference
from host.run.messages import Messages
from host.run.process import caller_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main(argv: list[str]) -> int:
    """Call the referenced click command or callable with ARGS; return its exit status.

    What it raises is told in one line, or with DEBUG on as a traceback.
    """
    label, reference, *args = argv
    if b"LC_CTYPE" not in caller_environment():  # what it starts gets none either
        os.environ.pop("LC_CTYPE", None)
    messages = Messages(label, os.environ)
    try:
        status = call(load_reference(reference), label, args)
        flush()
    except HostError as error:
        messages.error(str(error))
        return error.status
    except KeyboardInterrupt:
        return die_of("SIGINT")
    except Exception as failure:
        if isinstance(failure, BrokenPipeError) and reader_is_gone():
            return die_of("SIGPIPE")
        drop_output()
        if messages.debugging:
            raise
        messages.error(f"{type(failure).__name__}: {failure}; DEBUG=1 shows where")
        return HostError.status
    return status


def call(target: "Any", label: str, args: list[str]) -> int:
    """Call a click command as the program `label`, or another callable with the arguments."""
    if hasattr(target, "main") and hasattr(target, "make_context"):  # a click command
        target.main(args=args, prog_name=label)
        return 0
    status = target(args)
    if not isinstance(status, int):
        return 0
    return status % 256 or int(status != 0)  # the system keeps the lowest eight bits


def flush() -> None:
    if sys.stdout is not None:  # it is when the caller closed it
        sys.stdout.flush()


def reader_is_gone() -> bool:
    """Tell whether stdout is a pipe that nobody reads any more."""
    import select

    poll = select.poll()
    poll.register(1, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def drop_output() -> None:
    """Let go of what stdout does not take, so that its end does not try again."""
    try:
        flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def die_of(name: str) -> int:
    """End as a shell expects of a program that this signal stopped: killed by it."""
    import signal

    number = signal.Signals[name]
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
