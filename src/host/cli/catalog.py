"""What a category holds, or everything below it, as records for listings."""

from __future__ import annotations

from host.records import Category, Command, Record
from host.run.locate import RESERVED, Found, below, locate, roots
from host.run.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from host.cli.definition_index import DefinitionIndex

    Tell = Callable[[str], None]


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
    words: tuple[str, ...],
    lock: Lock,
    tell: Tell,
    *,
    deep: bool = False,
    definitions: DefinitionIndex | None = None,
) -> Contents:
    """Return what the category `words` holds, or with `deep` all below it.

    A definition that is wrong is told to `tell` and left out. Reads files only, with
    `definitions` those that it does not know.
    """
    told: list[str] = []
    categories: list[Category] = []
    commands: list[Command] = []
    pending = [locate(words, roots(lock.trees, lock.commands, definitions))]
    while pending:
        for found in below(pending.pop(), told.append):
            if found.kind == "command":
                commands.append(command_of(found))
                continue
            runs = found.definition is not None and found.definition.entrypoint != ""
            categories.append(Category(found.words, found.name, found.description, runs))
            if deep:
                pending.append(found)
    if definitions is not None:
        definitions.save()
    for text in dict.fromkeys(told):
        tell(text)
    return Contents(
        tuple(sorted(categories, key=lambda one: one.words)),
        tuple(sorted(commands, key=lambda one: one.words)),
    )


def command_of(found: Found) -> Command:
    """Return what words name as the record of a command."""
    definition: Any = found.definition
    return Command(
        words=found.words,
        definition=definition,
        directory=definition.directory,
        origin="python" if not definition.file else "plugin" if found.plugin else "commands",
        plugin=found.plugin,
        dev=found.dev,
        shadows=found.shadows,
    )
