"""What the history has of a run: the records of its start and its end, and where they are."""

import posix
import time

from host.agents import agent_of
from host.caller import is_ci
from host.files.paths import join
from host.launch.state_files import installation_name
from host.record_base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CRON = frozenset(["cron", "crond", "anacron"])
_MOST_ANCESTORS = 64

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
    origin      "terminal", "ci", "cron", "agent", "mcp", "fleet" or "script"
    outer       the id of the recorded run that started this one, or ""
    process     the id of the process that watches the run
    client      the assistant or other program that asked for the run, or {}
    masked      the positions of the arguments, from 0, in which something was masked
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
    masked: "Sequence[int]" = ()


class EndedRun(Record):
    """What the history knows when a run has ended.

    id         of the `StartedRun`
    seconds    how long it ran
    status     its exit status, as a shell shows it
    signal     the number of the signal that ended it, or 0
    hosts      for a run on several hosts, the result of each
    """

    id: str
    seconds: float
    status: int
    signal: int
    hosts: "Sequence[Mapping[str, str | int | float | None]]" = ()


def history_path(state: str, root: str) -> str:
    """Return the path of an installation's history.

    `state` is the directory for the program's own state.
    """
    return join(state, f"cli-host/history/{installation_name(root)}.sqlite3")


def new_id() -> str:
    return posix.urandom(6).hex()


def utc_time(seconds: float) -> str:
    """Return a time since 1970 as text with milliseconds, such as "2026-03-01T09:30:00.125Z"."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    milliseconds = int(seconds % 1 * 1000)
    return f"{whole}.{milliseconds:03d}Z"


def user_name() -> str:
    """Return the name of the account that this process runs as, or its number."""
    import pwd

    user = posix.getuid()
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


def origin_of(environ: "Mapping[str, str]") -> "tuple[str, Mapping[str, str]]":
    """Return what started this process, and the client: the agent's name, if it was an agent.

    It is the first that fits of "ci", "cron", "agent", "terminal" and "script". An agent may have a
    pseudo-terminal.
    """
    if is_ci(environ):
        return "ci", NO_CLIENT
    if _is_below_cron():
        return "cron", NO_CLIENT
    agent = agent_of(environ)
    if agent:
        return "agent", {"name": agent}
    # stdout may be a pipe or a file: the user still sits at the terminal.
    if posix.isatty(0) and posix.isatty(2):
        return "terminal", NO_CLIENT
    return "script", NO_CLIENT


def _is_below_cron() -> bool:
    from host.processes.process_stat import process_stat

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
