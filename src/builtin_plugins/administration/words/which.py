"""`self which`."""

from __future__ import annotations

import sys
from typing import Any

from host import Definition, printable
from host.cli.session import Session
from host.cli.unknown_words import find_command
from host.run.catalog import Match
from host.run.command import check_runnable
from host.run.process import start_of


def command(session: Session, words: tuple[str, ...], all: bool, format: str) -> None:
    """Show the file that the command WORDS runs, its interpreter and where it comes from."""
    found, definition = find_command(session, words)
    row = _described(session, found, definition)
    if format == "json":
        session.show_json(row)
        return
    shadows = row.pop("shadows")
    lines = [f"{key + ':':<13}{printable(str(value))}" for key, value in row.items() if value]
    if all:
        lines += [f"{'shadows:':<13}{printable(one)}" for one in shadows or ["nothing"]]
    session.show("".join(f"{line}\n" for line in lines))


def _described(session: Session, found: Match, definition: Definition) -> dict[str, Any]:
    file = check_runnable(found.words, definition)
    interpreter = start_of(file, session.environ).interpreter if file else sys.executable
    origin = "python" if not definition.file else "plugin" if found.plugin else "commands"
    return {
        "file": file or definition.entrypoint,
        "interpreter": interpreter,
        "definition": definition.file,
        "origin": origin,
        "plugin": found.plugin or None,
        "shadows": list(session.catalog.shadowed(found)),
    }
