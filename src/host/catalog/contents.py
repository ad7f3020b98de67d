"""The contents of a category as records for listings."""

from host.catalog.catalog import Catalog, Match
from host.errors import Problem
from host.listing import Category, Command
from host.record_base import Record
from host.words import SELF

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


def contents(
    catalog: Catalog, words: tuple[str, ...], *, deep: bool = False
) -> Contents:
    """Return the contents of the category `words`; `deep` adds those of its subcategories.

    `deep` leaves out the category `self`, unless `words` name it.
    """
    problems: list[Problem] = []
    categories: list[Category] = []
    commands: list[Command] = []
    pending = [catalog.find(words)]
    while pending:
        category = pending.pop()
        children, problems_of_children = catalog.children(category)
        problems += problems_of_children
        for node in category.nodes:
            node.forget()  # the children have nodes of their own, which are all that is needed now

        for child in children:
            if deep and child.words == (SELF,):
                continue
            if child.kind == "command":
                commands.append(command_of(child))

            # A command with commands below it is also listed as a category.
            if child.kind == "category" or child.has_below:
                categories.append(_category_of(child))
                if deep:
                    pending.append(child)

    categories.sort(key=_words_of)
    commands.sort(key=_words_of)
    unique_problems = dict.fromkeys(problems)
    return Contents(tuple(categories), tuple(commands), tuple(unique_problems))


def _words_of(record: Category | Command) -> tuple[str, ...]:
    return record.words


def _category_of(match: Match) -> Category:
    """Return the `Category` record of a category, or of a command with commands below it."""
    definition = match.definition
    runnable = definition is not None and definition.is_command
    shadows: tuple[str, ...] = ()
    if match.kind == "category":
        shadows = match.shadows

    project = match.nodes[0].project  # nodes of projects come last
    project_name = ""
    if project is not None:
        project_name = project.name

    return Category(
        words=match.words,
        name=match.name,
        description=match.description,
        runnable=runnable,
        project=project_name,
        shadows=shadows,
    )


def command_of(match: Match) -> Command:
    """Return the `Command` record of a match."""
    definition: Any = match.definition
    node = match.nodes[0]
    plugin = node.tree.plugin
    project = node.project
    project_name = ""
    origin: Any = "commands"
    if project is not None:
        origin = "project"
        project_name = project.name
    elif not definition.file:
        origin = "python"
    elif plugin:
        origin = "plugin"

    return Command(
        words=match.words,
        definition=definition,
        origin=origin,
        plugin=plugin,
        dev=node.tree.dev,
        project=project_name,
        shadows=match.shadows,
    )
