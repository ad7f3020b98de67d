"""Let only one run of a command go on at a time (the key `exclusive`).

The lock is a lock on a file, which the kernel releases when the last process that has the file open
ends, however it ends. The file says who holds the lock; that is for messages only.
"""

import fcntl
import posix
import time

from host.errors import HostError, Problem
from host.files.json_file import parse_json
from host.files.paths import dirname, join
from host.launch.history import user_name, utc_time
from host.launch.state_files import installation_name, make_directories
from host.text import encode, printable, value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_OWNER_ONLY = 0o600
_FIRST_DESCRIPTOR = 101  # above those that scripts use
_MOST_BYTES = 4096
_LONGEST_NAME = 255  # characters of a file's name; words and names of locks are ASCII
_LONGEST_START = 200
_MOST_ANCESTORS = 256


class BusyError(HostError):
    """Another run holds the lock of an exclusive command; the status is that of EX_TEMPFAIL."""

    status = 75


def locks_directory(state: str, root: str) -> str:
    """Return the directory of the lock files of the installation at `root`.

    `state` is the directory for the program's own state.
    """
    return join(state, f"cli-host/locks/{installation_name(root)}")


def lock_path(directory: str, words: "Sequence[str]", name: str = "") -> str:
    """Return the path of a lock file: of the command `words`, or of all commands with `name`."""
    # A command may be called as another one's lock, so the two kinds have different files.
    file = f"name {name}"
    if not name:
        command = " ".join(words)
        file = f"command {command}"

    # Each word has at most 64 characters, but a command may have many words.
    if len(file) > _LONGEST_NAME:
        file = f"{file[:_LONGEST_START]} {value_hash(file)}"
    return join(directory, file)


def take_lock(
    path: str, words: "Sequence[str]", waits: bool, announce: "Callable[[str], None]"
) -> int:
    """Return a descriptor that holds the lock at `path`.

    If another run holds it, wait for its end with `waits`, after a call of `announce` with one line
    of text. Otherwise raise BusyError, and also if that run has started this one, because it would
    wait forever.
    """
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        called = " ".join(words)
        process, holder = _holder(descriptor)
        reason = ""
        if _is_ancestor(process):
            reason = "it cannot start inside a run that holds the same lock"
        elif not waits:
            reason = "another run is in progress"
        if reason:
            posix.close(descriptor)
            raise BusyError(f"{called}: {reason} ({holder})") from None

        announce(f"{called}: waiting for another run to end ({holder})")
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    _write_holder(descriptor)
    return descriptor


def inheritable(descriptor: int) -> int:
    """Return a copy of `descriptor` that programs started from here inherit, above number 100."""
    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD, _FIRST_DESCRIPTOR)
    posix.close(descriptor)
    return copy


def _open(path: str) -> int:
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC
    # Neither a link nor a pipe that somebody has put in its place is used.
    flags |= posix.O_NOFOLLOW | posix.O_NONBLOCK
    try:
        try:
            return posix.open(path, flags, _OWNER_ONLY)
        except FileNotFoundError:
            make_directories(dirname(path))
            return posix.open(path, flags, _OWNER_ONLY)
    except OSError as failure:
        what = f"the lock of an exclusive command cannot be used: {failure.strerror}"
        raise HostError(Problem(path, what)) from None


def _write_holder(descriptor: int) -> None:
    """Write who holds the lock, as JSON; `json` is not imported for it."""
    start = utc_time(time.time())
    name = _without_quotes(user_name())
    host = _without_quotes(posix.uname().nodename)
    who = f'"user": "{name}", "host": "{host}"'
    text = f'{{{who}, "process": {posix.getpid()}, "start": "{start}"}}\n'
    try:
        posix.ftruncate(descriptor, 0)
        posix.pwrite(descriptor, encode(text), 0)
    except OSError:
        pass  # a full disk: the lock holds all the same, without the text for messages


def _without_quotes(text: str) -> str:
    return printable(text).replace('"', "")


def _holder(descriptor: int) -> "tuple[int, str]":
    """Return the process id of the holder, and who it is and since when, for a message."""
    try:
        fields = parse_json("lock", posix.pread(descriptor, _MOST_BYTES, 0))
        process = int(fields["process"])
        who = f"{fields['user']}@{fields['host']}, process {process}, since {fields['start']}"
    except (HostError, OSError, KeyError, TypeError, ValueError):
        return 0, "its file does not say who"
    return process, who


def _is_ancestor(process: int) -> bool:
    """Return whether `process` started this process, directly or through others."""
    from host.processes.process_stat import process_stat

    ancestor = posix.getppid()
    for _ in range(_MOST_ANCESTORS):
        if ancestor == process:
            return True
        if ancestor <= 1:
            return False

        stat = process_stat(ancestor)
        if stat is None:
            # Without /proc, a nested run fails or waits as any other run does.
            return False
        ancestor = stat.parent

    return False
