"""`self env`: the page that ends every "where does this value come from?"."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

import click

from host.cli.columns import width
from host.cli.session import Session
from host.cli.unknown import find_command
from host.run.layers import FRAMEWORK, Assignment
from host.run.plan import framework_variables, read_layers
from host.run.text import printable

_SECRET = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL")
_MASK = "********"
_SHORTEST_SECRET = 6  # characters


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

    Ranks: 1 the caller's environment, 2 envs, 3 settings.conf, 4 .env files. Values
    of names with TOKEN, SECRET, PASSWORD, PASSWD, KEY or CREDENTIAL are masked, also
    where another value contains them.
    """
    rows = sorted(_trace(session, words, everything), key=lambda row: row[0].name)
    hidden = set() if show_secrets else _secrets(one for row in rows for one in (row[0], *row[1]))
    described = [
        {
            "name": winner.name,
            **_described(winner, hidden, shown=show_secrets),
            "shadows": [_described(one, hidden, shown=show_secrets) for one in shadowed],
        }
        for winner, shadowed in rows
    ]
    if format == "json":
        session.show(json.dumps(described, indent=2) + "\n")
    else:
        session.show(_text(described))


def _trace(
    session: Session, words: tuple[str, ...], everything: bool
) -> list[tuple[Assignment, list[Assignment]]]:
    found, definition = find_command(session, words)
    framework = framework_variables(session.layout, session.places.plugins_dir, found.words)
    layers = read_layers(
        found.words,
        definition,
        session.lock.sources,
        session.environ,
        framework,
        session.messages,
    )
    return list(layers.trace(everything))


def _is_secret(name: str) -> bool:
    return any(mark in name.upper() for mark in _SECRET)


def _secrets(assignments: Iterable[Assignment]) -> set[str]:
    """Return the values to hide wherever they stand; a short one would hide too much."""
    values = {one.value for one in assignments if _is_secret(one.name)}
    return {value for value in values if len(value) >= _SHORTEST_SECRET}


def _described(one: Assignment, hidden: Collection[str], *, shown: bool) -> dict[str, Any]:
    value = one.value
    for secret in sorted(hidden, key=len, reverse=True):
        value = value.replace(secret, _MASK)
    return {
        "value": value if shown or not _is_secret(one.name) else _MASK,
        "source": one.origin,
        "rank": None if one.rank == FRAMEWORK else one.rank,
    }


def _text(rows: list[dict[str, Any]]) -> str:
    columns = max((width(printable(row["name"])) for row in rows), default=0)
    lines = []
    for row in rows:
        name = printable(row["name"])
        lines.append(f"{name}{' ' * (columns - width(name))}  {_source(row)}")
        lines += [f"{' ' * columns}    shadows {_source(shadowed)}" for shadowed in row["shadows"]]
    return "".join(f"{line}\n" for line in lines)


def _source(row: dict[str, Any]) -> str:
    rank = "" if row["rank"] is None else f" (rank {row['rank']:g})"
    return f"{printable(row['value'])}  ← {printable(row['source'])}{rank}"
