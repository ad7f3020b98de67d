"""Make this process ready, and replace it with another program."""

import _signal  # not `signal`, which would import `enum`
import posix

from host.errors import CannotStartError, HostError, MissingError, Problem
from host.record_base import Record
from host.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NoReturn


_MOST_DESCRIPTORS = 1 << 16  # the usual limit of a process is lower
_REMEDIES = {  # error names, because importing `errno` takes half a percent of a run's time
    "E2BIG": "unset large variables, or give fewer arguments",
    "EACCES": "check its permissions, and that its file system is not mounted noexec",
    "ENOENT": "check that its interpreter exists",
}


class Exec(Record):
    """The arguments of `execve`: `path`, `argv` and the environment, as text.

    holds_interrupt   SIGINT is blocked until the new process unblocks it
    library           what CLI_HOST_INIT has behind the process id (see core/lib/init.sh), or "" for
                      a program that does not load the shell library
    """

    path: str
    argv: "Sequence[str]"
    env: "Mapping[str, str]"
    holds_interrupt: bool = False
    library: str = ""


def reserve_standard_descriptors() -> None:
    """Open /dev/null in place of each standard descriptor that the caller closed.

    Otherwise, the next file to be opened would become stdin, stdout or stderr. /dev/null is opened
    read-only, and is closed on exec. If it is missing, as in a bare chroot, the root directory
    takes its place, which can be neither read nor written.
    """
    flags = posix.O_RDONLY | posix.O_CLOEXEC
    descriptor = -1
    # a new descriptor always has the lowest free number
    while descriptor <= 2:
        try:
            descriptor = posix.open("/dev/null", flags)
        except OSError:
            descriptor = posix.open("/", flags)
    posix.close(descriptor)


def close_all_but(exceptions: "Iterable[int]") -> None:
    """Close all descriptors above 2 that are not in `exceptions`."""
    first = 3
    for descriptor in sorted(exceptions):
        if descriptor >= first:  # not a standard descriptor, and not given twice
            posix.closerange(first, descriptor)
            first = descriptor + 1
    posix.closerange(first, _MOST_DESCRIPTORS)


def restore_signals() -> None:
    """Reset SIGPIPE and SIGXFSZ, which Python ignores, so that a closed pipe ends a script.

    Python does not record whether the caller ignored them.
    """
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)


def send_signal(process: int, number: int) -> None:
    """Send a signal to a process; ignore a process that has ended or belongs to another user."""
    try:
        posix.kill(process, number)
    except (ProcessLookupError, PermissionError):
        pass


def execute(replacement: Exec) -> "NoReturn":
    """Replace this process with `replacement`. Raises HostError if the system refuses."""
    try:
        exec_now(replacement)
    except OSError as failure:
        raise start_error(replacement.path, failure) from None


def exec_now(replacement: Exec) -> "NoReturn":
    """Replace this process with `replacement`. Raises OSError if the system refuses."""
    path = encode(replacement.path)
    argv = [encode(word) for word in replacement.argv]
    environment = {}
    for name, value in replacement.env.items():
        environment[encode(name)] = encode(value)
    if replacement.library:
        # Set here, because only the process that becomes the command knows its id: the command may
        # be a child of the process that planned the run.
        process = posix.getpid()
        environment[b"CLI_HOST_INIT"] = encode(f"{process}:{replacement.library}")

    if replacement.holds_interrupt:
        _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGINT])
    posix.execve(path, argv, environment)


def start_error(path: str, failure: OSError) -> HostError:
    """Return the error for a program at `path` that the system refused to start."""
    from errno import errorcode

    name = errorcode.get(failure.errno or 0, "")
    problem = Problem(
        path,
        f"cannot be started: {failure.strerror}",
        _REMEDIES.get(name, ""),
    )
    if isinstance(failure, FileNotFoundError):
        return MissingError(problem)
    return CannotStartError(problem)
