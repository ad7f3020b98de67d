"""`self which`."""

import sys
from typing import Any

from builtin_plugins.self_commands.decorator import (
    FORMAT,
    WORDS,
    argument,
    self_command,
)
from host import HostError
from host.catalog.catalog import Match
from host.catalog.contents import command_of
from host.launch.plan import entrypoint_path
from host.processes.programs import start_of
from host.session.lookup import find_command
from host.session.session import Session


@self_command(
    "which",
    "Show which file a command runs",
    WORDS,
    argument("--all", "Also show the shadowed commands of the same name."),
    FORMAT,
)
def which(session: Session, words: tuple[str, ...], all: bool, format: str) -> None:
    """Show the file that a command runs, its interpreter and its origin."""
    if all:
        category = session.catalog.find(words)
        # A command with the words of a category cannot run: show where it is.
        if category.kind == "category" and category.words == words:
            _show_category(session, category, format)
            return

    named, _ = find_command(session, words)
    match = session.catalog.follow(named)
    definition: Any = match.definition
    file = entrypoint_path(match.words, definition)

    # A command without a file is a function in Python.
    interpreter: str | None = sys.executable
    if file:
        interpreter = _interpreter_of(session, file)
    else:
        file = definition.entrypoint

    row: dict[str, Any] = {
        "file": file,
        "interpreter": interpreter,
        "definition": definition.file,
        "origin": command_of(match).origin,
        "plugin": match.plugin or None,
        "moved_to": None,
    }
    if match is not named:
        row["moved_to"] = " ".join(match.words)

    shadows = _shadowed_by(session, named)
    if format == "json":
        session.show_json(row | {"shadows": shadows})
        return

    facts = list(row.items())
    if all:
        facts += _shadow_facts(shadows)
    session.show_facts(facts)


def _interpreter_of(session: Session, file: str) -> str | None:
    """Return the interpreter of a file, or None with a warning if the file cannot start."""
    try:
        return start_of(file, session.environ).interpreter
    except HostError as error:
        session.messages.warn(error.problem)
        return None


def _shadowed_by(session: Session, match: Match) -> list[str]:
    """Return the places of the commands that a command or category shadows."""
    above = session.catalog.find(match.words[:-1])
    siblings, _ = session.catalog.children(above)
    shadows: list[str] = []
    for sibling in siblings:
        if sibling.words == match.words:
            shadows += sibling.shadows
    return shadows


def _shadow_facts(shadows: list[str]) -> list[tuple[str, str]]:
    """Return a row for each shadowed place, or one that states that there is none."""
    return [("shadows", place) for place in shadows or ["nothing"]]


def _show_category(session: Session, category: Match, format: str) -> None:
    places = [node.place for node in category.nodes]
    shadows = _shadowed_by(session, category)

    if format == "json":
        session.show_json({"category": places, "shadows": shadows})
        return

    facts = [("category", place) for place in places]
    session.show_facts(facts + _shadow_facts(shadows))
