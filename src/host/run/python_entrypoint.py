"""`python -m host.run.python_entrypoint LABEL module:attr ARGS…`: a command written in Python."""

import _signal
import os
import sys

if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # until the command's own code is there
if "unblock_interrupt" in sys._xoptions:  # noqa: SLF001 - held back while this Python started
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGINT])

from host.errors import HostError, PluginError
from host.run.importing import load_reference
from host.run.interrupts import RaisedInterrupts, die_of
from host.run.process import asks_help, caller_environment
from host.run.text import Messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What a launcher does, for a program's name that is no path.
_PROGRAM = "import sys; del sys.argv[0]; from host.__main__ import main; sys.exit(main())"


def main(argv: list[str]) -> int:
    """Call the referenced click command or callable with ARGS; return its exit status.

    What it raises is told in one line, or with DEBUG on as a traceback.
    """
    label, reference, *args = argv
    sys.argv = [label, *args]  # by what name it was called, as programs expect it
    if b"LC_CTYPE" not in caller_environment():  # what it starts gets none either
        os.environ.pop("LC_CTYPE", None)
    messages = Messages(label, os.environ)
    try:
        with RaisedInterrupts():
            target = load_reference(reference)
            if asks_help(args) and not target_answers_help(target, reference):
                become_help_page(label)
            status = call(target, label, args, reference)
            flush()
    except HostError as error:
        messages.error(error.what, error.remedy)
        return error.status
    except KeyboardInterrupt:
        return die_of(_signal.SIGINT)
    except Exception as failure:
        if isinstance(failure, BrokenPipeError) and reader_is_gone():
            return die_of(_signal.SIGPIPE)
        drop_output()
        if messages.debugging:
            raise
        messages.error(f"{type(failure).__name__}: {failure}", "DEBUG=1 shows where")
        return HostError.status
    return status


def is_click_command(target: "Any") -> bool:
    return hasattr(target, "main") and hasattr(target, "make_context")


def target_answers_help(target: "Any", reference: str) -> bool:
    """Tell whether `--help` is for the target: click answers it, or its module speaks of it."""
    if is_click_command(target):
        return True
    file = getattr(sys.modules[reference.partition(":")[0]], "__file__", None) or ""
    try:
        with open(file, "rb") as module:
            content = module.read()
    except OSError:
        return False
    return b"--help" in content or b"ArgumentParser" in content


def call(target: "Any", label: str, args: list[str], reference: str) -> int:
    """Call a click command as the program `label`, or another callable with the arguments.

    A callable returns an exit status; None stands for 0. Raises PluginError for anything else.
    """
    if is_click_command(target):
        target.main(args=args, prog_name=label)
        return 0
    status = target(args)
    if status is None:
        return 0
    if not isinstance(status, int):
        kind = type(status).__name__
        raise PluginError(f"{reference}: it returned {kind}; expected an exit status, or None")
    return status % 256 or int(status != 0)  # the system keeps the lowest eight bits


def become_help_page(label: str) -> None:
    """Let the program show the command's page: a callable has none of its own."""
    from host.run.installation import words_of_run

    words = words_of_run(os.environ)
    program = label.removesuffix(" ".join(["", *words]))
    # Without COMMAND_NAME this is no command's run, and CLI_DIR names the installation.
    env = {name: value for name, value in os.environ.items() if name != "COMMAND_NAME"}
    argv = [sys.executable, "-I", "-c", _PROGRAM, program, "help", *words]
    os.execve(sys.executable, argv, env)


def flush() -> None:
    try:
        if sys.stdout is not None:  # it is when the caller closed it
            sys.stdout.flush()
    except ValueError:
        sys.stdout = None  # the command closed or detached it, which flushed


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
