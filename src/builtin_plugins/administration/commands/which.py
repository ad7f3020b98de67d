"""`self which`."""

import sys
from typing import Any

from builtin_plugins.administration.declared import FORMAT, WORDS, argument, self_command
from builtin_plugins.administration.pages import show_facts
from host.cli.contents import command_of
from host.cli.lookup import find_command
from host.cli.session import Session
from host.run.definition import check_runnable
from host.run.programs import start_of


@self_command(
    "which",
    "Show which file a command runs",
    WORDS,
    argument("--all", "Also show the shadowed commands of the same name."),
    FORMAT,
)
def which(session: Session, words: tuple[str, ...], all: bool, format: str) -> None:
    """Show the file that a command runs, its interpreter and its origin."""
    named, _ = find_command(session, words)
    found = session.catalog.follow(named)
    definition: Any = found.definition
    file = check_runnable(found.words, definition)
    siblings, _ = session.catalog.children(session.catalog.find(named.words[:-1]))
    shadows = [place for one in siblings if one.words == named.words for place in one.shadows]
    row = {
        "file": file or definition.entrypoint,
        "interpreter": start_of(file, session.environ).interpreter if file else sys.executable,
        "definition": definition.file,
        "origin": command_of(found).origin,
        "plugin": found.plugin or None,
        "moved_to": " ".join(found.words) if found is not named else None,
    }
    if format == "json":
        session.show_json(row | {"shadows": shadows})
        return
    shown = (shadows or ["nothing"]) if all else []
    show_facts(session, [*row.items(), *(("shadows", one) for one in shown)])
