"""The history as a table that fits the terminal, as JSON, and as CSV."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from host import Terminal, printable, width_of
from host.text_width import shortened

RUN_KEYS = (  # of a run, in the order in which JSON and CSV show them
    "id",
    "start",
    "seconds",
    "words",
    "arguments",
    "directory",
    "user",
    "host",
    "version",
    "plugin",
    "status",
    "signal",
    "origin",
    "client",
    "hosts",
    "outer",
    "output",
)
MASK = "********"
_HEADINGS = ("ID", "WHEN", "WHO", "COMMAND", "TIME", "STATUS", "ORIGIN")
_SHORT_ID = 7
_NARROWEST_COMMAND = 12
_COMMAND = _HEADINGS.index("COMMAND")
# A narrow terminal leaves out these columns, in this order. JSON has all facts.
_DISPENSABLE = ("ORIGIN", "WHO")


def command_line(program: str, run: Mapping[str, Any]) -> str:
    """Return the command line of a run, quoted for a shell; masked texts stay as they are."""
    line = shlex.join([program, *run["words"], *run["arguments"]])
    return line.replace(f"'{MASK}'", MASK)


def json_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a run that the JSON output has."""
    return {key: run[key] for key in RUN_KEYS}


def csv_of(runs: Iterable[Mapping[str, Any]]) -> str:
    """Return runs as CSV with a header; lists are quoted for a shell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [key for key in RUN_KEYS if key not in ("hosts", "client", "output")]
    writer.writerow(names)
    for run in runs:
        cells = []
        for name in names:
            value = run[name]
            cells.append(shlex.join(value) if isinstance(value, list) else value)
        writer.writerow(
            ["" if cell is None else printable(str(cell)) for cell in cells]
        )
    return text.getvalue()


def table(
    runs: Sequence[Mapping[str, Any]],
    terminal: Terminal,
    program: str,
    state_of: Mapping[str, str],
) -> list[str]:
    """Return the lines of a table; on a terminal, a line has at most its width.

    `state_of` has the text for the status of each run, by id. Failed runs are red.
    """
    rows = [_HEADINGS, *(_cells(run, program, state_of[run["id"]]) for run in runs)]
    widths = [
        max(width_of(cell) for cell in column) for column in zip(*rows, strict=True)
    ]
    columns = [*range(len(_HEADINGS))]
    if terminal.is_interactive:
        columns = _fitting_columns(widths, terminal.width)
        room = terminal.width - _width_beside_command(widths, columns)
        widths[_COMMAND] = min(widths[_COMMAND], max(room, _NARROWEST_COMMAND))
    lines = []
    for row, run in zip(rows, (None, *runs), strict=True):
        cells = [_fitted(row[column], widths[column]) for column in columns]
        line = "  ".join(cells).rstrip()
        if run is None:
            line = terminal.styled(line, "heading")
        elif run["status"]:
            line = terminal.styled(line, "[missing]")
        lines.append(line)
    return lines


def _fitting_columns(widths: Sequence[int], available: int) -> list[int]:
    """Return the columns that a terminal has room for, beside a short command line."""
    columns = [*range(len(_HEADINGS))]
    for heading in _DISPENSABLE:
        if _width_beside_command(widths, columns) + _NARROWEST_COMMAND > available:
            columns.remove(_HEADINGS.index(heading))
    return columns


def _width_beside_command(widths: Sequence[int], columns: Sequence[int]) -> int:
    gaps = 2 * (len(columns) - 1)
    return sum(widths[column] for column in columns if column != _COMMAND) + gaps


def _cells(run: Mapping[str, Any], program: str, state: str) -> tuple[str, ...]:
    seconds = run["seconds"]
    return (
        run["id"][:_SHORT_ID],
        _local_time(run["start"]),
        printable(f"{run['user']}@{run['host']}"),
        printable(command_line(program, run)),
        "" if seconds is None else duration(seconds),
        state,
        printable(run["origin"] or ""),
    )


def duration(seconds: float) -> str:
    """Return a number of seconds as people read it: `0.4s`, `42s`, `3m12s`, `2h05m`."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    minutes, seconds_left = divmod(whole, 60)
    if minutes == 0:
        return f"{whole}s"
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours}h{minutes_left:02}m" if hours else f"{minutes}m{seconds_left:02}s"


def _local_time(start: str) -> str:
    """Return a time in UTC as local time, to the second."""
    try:
        return datetime.fromisoformat(start).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return printable(start)


def _fitted(cell: str, width: int) -> str:
    text = shortened(cell, width)
    return text + " " * (width - width_of(text))
