"""Read the database of runs, which the runs themselves write (`host.launch.history_database`)."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from host.launch.history_database import JSON_COLUMNS, HistoryFile

# The columns of a run, each with the type of its values; all but `seconds` and what follows it have
# a value from the start.
_STARTED = {
    "id": str,
    "start": str,
    "words": list,
    "arguments": list,
    "directory": str,
    "user": str,
    "host": str,
    "version": str,
    "plugin": str,
    "origin": str,
    "outer": str,
    "process": int,
}
_LATER = {
    "client": dict,
    "masked": list,
    "seconds": float,
    "status": int,
    "signal": int,
    "hosts": list,
}
_TYPES = {**_STARTED, **_LATER}


class RunStore:
    """The history of one installation; `path` is that of its database.

    All methods raise OperationError if the database is locked, damaged, somebody else's, or written
    by a newer version of the program.
    """

    def __init__(self, path: str) -> None:
        self.path = path

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
            values.append(_valid(word))

        return self._query(conditions, values, limit)

    def find(self, beginning: str) -> list[dict[str, Any]]:
        """Return the runs whose ids begin with `beginning`, newest first."""
        conditions = ["start IS NOT NULL", "substr(id, 1, ?) = ?"]
        return self._query(conditions, [len(beginning), _valid(beginning)], -1)

    def clear(self, lost: Sequence[str]) -> int:
        """Delete all runs that have ended, and those with the ids `lost`; return how many."""
        if not self.exists:
            return 0
        places = ", ".join(["?"] * len(lost))
        statement = f"DELETE FROM runs WHERE status IS NOT NULL OR id IN ({places})"  # noqa: S608
        with HistoryFile(self.path) as connection, connection:
            return connection.execute(statement, [*lost]).rowcount

    def check(self) -> None:
        """Raise OperationError if the database cannot be used or is damaged."""
        if not self.exists:
            return
        with HistoryFile(self.path) as connection:
            [result] = connection.execute("PRAGMA quick_check(1)").fetchone()
            if result != "ok":
                raise sqlite3.DatabaseError(result)
        self.select(limit=-1)

    @property
    def exists(self) -> bool:
        """Whether there is a database, or something else that opening it reports."""
        try:
            os.lstat(self.path)
        except FileNotFoundError:
            return False
        except OSError:
            pass
        return True

    def _query(
        self, conditions: Iterable[str], values: Sequence[Any], limit: int
    ) -> list[dict[str, Any]]:
        if not self.exists:
            return []

        columns = ", ".join(_TYPES)
        condition = " AND ".join(conditions)
        statement = (
            f"SELECT {columns} FROM runs"  # noqa: S608 - constants of this module
            f" WHERE {condition} ORDER BY start DESC, rowid DESC LIMIT ?"
        )
        with HistoryFile(self.path) as connection:
            rows = connection.execute(statement, (*values, limit)).fetchall()
            return [_run_of(row) for row in rows]


def _valid(text: str) -> str:
    """Return a word of the caller as SQLite can compare it: bytes that are not UTF-8 as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _run_of(row: Sequence[Any]) -> dict[str, Any]:
    """Return the values of a row by name. Raises DatabaseError if somebody has damaged it."""
    run = dict(zip(_TYPES, row, strict=True))
    try:
        for name in JSON_COLUMNS:
            text = run[name]
            run[name] = None
            if text:
                run[name] = json.loads(text)
    except (ValueError, RecursionError, TypeError):
        raise sqlite3.DatabaseError("a row is damaged") from None

    if not _is_run(run):
        raise sqlite3.DatabaseError("a row is damaged")
    return run


def _is_run(run: Mapping[str, Any]) -> bool:
    for name, kind in _TYPES.items():
        value = run[name]
        if value is None and name in _LATER:
            continue
        if not isinstance(value, kind):
            return False
    texts = [*run["words"], *run["arguments"]]
    numbers = run["masked"] or []
    return all(isinstance(text, str) for text in texts) and all(
        isinstance(number, int) for number in numbers
    )
