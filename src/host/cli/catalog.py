"""What a category holds, or everything below it, as records for listings."""

from __future__ import annotations

from host.records import Category, Command, Record
from host.run.locate import Place, decide, description, roots
from host.run.lock import NOT_CATEGORIES, RESERVED, SELF, Declared, Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from host.planning.definition_index import DefinitionIndex

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
    places = [] if words[:1] == (RESERVED,) else roots(lock.trees, definitions)
    for word in words:
        places = [inner for place in places if (inner := place.enter(word))]
    walk = _Walk(lock, tell, deep)
    walk.category(words, places)
    if definitions is not None:
        definitions.save()
    return Contents(
        tuple(sorted(walk.categories, key=lambda one: one.words)),
        tuple(sorted(walk.commands, key=lambda one: one.words)),
    )


class _Walk:
    """A walk over the trees side by side, one category at a time."""

    def __init__(self, lock: Lock, tell: Tell, deep: bool) -> None:
        self.declared = lock.commands
        self.linked = {tree.plugin for tree in lock.trees if tree.dev}
        self.deep = deep
        self.categories: list[Category] = []
        self.commands: list[Command] = []
        self._tell = tell
        self._told: set[str] = set()

    def tell(self, text: str) -> None:
        """Tell what is wrong somewhere, once however often it is met."""
        if text not in self._told:
            self._told.add(text)
            self._tell(text)

    def category(self, words: tuple[str, ...], places: list[Place]) -> None:
        pending = [(words, places)]
        while pending:
            at, here = pending.pop()
            declared = [one for one in self.declared if one.words[: len(at)] == at]
            for word, reached in self.words_in(at, here).items():
                inner = (*at, word)
                own = [one for one in declared if one.words[: len(inner)] == inner]
                below = self.decide(inner, reached, own)
                if below is not None:
                    self.categories.append(self.described(inner, below))
                    if self.deep:
                        pending.append((inner, below))

    def words_in(self, at: tuple[str, ...], places: Iterable[Place]) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for place in places:
            for word, inner in place.finder.inner(place.at, self.tell):
                if word in NOT_CATEGORIES and not at:
                    self.tell(f"{inner}: left out; the word {word} is this program's own")
                    continue
                found.setdefault(word, []).append(Place(place.tree, place.finder, inner))
        for one in self.declared:
            if one.words[: len(at)] == at and len(one.words) > len(at):
                found.setdefault(one.words[len(at)], [])
        return found

    def decide(
        self, words: tuple[str, ...], reached: Iterable[Place], own: Sequence[Declared]
    ) -> list[Place] | None:
        """Add the command that `words` name, or return the places of a category.

        None: a command, or nothing that counts.
        """
        places = decide(reached, self.tell)
        exact = [one for one in own if one.words == words] if own else own
        if places and places[0].runnable:
            self.commands.append(_command(words, places[0], places[1:], exact))
            return None
        if exact and not places:
            dev = exact[0].plugin in self.linked
            self.commands.append(_declared_command(exact[0], exact[1:], dev))
            return None
        return places if places or own else None

    def described(self, words: tuple[str, ...], places: Iterable[Place]) -> Category:
        if words == (RESERVED,):
            return Category(words, RESERVED, SELF)
        described = description(places, self.tell)
        if described is None:
            return Category(words, words[-1], "")
        _, definition = described
        for warning in definition.warnings:
            self.tell(warning)
        name, runs = definition.name or words[-1], bool(definition.entrypoint)
        return Category(words, name, definition.description, runs)


def _command(
    words: tuple[str, ...], place: Place, hidden: Iterable[Place], own: Iterable[Declared]
) -> Command:
    tree = place.tree
    shadows: tuple[str, ...] = ()
    if hidden or own:
        shadows = (*[one.at for one in hidden], *[f"plugin {one.plugin}" for one in own])
    return Command(
        words=words,
        definition=place.definition,
        directory=place.at,
        origin="plugin" if tree.plugin else "commands",
        plugin=tree.plugin,
        dev=tree.dev,
        shadows=shadows,
    )


def _declared_command(one: Declared, hidden: Iterable[Declared], dev: bool) -> Command:
    return Command(
        words=one.words,
        definition=one.definition,
        directory="",
        origin="python",
        plugin="" if one.ours else one.plugin,
        dev=dev,
        shadows=tuple(f"plugin {other.plugin}" for other in hidden),
    )
