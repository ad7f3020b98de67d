"""Write the history of runs: one line when a run starts, and one when it ends.

The lines go to a spool file, because appending a line to a file takes a tenth of a millisecond, and
fails only if the disk does. `self history` moves them into a database, which may be
locked or damaged without harm to a run.

A line is a JSON object with the `id` of its run. A line that starts a run has `words`; a line that
ends a run has `status`. Lines are separated by at least one newline, so that the rest of an
interrupted line damages no other line.
"""

import _json
import posix
import time

from host.run.files import basename, dirname, join
from host.run.record import Record
from host.run.text import encode, value_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEPT_BYTES = 64 << 10  # of the output of a run
TAIL_BYTES = 2 * KEPT_BYTES  # read first: secrets are masked before the end is cut off

_OWNER_ONLY = 0o600
_CRON = frozenset(["cron", "crond", "anacron"])
_MOST_ANCESTORS = 64
_LOCK_ATTEMPTS = 50
_LOCK_SECONDS = 0.002  # between two attempts


NO_CLIENT: "Mapping[str, str]" = {}


class StartedRun(Record):
    """What the history knows when a run starts.

    id          12 hexadecimal digits
    start       the time in UTC, such as "2026-03-01T09:30:00.125Z"
    words       the words of the command
    arguments   its arguments, with `********` in place of secret values
    directory   the current directory
    user, host  the name of the account, and of the machine
    version     the version in cli.json
    plugin      the plugin that provides the command, or ""
    origin      "terminal", "ci", "cron", "mcp", "fleet" or "script"
    outer       the id of the recorded run that started this one, or ""
    process     the id of the process that watches the run
    client      the assistant or other program that asked for the run, or {}
    """

    id: str
    start: str
    words: "Sequence[str]"
    arguments: "Sequence[str]"
    directory: str
    user: str
    host: str
    version: str
    plugin: str
    origin: str
    outer: str
    process: int
    client: "Mapping[str, str]" = NO_CLIENT


class EndedRun(Record):
    """What the history knows when a run has ended.

    id         of the `StartedRun`
    seconds    how long it ran
    status     its exit status, as a shell shows it
    signal     the number of the signal that ended it, or 0
    output     the end of its output, or "" if output is not recorded
    hosts      for a run on several hosts, the result of each
    """

    id: str
    seconds: float
    status: int
    signal: int
    output: str = ""
    hosts: "Sequence[Mapping[str, str | int | float | None]]" = ()


def history_path(state: str, root: str) -> str:
    """Return the path of an installation's history without its extension.

    `state` is the directory for the program's own state. The files are `PATH.spool` and
    `PATH.sqlite3`.
    """
    return join(state, f"cli-host/history/{installation_name(root)}")


def installation_name(root: str) -> str:
    """Return a file name for the installation at `root`: its name and 8 digits of a hash."""
    return f"{basename(root) or 'root'}-{value_hash(root)}"


def new_id() -> str:
    return posix.urandom(6).hex()


def utc_time(seconds: float) -> str:
    """Return a time since 1970 as text with milliseconds, such as "2026-03-01T09:30:00.125Z"."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"


def user_name() -> str:
    """Return the name of the account that this process runs as, or its number."""
    import pwd

    user = posix.getuid()
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def origin_of(is_ci: bool) -> str:
    """Return what started this process: "ci", "terminal", "cron" or "script"."""
    if is_ci:
        return "ci"
    if posix.isatty(0) and posix.isatty(2):
        return "terminal"
    return "cron" if _is_below_cron() else "script"


def _is_below_cron() -> bool:
    from host.run.process_stat import process_stat

    process = posix.getppid()
    for _ in range(_MOST_ANCESTORS):
        stat = process_stat(process)
        if stat is None:
            return False
        if stat.name in _CRON:
            return True
        if stat.parent <= 1:
            return False
        process = stat.parent

    return False


def append_line(path: str, record: "StartedRun | EndedRun") -> tuple[int, int]:
    """Append a record to the spool file at `path`; return its sizes before and after that.

    Raises OSError.

    The reader of the spool renames it, then reads it. If that happened before the line was written,
    the line may have been too late for the reader, so it is written once more, to the new spool. A
    line that is read twice does no harm.
    """
    line = encode(f"\n{_json_of(record.values())}\n")
    while True:
        descriptor = _open(path)
        try:
            lock_spool(descriptor)
            written = posix.write(descriptor, line)
            if written != len(line):
                raise OSError(
                    f"{path}: only {written} of {len(line)} bytes were written"
                )
            if _is_still(path, descriptor):
                size = posix.fstat(descriptor).st_size
                return size - written, size
        finally:
            posix.close(descriptor)


def lock_spool(descriptor: int) -> None:
    """Lock an open spool file for its next change, if that is possible at once.

    On a local disk, appending a line needs no lock. On NFS, two hosts could write to the same
    place. The lock is held for microseconds, so whoever holds it longer must not stop a run.
    """
    for _ in range(_LOCK_ATTEMPTS):
        try:
            posix.lockf(
                descriptor, posix.F_TLOCK, 0
            )  # unlike `flock`, it needs no import
        except OSError as failure:
            if not isinstance(failure, BlockingIOError | PermissionError):
                return  # a file system without locks
            time.sleep(_LOCK_SECONDS)
        else:
            return


def _open(path: str) -> int:
    flags = (
        posix.O_WRONLY
        | posix.O_APPEND
        | posix.O_CREAT
        | posix.O_CLOEXEC
        | posix.O_NOFOLLOW
    )
    try:
        return posix.open(path, flags | posix.O_NONBLOCK, _OWNER_ONLY)
    except FileNotFoundError:
        make_directories(dirname(path))
        return posix.open(path, flags | posix.O_NONBLOCK, _OWNER_ONLY)


def make_directories(path: str) -> None:
    """Make a directory of the program's own state, and those above it that are missing."""
    missing = []
    while True:
        try:
            posix.mkdir(path, 0o700)
            break
        except FileExistsError:
            break
        except FileNotFoundError:
            missing.append(path)
            path = dirname(path)
    for directory in reversed(missing):
        try:
            posix.mkdir(directory, 0o700)
        except FileExistsError:
            pass  # another run has made it


def _is_still(path: str, descriptor: int) -> bool:
    """Return whether `path` still names the open file `descriptor`."""
    try:
        named = posix.stat(path)
    except FileNotFoundError:
        return False
    opened = posix.fstat(descriptor)
    return (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino)


def _json_of(value: object) -> str:
    """Return a value as JSON. Importing `json` would take as long as half a run."""
    if isinstance(value, str):
        return _json.encode_basestring_ascii(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if hasattr(value, "items"):
        pairs = [
            f"{_json_of(str(key))}:{_json_of(item)}" for key, item in value.items()
        ]
        return "{" + ",".join(pairs) + "}"
    return "[" + ",".join([_json_of(item) for item in value]) + "]"  # type: ignore[attr-defined]
