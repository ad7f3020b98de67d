"""What a category holds, or everything below it, as records for listings."""

from __future__ import annotations

from host.errors import Problem
from host.listing_records import Category, Command
from host.run import Record
from host.run.catalog import RESERVED, Catalog, Match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal


class Contents(Record):
    """The categories and commands directly in, or below, some category; sorted by words."""

    categories: tuple[Category, ...]
    commands: tuple[Command, ...]

    def listed(self, *, everything: bool) -> Contents:
        """Leave out hidden commands and those for another system, unless `everything`."""
        if everything:
            return self
        shown = [
            one for one in self.commands if one.definition.compatible and not one.definition.hidden
        ]
        return self.replaced(commands=tuple(shown))

    def without_self(self) -> Contents:
        """Leave out what manages the program itself."""
        return self.replaced(
            categories=tuple(one for one in self.categories if one.words[0] != RESERVED),
            commands=tuple(one for one in self.commands if one.words[0] != RESERVED),
        )


def contents(
    catalog: Catalog, words: tuple[str, ...], *, deep: bool = False
) -> tuple[Contents, list[Problem]]:
    """Return what the category `words` holds, or with `deep` all below it, and the problems there.

    A wrong definition is left out and is one of the problems.
    """
    problems: list[Problem] = []
    categories: list[Category] = []
    commands: list[Command] = []
    pending = [catalog.find(words)]
    while pending:
        children, wrong = catalog.children(pending.pop())
        problems += wrong
        for found in children:
            if found.kind == "command":
                commands.append(command_of(found))
                if not found.has_below:
                    continue
            runs = found.definition is not None and found.definition.entrypoint != ""
            project = all(node.project for node in found.nodes) and found.nodes[0].project
            named = project.name if project else ""
            categories.append(Category(found.words, found.name, found.description, runs, named))
            if deep:
                pending.append(found)
    inside = Contents(
        tuple(sorted(categories, key=lambda one: one.words)),
        tuple(sorted(commands, key=lambda one: one.words)),
    )
    return inside, list(dict.fromkeys(problems))


def origin_of(found: Match) -> Literal["commands", "plugin", "python", "project"]:
    """Return where a command is from, as JSON has it; "python" is one that a plugin declares."""
    if found.project:
        return "project"
    if found.definition is None or not found.definition.file:
        return "python"
    return "plugin" if found.plugin else "commands"


def command_of(found: Match) -> Command:
    """Return what words name as the record of a command."""
    definition: Any = found.definition
    return Command(
        words=found.words,
        definition=definition,
        directory=definition.directory,
        origin=origin_of(found),
        plugin=found.plugin,
        dev=found.dev,
        project=found.project.name if found.project else "",
        shadows=found.shadows,
    )
