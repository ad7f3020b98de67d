"""The contents of a category as records for listings."""

from host.errors import Problem
from host.listing_records import Category, Command
from host.run.catalog import SELF, Catalog, Match
from host.run.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Contents(Record):
    """The categories and commands in a category, sorted by words.

    A command with an invalid definition is left out, and `problems` has the reason.
    """

    categories: tuple[Category, ...]
    commands: tuple[Command, ...]
    problems: tuple[Problem, ...]


def contents(catalog: Catalog, words: tuple[str, ...], *, deep: bool = False) -> Contents:
    """Return the contents of the category `words`; `deep` adds those of its subcategories.

    `deep` leaves out the category `self`, unless `words` name it.
    """
    problems: list[Problem] = []
    categories: list[Category] = []
    commands: list[Command] = []
    pending = [catalog.find(words)]
    while pending:
        children, found_problems = catalog.children(pending.pop())
        problems += found_problems
        for found in children:
            if deep and found.words == (SELF,):
                continue
            if found.kind == "command":
                commands.append(command_of(found))
                if not found.has_below:
                    continue
            runs = found.definition is not None and found.definition.is_command
            project = found.nodes[0].project  # project nodes come last
            named = project.name if project else ""
            shadows = found.shadows if found.kind == "category" else ()
            about = (found.name, found.description, runs, named, shadows)
            categories.append(Category(found.words, *about))
            if deep:
                pending.append(found)
    return Contents(
        tuple(sorted(categories, key=lambda one: one.words)),
        tuple(sorted(commands, key=lambda one: one.words)),
        tuple(dict.fromkeys(problems)),
    )


def command_of(found: Match) -> Command:
    """Return the `Command` record of a match."""
    definition: Any = found.definition
    node = found.nodes[0]
    plugin, project = node.tree.plugin, node.project
    origin: Any = "project"
    if not project:
        origin = ("plugin" if plugin else "commands") if definition.file else "python"
    return Command(
        words=found.words,
        definition=definition,
        origin=origin,
        plugin=plugin,
        dev=node.tree.dev,
        project=project.name if project else "",
        shadows=found.shadows,
    )
