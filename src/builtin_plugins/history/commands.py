"""`self history`, and the commands below it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from builtin_plugins.history.page import (
    MASK,
    SHORT_ID,
    command_line,
    duration,
    json_of,
    table,
)
from builtin_plugins.self_commands.decorator import (
    FORMAT,
    YES,
    argument,
    self_command,
    text,
)
from host import OperationError, Program, UsageError, printable
from host.caller import xdg_home
from host.launch.history_record import history_path
from host.launch.plan import find_named
from host.session.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from builtin_plugins.history.read_database import RunStore

_ID = argument("id", required=True, complete="builtin_plugins.history.run_ids:run_ids")
_LIMIT = {
    **text("--limit", "N", "At most N runs; 0 means all."),
    "type": "integer",
    "pattern": "[0-9]{1,9}",
    "default": "50",
}
_NOT_ASKED = "not asked"  # the consent of an assistant's call that could not run
_NO_LIMIT = -1  # in SQLite
_ORIGINS = ["terminal", "ci", "cron", "agent", "mcp", "fleet", "script"]
# A byte of a path, as the history has it: see `host.launch.history_database`.
_BYTE = re.compile(r"\\udc(5c|[89a-f][0-9a-f])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@self_command(
    "history",
    "Show recorded runs",
    argument(
        "words...",
        "A category or command (default: all).",
        complete="host.tab.candidates:command_words",
    ),
    argument("--failed", "Only runs with a status other than 0."),
    argument("--running", "Only runs that have not ended."),
    text("--since", "TIME", "Only runs since TIME: 90m, 12h, 7d, or a date."),
    argument(
        "--origin", "Only runs that this started.", value="ORIGIN", choices=_ORIGINS
    ),
    _LIMIT,
    FORMAT,
)
def history(  # noqa: PLR0917 - one for each option
    session: Session,
    words: tuple[str, ...],
    failed: bool,
    running: bool,
    since: str | None,
    origin: str | None,
    limit: float,
    format: str,
) -> None:
    """Show the recorded runs, newest first: when, who, which command, how long, and its result.

    WORDS limit the runs to one category or command. A run is recorded if its command.json, a
    category.json, project.json or cli.json has "record": true, or if CLI_RECORD=1 is set.
    """
    start = None
    if since:
        start = _since(since)
    runs = run_store(session).select(
        words,
        failed=failed,
        running=running,
        since=start,
        origin=origin,
        limit=int(limit) or _NO_LIMIT,
    )
    if running:
        # The process of a run without an end may have been killed.
        runs = [run for run in runs if _is_alive(run)]

    if format == "json":
        rows = [json_of(run) for run in runs]
        session.show_json({"runs": rows})
    elif runs:
        states = {run["id"]: _state(run) for run in runs}
        lines = table(runs, session.terminal, session.program, states)
        text = "\n".join(lines)
        session.show(f"{text}\n")
    elif words:
        session.show_lines("no recorded runs of these words")
    else:
        session.show_lines("no recorded runs")


@self_command("history show", "Show everything about a recorded run", _ID, FORMAT)
def history_show(session: Session, id: str, format: str) -> None:
    """Show everything that is recorded about a run. The beginning of its id is enough."""
    run = _find(session, id)
    if format == "json":
        session.show_json(json_of(run))
        return

    facts = _facts(session.program, run)
    names = [name for name, value in facts.items() if value]
    width = max(map(len, names)) + 1
    styled = session.terminal.styled
    for name in names:
        gap = " " * (width - len(name))
        value = printable(str(facts[name]))
        session.show(f"{styled(name, 'name')}:{gap}{value}\n")

    for result in run["hosts"] or ():
        session.show_lines(f"  {_pairs(result)}")


def _facts(program: str, run: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `history show` prints of a run; a fact without a value is left out there."""
    time = ""
    if run["seconds"] is not None:
        time = duration(run["seconds"])
    client = ""
    if run["client"] is not None:
        client = _pairs(run["client"])

    return {
        "id": run["id"],
        "command": command_line(program, run),
        "start": run["start"],
        "time": time,
        "status": _state(run),
        "directory": run["directory"],
        "user": f"{run['user']}@{run['host']}",
        "origin": run["origin"],
        "client": client,
        "plugin": run["plugin"],
        "version": run["version"],
        "outer run": run["outer"],
        "masked": _masked(run),
    }


def _masked(run: Mapping[str, Any]) -> str:
    """Return which arguments were masked, such as "arguments 1 and 3", or ""."""
    positions = run["masked"]
    if positions is None:
        # A version of the program that did not write this has recorded the run.
        positions = []
        for position, argument in enumerate(run["arguments"]):
            if MASK in argument or "…" in argument:
                positions.append(position)
    if not positions:
        return ""

    *others, last = [str(position + 1) for position in positions]
    if not others:
        return f"argument {last}"
    return f"arguments {', '.join(others)} and {last}"


def _pairs(values: Mapping[str, Any]) -> str:
    pairs = []
    for key, value in values.items():
        if value is not None:
            pairs.append(f"{key}: {value}")
    return ", ".join(pairs)


@self_command("history rerun", "Run a recorded command again", _ID, YES)
def history_rerun(session: Session, id: str, yes: bool) -> int:
    """Run a recorded command again, with its arguments and in its directory.

    A run with masked arguments cannot be repeated.
    """
    run = _find(session, id)
    line = command_line(session.program, run)
    if run["origin"] == "fleet" or run["hosts"]:
        what = f"{run['id'][:SHORT_ID]} ran on other machines, not on this one: {line}"
        raise OperationError(what, f"{session.program} fleet run --on HOSTS …")
    if (run["client"] or {}).get("confirmation") == _NOT_ASKED:
        what = f"{run['id'][:SHORT_ID]} was refused and did not run: {line}"
        raise OperationError(what, "run the command by hand")
    masked = _masked(run)
    if masked:
        short_id = run["id"][:SHORT_ID]
        what = f"{short_id}: {masked} had a secret, which is not recorded: {line}"
        raise OperationError(what, "run the command by hand")

    launcher = os.path.abspath(sys.argv[0])
    if not os.access(launcher, os.X_OK):  # python -m host
        launcher = Program(session).executable
    directory = _BYTE.sub(_decoded_byte, run["directory"])
    try:
        os.chdir(directory)  # it decides which projects have commands
    except OSError as failure:
        raise OperationError(f"{run['directory']}: {failure.strerror}") from None

    words = tuple(run["words"])
    match, _ = find_named((*words, *run["arguments"]), session.catalog)
    # If it has moved, its owner says where to, and a run warns.
    recorded = session.catalog.follow(session.catalog.find(words))
    if match.kind != "unknown" and match.words not in (words, recorded.words):
        what = f"{line} is now another command: {' '.join(match.words)}"
        raise OperationError(what, "run the command by hand")

    question = f"Run {line} in {run['directory']}?"
    session.ask_to_continue(question, yes, "nothing was run", required=True)

    argv = [launcher, *words, *run["arguments"]]
    os.execve(launcher, argv, dict(session.environ))


def _decoded_byte(escape: re.Match[str]) -> str:
    return bytes.fromhex(escape[1]).decode("utf-8", "surrogateescape")


@self_command("history clear", "Delete all recorded runs", YES)
def history_clear(session: Session, yes: bool) -> None:
    """Delete all recorded runs but those that are still in progress, perhaps on another machine."""
    store = run_store(session)
    question = "Delete the history of this installation?"
    session.ask_to_continue(question, yes, "nothing was deleted")

    here = os.uname().nodename
    lost = []
    for run in store.select(running=True):
        if run["host"] == here and not _is_alive(run):
            lost.append(run["id"])
    session.show_lines(f"deleted {store.clear(lost)} runs")


def run_store(session: Session) -> RunStore:
    """Return the history of the session's installation.

    Raises OperationError if this Python was built without SQLite.
    """
    try:
        # Imported here, because the commands are declared whenever the lock is built.
        from builtin_plugins.history.read_database import RunStore
    except ModuleNotFoundError as missing:
        what = f"the history needs SQLite, which this Python lacks ({missing})"
        remedy = f"use another Python than {sys.executable}"
        raise OperationError(what, remedy) from None

    state = xdg_home(session.environ, "STATE")
    return RunStore(history_path(state, session.layout.root))


def _find(session: Session, beginning: str) -> Mapping[str, Any]:
    runs = run_store(session).find(beginning.lower())
    if len(runs) == 1:
        return runs[0]

    if not runs:
        what = f"no recorded run has an id that begins with {beginning}"
    else:
        what = f"{len(runs)} recorded runs have ids that begin with {beginning}"
    raise UsageError(what, f"see: {session.program} self history")


def _since(text: str) -> str:
    """Return the time in UTC that `text` means: `90m`, `1d`, or a date such as 2026-03-01."""
    duration_match = re.fullmatch(r"(\d{1,6})([smhdw])", text)
    try:
        if duration_match:
            number, unit = duration_match.groups()
            seconds = int(number) * _UNITS[unit]
            moment = datetime.now(UTC) - timedelta(seconds=seconds)
        else:
            moment = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        remedy = "use a number with s, m, h, d or w (such as 12h), or a date such as 2026-03-01"
        raise UsageError(f"--since: {text} is no time", remedy) from None

    return moment.strftime("%Y-%m-%dT%H:%M:%S")


def _state(run: Mapping[str, Any]) -> str:
    """Return how a run ended as one word, such as `0`, `1`, `SIGTERM`, `running` or `lost`."""
    import signal

    if run["status"] is None:
        if _is_alive(run):
            return "running"
        return "lost"
    if run["signal"]:
        try:
            return signal.Signals(run["signal"]).name
        except ValueError:
            return f"signal {run['signal']}"
    return str(run["status"])


def _is_alive(run: Mapping[str, Any]) -> bool:
    """Return whether the process that watches the run still exists on this machine."""
    if run["status"] is not None:
        return False
    if run["host"] != os.uname().nodename:
        return False
    try:
        os.kill(run["process"], 0)
    except ProcessLookupError:
        return False
    except (PermissionError, TypeError, OverflowError):
        pass  # a process of another user, or a number that somebody has edited
    return True
