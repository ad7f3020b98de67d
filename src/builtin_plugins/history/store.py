"""The database of runs.

Runs append lines to the spool (see `host.launch.spool`). `RunStore.import_spool` moves them
into SQLite: it renames the spool, and removes the renamed file after the commit. If it is
interrupted, the next import reads the renamed file again; a run that is already in the database is
written once more with the same values. So no row is lost, and none is doubled.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

from builtin_plugins.history.spool import (
    COLUMNS,
    is_run,
    read_records,
    spooled_files,
    take_spool,
)
from host import OperationError, Problem

SCHEMA_VERSION = 1
_BUSY_SECONDS = 5.0
_JSON_COLUMNS = frozenset(["words", "arguments", "client", "hosts"])
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
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
    output TEXT,
    process INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS runs_by_start ON runs (start);
"""


class RunStore:
    """The history of one installation. `path` is the path of its files without an extension.

    All methods raise OperationError if the database is locked, damaged, read-only, or written by a
    newer version of the program.
    """

    def __init__(self, path: str) -> None:
        self.spool = f"{path}.spool"
        self.database = f"{path}.sqlite3"

    def import_spool(self) -> bool:
        """Move all lines of the spool into the database; return whether there were any."""
        if not os.path.lexists(self.spool) and not spooled_files(self.spool):
            return False

        with self._connection() as connection:
            take_spool(self.spool)
            files = spooled_files(self.spool)
            with connection:  # commits at its end
                for file in files:
                    for record in read_records(file):
                        _upsert(connection, record)

            # Removed after the commit, so that no line is lost.
            for file in files:
                with suppress(FileNotFoundError):
                    os.unlink(file)
        return True

    def prune(self, runs: int, days: int, now: str) -> None:
        """Delete all but the newest `runs` runs, and those that started `days` before `now`."""
        with self._connection() as connection, connection:
            connection.execute(
                "DELETE FROM runs WHERE julianday(start) < julianday(?) - ?",
                (now, days),
            )
            connection.execute(
                "DELETE FROM runs WHERE id IN"
                " (SELECT id FROM runs ORDER BY start DESC, rowid DESC LIMIT -1 OFFSET ?)",
                (runs,),
            )

    def select(
        self,
        words: Sequence[str] = (),
        *,
        failed: bool = False,
        running: bool = False,
        since: str | None = None,
        origin: str | None = None,
        limit: int = -1,
    ) -> list[dict[str, Any]]:
        """Return the runs that match all conditions, newest first.

        `words` are the first words of the command. `since` is a time in UTC. A `running` run has no
        end yet; `failed` runs have a status other than 0. A `limit` of -1 means all.
        """
        conditions = ["start IS NOT NULL"]
        values: list[Any] = []
        if failed:
            conditions.append("status IS NOT NULL AND status <> 0")
        if running:
            conditions.append("status IS NULL")
        if since:
            conditions.append("start >= ?")
            values.append(since)
        if origin:
            conditions.append("origin = ?")
            values.append(origin)
        for position, word in enumerate(words):
            conditions.append(f"json_extract(words, '$[{position}]') = ?")
            values.append(word)

        return self._query(conditions, values, limit)

    def find(self, beginning: str) -> list[dict[str, Any]]:
        """Return the runs whose ids begin with `beginning`, newest first."""
        conditions = ["start IS NOT NULL", "substr(id, 1, ?) = ?"]
        return self._query(conditions, [len(beginning), beginning], -1)

    def clear(self) -> int:
        """Delete all runs that have ended; return how many."""
        with self._connection() as connection, connection:
            statement = "DELETE FROM runs WHERE status IS NOT NULL"
            deleted = connection.execute(statement)
            return deleted.rowcount

    def _query(
        self, conditions: Iterable[str], values: Sequence[Any], limit: int
    ) -> list[dict[str, Any]]:
        if not os.path.lexists(self.database):
            return []

        columns = ", ".join(COLUMNS)
        condition = " AND ".join(conditions)
        statement = (
            f"SELECT {columns} FROM runs"  # noqa: S608 - constants of this module
            f" WHERE {condition} ORDER BY start DESC, rowid DESC LIMIT ?"
        )
        with self._connection() as connection:
            rows = connection.execute(statement, (*values, limit)).fetchall()
            return [_run_of(row) for row in rows]

    def _connection(self) -> _Opened:
        return _Opened(self.database)


class _Opened:
    """An open database as a context; errors of SQLite become OperationErrors."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> sqlite3.Connection:
        try:
            folder = os.path.dirname(self._path)
            os.makedirs(folder, mode=0o700, exist_ok=True)
            # SQLite would follow a link, and make a file that others can read.
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            descriptor = os.open(self._path, flags, 0o600)
            os.close(descriptor)
            self._connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS)
            self._prepare(self._connection)
        except (sqlite3.Error, OSError) as failure:
            self._close()
            raise self._error(failure) from None
        except OperationError:
            self._close()
            raise

        return self._connection

    def __exit__(
        self, kind: object, failure: BaseException | None, trace: object
    ) -> None:
        self._close()
        if isinstance(failure, sqlite3.Error | OSError):
            raise self._error(failure) from None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            versions = f"schema {version}, this program knows {SCHEMA_VERSION}"
            what = f"was written by a newer version ({versions})"
            raise OperationError(Problem(self._path, what, "update this program"))

        if version < SCHEMA_VERSION:
            with connection:
                connection.executescript(_SCHEMA)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _error(self, failure: Exception) -> OperationError:
        path = self._path
        what = str(failure)
        if isinstance(failure, OSError):
            if failure.filename:
                path = failure.filename
            if failure.strerror:
                what = failure.strerror

        remedy = ""
        if isinstance(failure, sqlite3.OperationalError):
            pass  # it is about the moment: a lock, or a full disk
        elif isinstance(failure, sqlite3.DatabaseError):
            remedy = "move the file aside to begin a new history"
        problem = Problem(path, f"the history cannot be used: {what}", remedy)
        return OperationError(problem)

    def _close(self) -> None:
        if self._connection is not None:
            with closing(self._connection):
                self._connection = None


def _upsert(connection: sqlite3.Connection, record: Mapping[str, Any]) -> None:
    """Write the values of a line into the row of its run. Start and end may come in any order."""
    names = []
    values = []
    for name, value in record.items():
        if name not in COLUMNS:
            continue
        names.append(name)
        if name in _JSON_COLUMNS:
            values.append(json.dumps(value))
        else:
            values.append(_storable(value))

    columns = ", ".join(names)
    places = ", ".join(["?"] * len(names))
    updates = ", ".join([f"{name} = excluded.{name}" for name in names])
    connection.execute(
        f"INSERT INTO runs ({columns}) VALUES ({places})"  # noqa: S608 - constants
        f" ON CONFLICT (id) DO UPDATE SET {updates}",
        values,
    )


def _storable(value: Any) -> Any:
    """Return a value that SQLite can store; bytes that are not UTF-8 are shown as escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def _run_of(row: Sequence[Any]) -> dict[str, Any]:
    """Return the values of a row by name. Raises DatabaseError if somebody has damaged it."""
    run = dict(zip(COLUMNS, row, strict=True))
    try:
        for name in _JSON_COLUMNS:
            text = run[name]
            run[name] = None
            if text:
                run[name] = json.loads(text)
    except (ValueError, RecursionError, TypeError):
        raise sqlite3.DatabaseError("a row is damaged") from None

    if not is_run(run):
        raise sqlite3.DatabaseError("a row is damaged")
    return run
