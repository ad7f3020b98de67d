"""The history as a table that fits the terminal, and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from host import Terminal, printable, width_of
from host.text_width import shortened

RUN_KEYS = (  # of a run, in the order in which JSON shows them
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
)
MASK = "********"
_HEADINGS = ("ID", "WHEN", "WHO", "COMMAND", "TIME", "STATUS", "ORIGIN")
SHORT_ID = 7
_NARROWEST_COMMAND = 12
_COMMAND = _HEADINGS.index("COMMAND")
# A narrow terminal leaves out these columns, in this order. JSON has all facts.
_DISPENSABLE = ("ORIGIN", "WHO")


def command_line(program: str, run: Mapping[str, Any]) -> str:
    """Return the command line of a run, quoted for a shell; masked texts stay as they are."""
    words = [program, *run["words"], *run["arguments"]]
    line = shlex.join(words)
    return line.replace(f"'{MASK}'", MASK)


def json_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a run that the JSON output has."""
    return {key: run[key] for key in RUN_KEYS}


def table(
    runs: Sequence[Mapping[str, Any]],
    terminal: Terminal,
    program: str,
    state_of: Mapping[str, str],
) -> list[str]:
    """Return the lines of a table; on a terminal, a line has at most its width.

    `state_of` has the text for the status of each run, by id. Failed runs are red.
    """
    rows = []
    for run in runs:
        state = state_of[run["id"]]
        rows.append(_cells(run, program, state))

    widths = []
    for column in zip(_HEADINGS, *rows, strict=True):
        widths.append(max(map(width_of, column)))

    # Only a terminal has a width; a file or a pipe gets everything.
    columns = [*range(len(_HEADINGS))]
    if terminal.is_interactive:
        columns = _fitting_columns(widths, terminal.width)
        room = terminal.width - _width_beside_command(widths, columns)
        room = max(room, _NARROWEST_COMMAND)
        widths[_COMMAND] = min(widths[_COMMAND], room)

    heading = _line(_HEADINGS, columns, widths)
    lines = [terminal.styled(heading, "heading")]
    for row, run in zip(rows, runs, strict=True):
        line = _line(row, columns, widths)
        if run["status"]:
            line = terminal.styled(line, "[missing]")
        lines.append(line)
    return lines


def _line(row: Sequence[str], columns: Sequence[int], widths: Sequence[int]) -> str:
    cells = [_fitted(row[column], widths[column]) for column in columns]
    return "  ".join(cells).rstrip()


def _fitting_columns(widths: Sequence[int], available: int) -> list[int]:
    """Return the columns that a terminal has room for, beside a short command line."""
    columns = [*range(len(_HEADINGS))]
    for heading in _DISPENSABLE:
        narrowest = _width_beside_command(widths, columns) + _NARROWEST_COMMAND
        if narrowest > available:
            columns.remove(_HEADINGS.index(heading))
    return columns


def _width_beside_command(widths: Sequence[int], columns: Sequence[int]) -> int:
    width = 2 * (len(columns) - 1)  # the gaps
    for column in columns:
        if column != _COMMAND:
            width += widths[column]
    return width


def _cells(run: Mapping[str, Any], program: str, state: str) -> tuple[str, ...]:
    time = ""
    if run["seconds"] is not None:
        time = duration(run["seconds"])

    return (
        run["id"][:SHORT_ID],
        _local_time(run["start"]),
        printable(f"{run['user']}@{run['host']}"),
        printable(command_line(program, run)),
        time,
        state,
        printable(run["origin"] or ""),
    )


def duration(seconds: float) -> str:
    """Return a number of seconds as people read it: `0.4s`, `42s`, `3m12s`, `2h05m`."""
    if seconds < 10:
        return f"{seconds:.1f}s"

    minutes, seconds_left = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{seconds_left}s"
    hours, minutes_left = divmod(minutes, 60)
    if hours == 0:
        return f"{minutes}m{seconds_left:02}s"
    return f"{hours}h{minutes_left:02}m"


def _local_time(start: str) -> str:
    """Return a time in UTC as local time, to the second."""
    try:
        moment = datetime.fromisoformat(start)
    except ValueError:
        return printable(start)  # somebody has edited the database
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _fitted(cell: str, width: int) -> str:
    text = shortened(cell, width)
    return text + " " * (width - width_of(text))
