"""`self env`: the page that ends every "where does this value come from?"."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import click

from builtin_plugins.fetch.addresses import masked
from host import is_secret
from host.cli.columns import width
from host.cli.session import Session
from host.cli.unknown import find_command
from host.errors import SourceError, UsageError
from host.run.layers import FRAMEWORK, SETTINGS, Assignment
from host.run.plan import check_required, framework_variables, read_layers
from host.run.text import printable

_MASK = "********"
_SHORTEST_SECRET = 6  # characters; hiding a shorter one wherever it stands would hide too much
_SHORTEST_VALUE = 20  # columns of a value that is cut

_ASSIGNED = re.compile(r"(?:^|[\s;&|({])([A-Za-z_][A-Za-z0-9_]*)\+?=")

Traced = tuple[Assignment, Sequence[Assignment]]


@click.command
@click.argument("words", nargs=-1, required=True)
@click.option("--all", "everything", is_flag=True, help="The caller's own variables too.")
@click.option("--show-secrets", is_flag=True, help="Do not mask values of secrets.")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_obj
def command(
    session: Session, words: tuple[str, ...], everything: bool, show_secrets: bool, format: str
) -> None:
    """Show each variable of the command WORDS: value, source, rank, what it shadows.

    Names of variables behind the command's words show these only. Ranks: 1 the caller's
    environment, 2 envs, 3 settings.conf, 4 .env files. Values of secrets are masked, by
    their names (DB_PASS, API_TOKEN, …), also where another value contains them, and so
    are passwords in addresses.
    """
    words, names = _split(session, words)
    found, definition = find_command(session, words)
    framework = framework_variables(session.layout, session.installation.plugins_dir, found.words)
    layers = read_layers(
        found.words,
        definition,
        session.lock.sources,
        session.caller,
        framework,
        session.messages,
    )
    rows = _rows(layers.trace(everything or bool(names)), names)
    show = _Showing(rows, shown=show_secrets)
    described = [show.row(winner, shadowed) for winner, shadowed in rows]
    unset = sorted(set(names).difference(winner.name for winner, _ in rows))
    described += [
        {"name": name, "value": None, "source": None, "rank": None, "shadows": []} for name in unset
    ]
    for path in layers.missing:
        session.messages.warn(f"{path}: this file of env_files is not there")
    try:
        check_required(definition, layers)
    except SourceError as failure:
        session.messages.warn(str(failure))
    if format == "json":
        session.show(json.dumps(described, indent=2) + "\n")
    else:
        columns = session.output.terminal.width if sys.stdout and sys.stdout.isatty() else 0
        session.show(_text(described, columns))


def _split(session: Session, words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a command and the names of variables behind them."""
    found = session.find(words)
    if found.kind != "command":
        return words, ()
    names = words[len(found.words) :]
    for name in names:
        if not (name.isascii() and name.isidentifier()):
            raise UsageError(f"{name}: neither a word of {' '.join(found.words)} nor a name")
    return found.words, names


def _rows(traced: Iterable[Traced], names: Collection[str]) -> list[Traced]:
    """Return the variables to show by name, those that describe the run last."""
    rows = [row for row in traced if not names or row[0].name in names]
    return sorted(rows, key=lambda row: (row[0].rank == FRAMEWORK, row[0].name))


class _Showing:
    """How assignments are shown: secrets masked unless `shown`, sources with their lines."""

    def __init__(self, rows: Iterable[Traced], *, shown: bool) -> None:
        self.shown = shown
        self.lines: dict[str, dict[str, int]] = {}
        every = [one for winner, shadowed in rows for one in (winner, *shadowed)]
        values = {one.value for one in every if is_secret(one.name)}
        long = [value for value in values if len(value) >= _SHORTEST_SECRET]
        self.hidden = sorted(long, key=len, reverse=True)

    def row(self, winner: Assignment, shadowed: Sequence[Assignment]) -> dict[str, Any]:
        weaker = [self.described(one) for one in shadowed]
        return {"name": winner.name, **self.described(winner), "shadows": weaker}

    def described(self, one: Assignment) -> dict[str, Any]:
        rank = int(one.rank) if one.rank == int(one.rank) else one.rank
        return {
            "value": one.value if self.shown else self.masked(one),
            "source": self.source(one),
            "rank": None if one.rank == FRAMEWORK else rank,
        }

    def masked(self, one: Assignment) -> str:
        if one.value and is_secret(one.name):
            return _MASK
        value = one.value
        for secret in self.hidden:
            value = value.replace(secret, _MASK)
        return masked(value)

    def source(self, one: Assignment) -> str:
        """Return where it comes from; bash does not say the line, so the file is read for it."""
        if one.rank != SETTINGS or not os.path.isfile(one.origin):
            return one.origin
        if one.origin not in self.lines:
            self.lines[one.origin] = _assignment_lines(one.origin)
        line = self.lines[one.origin].get(one.name)
        return f"{one.origin}:{line}" if line else one.origin


def _assignment_lines(path: str) -> dict[str, int]:
    """Return the last line of a settings file that assigns each name."""
    found: dict[str, int] = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for number, line in enumerate(file, 1):
            if not line.lstrip().startswith("#"):
                found.update(dict.fromkeys(_ASSIGNED.findall(line), number))
    return found


def _text(rows: list[dict[str, Any]], columns: int) -> str:
    """Return a line for each value; in a terminal's `columns` (0: none) long ones are cut."""
    names = max((width(printable(row["name"])) for row in rows), default=0)
    lines = []
    for row in rows:
        name = printable(row["name"])
        room = columns and columns - names - 2
        lines.append(f"{name}{' ' * (names - width(name))}  {_line(row, room)}")
        lines += [
            f"{' ' * names}    shadows {_line(shadowed, columns and room - 10)}"
            for shadowed in row["shadows"]
        ]
    return "".join(f"{line}\n" for line in lines)


def _line(row: dict[str, Any], room: int) -> str:
    if row["value"] is None:
        return "is not set"
    rank = "" if row["rank"] is None else f" (rank {row['rank']:g})"
    source = f"  ← {printable(row['source'])}{rank}"
    value = printable(row["value"]) or '""'
    room = max(room - width(source), _SHORTEST_VALUE) if room else width(value)
    if width(value) > room:
        value = value[: room - 1]
        while width(value) > room - 1:  # wide characters
            value = value[:-1]
        value += "…"
    return f"{value}{source}"
