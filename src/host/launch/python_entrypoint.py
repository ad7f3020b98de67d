"""Run a Python command in an interpreter of its own, which imports few modules."""

import _signal
import gc
import os
import sys

# Until `main` handles Ctrl-C, it ends Python without a traceback.
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
# `python_exec` has blocked it while this Python started.
if "unblock_interrupt" in sys._xoptions:  # noqa: SLF001 - has no public equivalent
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGINT])

from host.errors import HostError, PluginError, Problem
from host.processes.exit_status import shown_status
from host.processes.importing import click_command, enter_plugin, load_reference
from host.processes.own_interrupts import RaisedInterrupts, die_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from host.messages import Messages


def main(argv: list[str], folders: "Sequence[str]" = ()) -> int:
    """Call the click command or callable that `argv` names; return its exit status.

    `folders` has the packages of its plugin.
    An exception is reported in one line, or as a traceback if DEBUG is on.
    """
    called, reference, *args = argv
    sys.argv = [called, *args]  # programs expect their name in argv[0]
    _hide_own_locale()
    environ = dict(os.environ)
    try:
        with RaisedInterrupts():
            gc.disable()  # garbage collection only slows down imports
            enter_plugin(folders)
            target = load_reference(reference)
            gc.enable()

            status = call(target, called, args, reference)
            flush()
    except KeyboardInterrupt:
        return die_of(_signal.SIGINT)
    except Exception as failure:
        if isinstance(failure, BrokenPipeError) and reader_is_gone():
            return die_of(_signal.SIGPIPE)

        from host.messages import Messages

        drop_output()
        messages = Messages(called, environ)
        if isinstance(failure, HostError):
            return _report(failure, messages)
        if messages.debugging:
            raise
        what = f"{type(failure).__name__}: {failure}"
        return _report(HostError(what, "for details, set DEBUG=1"), messages)

    return status


def _report(error: HostError, messages: "Messages") -> int:
    """Report an error of the command, and return its exit status."""
    for problem in error.others:
        messages.error(problem.what)
    messages.error(error.what, error.remedy)
    return error.status


def _hide_own_locale() -> None:
    """Remove the LC_CTYPE that Python itself sets in the C locale (PEP 538)."""
    if "LC_CTYPE" not in os.environ:
        return

    from host.caller import caller_environment

    if b"LC_CTYPE" not in caller_environment():
        del os.environ["LC_CTYPE"]


def call(
    target: "Any",
    called: str,
    args: list[str],
    reference: str,
) -> int:
    """Call `target` with `args`; a click command also gets the program name `called`.

    Returns the exit status: the integer that the callable returns, or 0 for None. Raises
    PluginError for any other result.
    """
    command = click_command(target)
    if command is not None:
        command.main(args=args, prog_name=called)
        return 0

    status = target(args)
    if status is None:
        return 0
    if not isinstance(status, int):
        kind = type(status).__name__
        what = f"it returned {kind}; expected an exit status or None"
        raise PluginError(Problem(reference, what))
    return shown_status(status)


def flush() -> None:
    try:
        if sys.stdout is not None:  # None if the caller closed stdout
            sys.stdout.flush()
    except ValueError:
        sys.stdout = None  # the command has closed or detached stdout, which flushed it


def reader_is_gone() -> bool:
    """Return whether stdout is a pipe whose reader has closed it."""
    import select

    poll = select.poll()
    poll.register(1, 0)
    closed = select.POLLERR | select.POLLHUP
    for _, event in poll.poll(0):
        if event & closed:
            return True
    return False


def drop_output() -> None:
    """Flush stdout, or discard its output if that fails; otherwise Python would retry at exit."""
    try:
        flush()
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
