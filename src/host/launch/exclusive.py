"""Let only one run of a command go on at a time (the key `exclusive`).

The lock is a lock on a file, which the kernel releases when the last process that has the file open
ends, however it ends. The file says who holds the lock; that is for messages only.
"""

import fcntl
import posix
import time

from host.errors import HostError, Problem
from host.files.json_file import parse_json
from host.files.paths import join
from host.launch.history_record import user_name, utc_time
from host.launch.state_files import installation_name, open_own
from host.record_base import Record
from host.text import encode, printable, quoted, value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FIRST_DESCRIPTOR = 101  # above those that scripts use
_MOST_BYTES = 4096
_LONGEST_NAME = 255  # characters of a file's name; words and names of locks are ASCII
_LONGEST_START = 200
_MOST_ANCESTORS = 256
_LARGEST_PROCESS = 1 << 30


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
    path: str,
    words: "Sequence[str]",
    announce: "Callable[[str], None]",
    *,
    waits: bool,
    is_inside: bool,
) -> int:
    """Return a descriptor that holds the lock at `path`.

    If another run holds it, wait for its end with `waits`, after a call of `announce` with one line
    of text. Otherwise raise BusyError. `is_inside` says whether this run is inside another run: if
    that is the holder, this raises BusyError, too, because it would wait forever.
    """
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        called = " ".join(words)
        holder = _holder(descriptor)
        reason = ""
        if is_inside and holder.is_ancestor:
            reason = "it cannot start inside a run that holds the same lock"
        elif not waits:
            reason = "another run is in progress"
        if reason:
            posix.close(descriptor)
            raise BusyError(f"{called}: {reason} ({holder.shown(path)})") from None

        announce(f"{called}: waiting for another run to end ({holder.shown(path)})")
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    _write_holder(descriptor)
    return descriptor


def inheritable(descriptor: int) -> int:
    """Return a copy of `descriptor` that programs started from here inherit, above number 100.

    If the limit of open files is lower, the copy has the next free number.
    """
    try:
        copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD, _FIRST_DESCRIPTOR)
    except OSError:
        copy = posix.dup(descriptor)
        posix.set_inheritable(copy, True)
    posix.close(descriptor)
    return copy


def _open(path: str) -> int:
    try:
        return open_own(path)
    except OSError as failure:
        what = f"the lock of an exclusive command cannot be used: {failure.strerror}"
        raise HostError(Problem(path, what)) from None
    except HostError as error:
        what = (
            f"the lock of an exclusive command cannot be used: it {error.problem.text}"
        )
        raise HostError(Problem(path, what, error.remedy)) from None


def _write_holder(descriptor: int) -> None:
    """Write who holds the lock, as JSON; `json` is not imported for it."""
    start = utc_time(time.time())
    name = _without_quotes(user_name())
    host = _host_name()
    who = f'"user": "{name}", "host": "{host}"'
    text = f'{{{who}, "process": {posix.getpid()}, "start": "{start}"}}\n'
    try:
        posix.ftruncate(descriptor, 0)
        posix.pwrite(descriptor, encode(text), 0)
    except OSError:
        pass  # a full disk: the lock holds all the same, without the text for messages


def _host_name() -> str:
    return _without_quotes(posix.uname().nodename)


def _without_quotes(text: str) -> str:
    return printable(text).replace('"', "")


class _Holder(Record):
    """Who holds a lock, as its file says: the id of a process, or 0, its user, host and start."""

    process: int = 0
    user: str = ""
    host: str = ""
    start: str = ""

    def shown(self, path: str) -> str:
        """Return who this is and since when, for a message."""
        if not self.process:
            return "its file does not say who"

        process = f"process {self.process}"
        if self._has_ended:
            process += f", which has ended; what it started holds {quoted(path)}"
        return f"{self.user}@{self.host}, {process}, since {self.start}"

    @property
    def _is_here(self) -> bool:
        """Whether the process is on this machine; containers have names of their own."""
        return self.host == _host_name()

    @property
    def _has_ended(self) -> bool:
        if not self._is_here:
            return False
        try:
            posix.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass  # a process of another user
        return False

    @property
    def is_ancestor(self) -> bool:
        """Whether the process has started this process, directly or through others."""
        from host.processes.process_stat import process_stat

        if not self._is_here:
            return False

        ancestor = posix.getppid()
        for _ in range(_MOST_ANCESTORS):
            if ancestor == self.process:
                return True
            if ancestor <= 1:
                return False

            stat = process_stat(ancestor)
            if stat is None:
                # Without /proc, a nested run fails or waits as any other run does.
                return False
            ancestor = stat.parent
        return False


def _holder(descriptor: int) -> _Holder:
    try:
        fields = parse_json("lock", posix.pread(descriptor, _MOST_BYTES, 0))
        return _Holder(
            process=_process_id(fields["process"]),
            user=str(fields["user"]),
            host=str(fields["host"]),
            start=str(fields["start"]),
        )
    except (HostError, OSError, KeyError, TypeError, ValueError):
        return _Holder()


def _process_id(value: object) -> int:
    """Return an id of a process. Raises ValueError for anything else, such as 1e400."""
    if type(value) is not int or not 0 < value <= _LARGEST_PROCESS:
        raise ValueError
    return value
