"""The file in which a command with `"shell": true` leaves lines for the calling shell.

`self completion` installs a shell function that passes `--shell-file FILE` and evaluates the file
after the run. Only a run of such a command makes the file, so other runs cost the function nothing.
"""

import _stat
import posix

from host.caller import RUN
from host.errors import OperationError, Problem
from host.files.paths import basename, dirname
from host.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.catalog.definition import Definition

OPTION = "--shell-file"
IN_PROJECT = "a command of a project cannot change the calling shell"
_SHELLS = ("bash", "zsh", "fish")  # those whose completion has the function


def check_shell(
    words: "tuple[str, ...]",
    definition: "Definition",
    caller: "Mapping[str, str]",
    program: str,
    shell_file: str,
) -> None:
    """Raise OperationError if the calling shell cannot evaluate what the command writes.

    `shell_file` is the file that the shell's function reads, or "" without that function.
    """
    called = " ".join(words)
    if definition.project is not None:
        raise OperationError(Problem(definition.file, IN_PROJECT, key="shell"))
    if RUN in caller:
        what = f"{called}: changes the calling shell, so it cannot run inside another command"
        raise OperationError(what)

    if not shell_file:
        shell = basename(caller.get("SHELL", ""))
        if shell not in _SHELLS:
            shell = "|".join(_SHELLS)
        raise OperationError(
            f"{called}: changes the calling shell, which has no function for {program} yet",
            f"run: {program} self completion {shell} --install, and open a new shell",
        )


def make_shell_file(path: str) -> None:
    """Make an empty file that only the user can read, or empty such a file.

    Raises OperationError if the path belongs to somebody else, because the shell would evaluate
    what they write.
    """
    try:
        _make_directory(dirname(path))
        flags = posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC
        # A link could lead to another file, and opening a FIFO could wait forever.
        flags |= posix.O_NOFOLLOW | posix.O_NONBLOCK
        descriptor = posix.open(encode(path), flags, 0o600)
        try:
            if not _is_private(posix.fstat(descriptor)):
                what = f"{OPTION}: must be a file that only you can read and write"
                raise OperationError(Problem(path, what))
            posix.ftruncate(descriptor, 0)
        finally:
            posix.close(descriptor)
    except OSError as failure:
        raise OperationError(Problem(path, f"{OPTION}: {failure.strerror}")) from None


def _is_private(status: posix.stat_result) -> bool:
    """Return whether a file is a regular one that only the user can read and write."""
    if not _stat.S_ISREG(status.st_mode):
        return False
    if status.st_uid != posix.geteuid():
        return False
    if status.st_nlink != 1:
        return False  # a second link would be the name of another file of the user
    return status.st_mode & 0o077 == 0


def _make_directory(path: str) -> None:
    """Make a directory and those above it that are missing, for the user only."""
    missing = []
    while True:
        try:
            posix.lstat(encode(path))
            break
        except FileNotFoundError:
            missing.append(path)
            path = dirname(path)

    for folder in reversed(missing):
        try:
            posix.mkdir(encode(folder), 0o700)
        except FileExistsError:
            pass  # another run has made it
