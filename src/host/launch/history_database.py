"""The file of the history: a SQLite database for each installation, which runs themselves write.

The parent of a recorded run opens it when the command has started, and a caller of `Program.record`
before it starts the command. If the file cannot be used, the run goes on unrecorded.
"""

import _sqlite3 as sqlite3  # not `sqlite3`, which would import `datetime`
import posix
import time

from host.caller import xdg_home
from host.errors import HostError, OperationError, Problem
from host.files.json_line import json_line
from host.launch.history_record import history_path, utc_time
from host.launch.state_files import open_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from host.launch.history_record import EndedRun, StartedRun
    from host.launch.plan import Run
    from host.messages import Messages

SCHEMA_VERSION = 2
# How long a locked database delays a run: its end, and its start, when the limit of its time and
# the signals for it wait, too.
BUSY_SECONDS = 10.0
_START_SECONDS = 0.5
JSON_COLUMNS = frozenset(["words", "arguments", "client", "hosts", "masked"])
_DAY = 86400  # seconds
_LONGEST_RUN = 30 * _DAY  # of a run that is not removed although it began too long ago
_FIRST_COLUMNS = """
    id TEXT PRIMARY KEY,
    start TEXT,
    seconds REAL,
    words TEXT,
    arguments TEXT,
    directory TEXT,
    user TEXT,
    host TEXT,
    version TEXT,
    plugin TEXT,
    status INTEGER,
    signal INTEGER,
    origin TEXT,
    client TEXT,
    hosts TEXT,
    outer TEXT,
    process INTEGER
"""
# The statements that make each version from the one before it.
_CHANGES = (
    (
        f"CREATE TABLE runs ({_FIRST_COLUMNS}) STRICT",
        "CREATE INDEX runs_by_start ON runs (start)",
    ),
    ("ALTER TABLE runs ADD COLUMN masked TEXT",),
)


class MomentaryError(OperationError):
    """The database is locked, or its disk is full: a moment later, it may be possible."""


class RunRecorder:
    """Writes a run to the history. Whatever goes wrong is one warning, and never stops a run.

    If the start cannot be written at once, it is written with the end.
    """

    def __init__(
        self, run: "Run", messages: "Messages", seconds: float = BUSY_SECONDS
    ) -> None:
        self._path = history_path_of(run)
        self._config = run.installation.config
        self._messages = messages
        self._seconds = seconds
        self._has_failed = False
        self._written: StartedRun | None = None

    def begin(self, started: "StartedRun") -> None:
        """Write the start of a run, or write it again; remove what is too old or too much."""
        self._written = None
        if self._has_failed:
            return
        try:
            self._insert(started.values(), _START_SECONDS)
            self._written = started
        except MomentaryError:
            pass  # `end` writes the start, too
        except OperationError as error:
            self._fail(error)

    def end(self, started: "StartedRun", ended: "EndedRun") -> None:
        """Write the end of a run, and `started` if that is not what `begin` has written."""
        if self._has_failed:
            return
        try:
            if started is self._written:
                self._update(ended.id, ended.values())
            else:
                self._insert({**started.values(), **ended.values()}, self._seconds)
        except OperationError as error:
            self._fail(error)

    def _insert(self, record: "Mapping[str, Any]", seconds: float) -> None:
        names, values = _columns(record)
        places = ", ".join(["?"] * len(names))
        updates = ", ".join([f"{name} = excluded.{name}" for name in names])
        statement = (
            f"INSERT INTO runs ({', '.join(names)}) VALUES ({places})"  # noqa: S608 - constants
            f" ON CONFLICT (id) DO UPDATE SET {updates}"
        )
        with HistoryFile(self._path, seconds) as connection, connection:
            connection.execute(statement, values)
            self._prune(connection)

    def _update(self, run_id: str, record: "Mapping[str, Any]") -> None:
        names, values = _columns(record)
        updates = ", ".join([f"{name} = ?" for name in names])
        statement = f"UPDATE runs SET {updates} WHERE id = ?"  # noqa: S608 - constants
        with HistoryFile(self._path, self._seconds) as connection, connection:
            connection.execute(statement, [*values, run_id])

    def _fail(self, error: OperationError) -> None:
        self._has_failed = True
        self._messages.warn(f"the run is not recorded: {error}")

    def _prune(self, connection: sqlite3.Connection) -> None:
        # Not those in progress: their ends are still to be written.
        oldest = max(0, time.time() - self._config.history_days * _DAY)
        connection.execute(
            "DELETE FROM runs WHERE start < ? AND (status IS NOT NULL OR start < ?)",
            [utc_time(oldest), utc_time(max(0, oldest - _LONGEST_RUN))],
        )
        connection.execute(
            "DELETE FROM runs WHERE start <"
            " (SELECT start FROM runs ORDER BY start DESC LIMIT 1 OFFSET ?)"
            " AND status IS NOT NULL",
            [self._config.history_runs - 1],
        )


def history_path_of(run: "Run") -> str:
    """Return the path of the history of a run's installation."""
    state = xdg_home(run.environ, "STATE")
    return history_path(state, run.installation.layout.root)


def knows_run(path: str, run_id: str) -> bool:
    """Return whether the history at `path` has a run with this id that has not ended."""
    if not posix.access(path, posix.R_OK):
        return False
    try:
        with HistoryFile(path) as connection:
            statement = "SELECT 1 FROM runs WHERE id = ? AND status IS NULL"
            return connection.execute(statement, [run_id]).fetchone() is not None
    except OperationError:
        return False


def _columns(record: "Mapping[str, Any]") -> "tuple[list[str], list[Any]]":
    """Return the columns of a record, and what SQLite stores in them."""
    values = []
    for name, value in record.items():
        if name in JSON_COLUMNS:
            values.append(json_line(value))
        elif isinstance(value, str):
            # Bytes that are not UTF-8 are shown as escapes such as `\udce9`. The backslash of a
            # text that looks like one becomes an escape, too.
            text = value.replace("\\udc", "\\udc5cudc")
            values.append(text.encode("utf-8", "backslashreplace").decode())
        else:
            values.append(value)
    return [*record], values


class HistoryFile:
    """An open history, as a context. `path` is that of the database.

    Errors, also those inside the context, become OperationErrors: the database is locked, damaged,
    full, somebody else's, or written by a newer version of the program.
    """

    def __init__(self, path: str, seconds: float = BUSY_SECONDS) -> None:
        self._path = path
        self._seconds = seconds
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> sqlite3.Connection:
        try:
            # SQLite would follow a link, and make a file that others can read.
            posix.close(open_own(self._path))
            self._connection = sqlite3.connect(self._path, timeout=self._seconds)
            self._prepare(self._connection)
        except (sqlite3.Error, OSError, HostError) as failure:
            self._close()
            raise self._error(failure) from None
        return self._connection

    def __exit__(
        self, kind: object, failure: BaseException | None, trace: object
    ) -> None:
        self._close()
        if isinstance(failure, sqlite3.Error | OSError):
            raise self._error(failure) from None

    def _error(self, failure: Exception) -> OperationError:
        if isinstance(failure, HostError):
            return OperationError(failure.problem)

        what = str(failure)
        if isinstance(failure, OSError):
            what = failure.strerror or what
        what = f"the history cannot be used: {what}"
        if isinstance(failure, sqlite3.OperationalError):
            return MomentaryError(Problem(self._path, what))
        remedy = ""
        if isinstance(failure, sqlite3.DatabaseError):
            remedy = "move the file away to begin a new history"
        return OperationError(Problem(self._path, what, remedy))

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Bring an older or empty database to this version. Raises OperationError for a newer."""
        [version] = connection.execute("PRAGMA user_version").fetchone()
        if version == SCHEMA_VERSION:
            return
        if version > SCHEMA_VERSION:
            versions = f"schema {version}, this program knows {SCHEMA_VERSION}"
            what = f"was written by a newer version ({versions})"
            raise OperationError(Problem(self._path, what, "update this program"))

        with connection:
            connection.execute("BEGIN IMMEDIATE")
            # Another run may have been faster.
            [version] = connection.execute("PRAGMA user_version").fetchone()
            for changes in _CHANGES[version:]:
                for statement in changes:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
