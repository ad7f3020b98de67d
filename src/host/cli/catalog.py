"""What a category holds, or everything below it, as records for listings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from builtin_plugins.directories.finder import first_definition, subdirectories
from host.errors import DefinitionError
from host.records import Category, Command
from host.run.definition import Definition, read_category, read_command
from host.run.lock import NOT_CATEGORIES, RESERVED, Declared, Lock, Tree

Warn = Callable[[str], None]


class _Directory(NamedTuple):
    """A directory of one tree, with its command.json when it has one."""

    path: str
    tree: Tree
    linked: bool
    definition: Definition | None = None


class Contents(NamedTuple):
    """The categories and commands directly in, or below, some category; sorted by words."""

    categories: tuple[Category, ...]
    commands: tuple[Command, ...]


def contents(words: tuple[str, ...], lock: Lock, warn: Warn, *, deep: bool = False) -> Contents:
    """Return what the category `words` holds, or with `deep` all below it.

    A definition that is wrong is told to `warn` and left out. Reads files only.
    """
    walk = _Walk(lock, warn, deep)
    trees = () if words[:1] == (RESERVED,) else lock.trees
    walk.category(words, [_at(tree, words) for tree in trees])
    return Contents(
        tuple(sorted(walk.categories, key=lambda one: one.words)),
        tuple(sorted(walk.commands, key=lambda one: one.words)),
    )


def _at(tree: Tree, words: tuple[str, ...]) -> _Directory:
    return _Directory(os.path.join(tree.path, *words), tree, linked=False)


class _Walk:
    """A walk over the trees side by side, one category at a time."""

    def __init__(self, lock: Lock, warn: Warn, deep: bool) -> None:
        self.declared = lock.commands
        self.tell = warn
        self.told: set[str] = set()
        self.deep = deep
        self.holding: set[str] = set()
        self.categories: list[Category] = []
        self.commands: list[Command] = []

    def warn(self, text: str) -> None:
        """Tell what is wrong somewhere, once however often it is met."""
        if text not in self.told:
            self.told.add(text)
            self.tell(text)

    def category(self, words: tuple[str, ...], directories: list[_Directory]) -> None:
        pending = [(words, directories)]
        while pending:
            at, places = pending.pop()
            for word, found in self.words_in(at, places).items():
                inner = (*at, word)
                own = [one for one in self.declared if one.words[: len(inner)] == inner]
                categories = self.decide(inner, found, own)
                if categories is not None:
                    self.categories.append(self.described(inner, categories))
                    if self.deep:
                        pending.append((inner, categories))

    def words_in(
        self, at: tuple[str, ...], places: Iterable[_Directory]
    ) -> dict[str, list[_Directory]]:
        found: dict[str, list[_Directory]] = {}
        for place in places:
            if not os.path.isdir(place.path):
                continue
            for sub in subdirectories(place.path, place.linked, self.warn):
                if sub.word in NOT_CATEGORIES and not at:
                    self.warn(f"{sub.path}: left out; the word {sub.word} is this program's own")
                    continue
                linked = place.linked or sub.linked
                found.setdefault(sub.word, []).append(_Directory(sub.path, place.tree, linked))
        for one in self.declared:
            if one.words[: len(at)] == at and len(one.words) > len(at):
                found.setdefault(one.words[len(at)], [])
        return found

    def decide(
        self, words: tuple[str, ...], found: Sequence[_Directory], own: Sequence[Declared]
    ) -> list[_Directory] | None:
        """Add the command that `words` name, or return the directories of a category.

        The first tree that has the words decides which of the two it is. None:
        a command, or nothing that counts.
        """
        categories: list[_Directory] = []
        commands: list[_Directory] = []
        for directory in found:
            try:
                path = os.path.join(directory.path, "command.json")
                definition = self.accept(read_command(path))
            except FileNotFoundError:
                if self.holds_commands(directory.path):
                    categories.append(directory)
                continue
            except DefinitionError as error:
                self.warn(str(error))
                if any(self.holds_commands(sub.path) for sub in subdirectories(directory.path)):
                    categories.append(directory)
                continue
            checked = directory._replace(definition=definition)
            if not definition.entrypoint:
                categories.append(checked)
            elif not categories:
                commands.append(checked)
        if commands:
            hidden = [*commands[1:], *categories]
            self.commands.append(_command(words, commands[0], hidden, own))
            return None
        exact = [one for one in own if one.words == words]
        if exact and not categories:
            self.commands.append(_declared_command(exact[0], exact[1:]))
            return None
        return categories if categories or own else None

    def holds_commands(self, path: str) -> bool:
        """Tell whether `path` is a category; each deep directory is looked into once."""
        if path in self.holding:
            return True
        found = first_definition(path, self.warn)
        while len(found) >= len(path):  # all on the way down hold it too
            self.holding.add(found)
            found = os.path.dirname(found)
        return path in self.holding

    def described(self, words: tuple[str, ...], directories: Iterable[_Directory]) -> Category:
        for directory in directories:
            definition = directory.definition or self.read_category(directory.path)
            if definition is not None:
                return Category(words, definition.name or words[-1], definition.description)
        return Category(words, words[-1], "")

    def read_category(self, path: str) -> Definition | None:
        try:
            return self.accept(read_category(os.path.join(path, "category.json")))
        except FileNotFoundError:
            return None
        except DefinitionError as error:
            self.warn(str(error))
            return None

    def accept(self, definition: Definition) -> Definition:
        for warning in definition.warnings:
            self.warn(warning)
        return definition


def _command(
    words: tuple[str, ...],
    directory: _Directory,
    hidden: Iterable[_Directory],
    own: Iterable[Declared],
) -> Command:
    tree = directory.tree
    return Command(
        words=words,
        definition=directory.definition,
        directory=directory.path,
        origin="plugin" if tree.plugin else "commands",
        plugin=tree.plugin,
        dev=tree.dev,
        shadows=(
            *(one.path for one in hidden),
            *(f"plugin {one.plugin}" for one in own if one.words == words),
        ),
    )


def _declared_command(one: Declared, hidden: Iterable[Declared]) -> Command:
    return Command(
        words=one.words,
        definition=one.definition,
        directory="",
        origin="python",
        plugin="" if one.builtin else one.plugin,
        shadows=tuple(f"plugin {other.plugin}" for other in hidden),
    )
