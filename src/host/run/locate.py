"""Words → the command or category that they name: what the finders of all trees say, merged.

Only what lies on the way is looked at, so a run costs the same with ten commands and
with ten thousand. What is below a place is the business of the tree's finder, which the
lock names; nothing here touches a disk. A finder is made from a tree's path and answers
for places, which only it understands (`root` is the one of no words):

    enter(place, word)        the place that a word leads to, "" for none
    command(place)            its command.json, None for none; raises DefinitionError
    category(place)           its category.json, likewise
    inner(place, tell)        (word, place) for each word below, sorted
    holds_commands(place, tell)  whether it is a category: by its word or what is below
    aliased(place, alias)     the word of the command with that alias, "" for none
    remark(place, word)       why a word that is there names nothing, "" for no reason
    definitions               what reads the files: host.run.definition, or like it an index

`tell` is called with what is wrong there, in a line. Finders are this distribution's
own: what a plugin adds costs a run of another's command nothing.
"""

from host.errors import DefinitionError
from host.run.definition import is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from host.run.definition import Definition
    from host.run.lock import Declared, Tree

    Tell = Callable[[str], None]


class Place:
    """Where words lead in one tree: `at` is the finder's name for it.

    `definition` is its command.json once `decide` has looked; `error` is what is wrong
    with that file, where commands lie below it all the same.
    """

    __slots__ = ("at", "definition", "error", "finder", "tree")

    def __init__(self, tree: "Tree", finder: "Any", at: str) -> None:
        self.tree = tree
        self.finder = finder
        self.at = at
        self.definition: Definition | None = None
        self.error: DefinitionError | None = None

    @property
    def runnable(self) -> bool:
        return self.definition is not None and self.definition.entrypoint != ""

    def enter(self, word: str) -> "Place | None":
        inner = self.finder.enter(self.at, word)
        return Place(self.tree, self.finder, inner) if inner else None

    def holds_commands(self, tell: "Tell | None" = None) -> bool:
        return bool(self.finder.holds_commands(self.at, tell))

    def holds_below(self) -> bool:
        """Tell whether a command lies below it, whatever its own command.json says."""
        inner = self.finder.inner(self.at)
        return any(self.finder.holds_commands(place, None) for _, place in inner)


class Found:
    """What the leading words name.

    `kind` is "command", "category" or "unknown" (then `words` is the part that
    exists). `places` are a category's, one a tree, in order of precedence, or a
    command's own; `plugin` is "" for the installation's own command.
    """

    __slots__ = ("definition", "dev", "kind", "places", "plugin", "words")

    def __init__(
        self,
        kind: str,
        words: "Iterable[str]",
        definition: "Definition | None" = None,
        places: "Iterable[Place]" = (),
        plugin: str = "",
        dev: bool = False,
    ) -> None:
        self.kind = kind
        self.words = tuple(words)
        self.definition = definition
        self.places = list(places)
        self.plugin = plugin
        self.dev = dev

    @property
    def directories(self) -> list[str]:
        return [place.at for place in self.places]


def roots(trees: "Iterable[Tree]", definitions: "Any" = None) -> list[Place]:
    """Return the place of no words in each tree, with the finder that the tree names.

    `definitions` is what they are to read files with, where many are read.
    """
    found = []
    for tree in trees:
        module, _, name = tree.finder.partition(":")
        finder = getattr(__import__(module, fromlist=[name]), name)(tree.path)
        finder.definitions = definitions or finder.definitions
        found.append(Place(tree, finder, finder.root))
    return found


def locate(
    words: "Sequence[str]", places: "list[Place]", declared: "Sequence[Declared]" = ()
) -> Found:
    """Return what the leading `words` name, from `places` of no words; the rest are arguments.

    At each step the first tree that has the word decides whether it is a command
    or a category; categories of the same words are one category. A word that is
    none may be an alias. Raises DefinitionError when the deciding definition is wrong.
    """
    taken: tuple[str, ...] = ()
    start = places
    for word in words:
        if word.startswith("-"):
            break
        name = word if is_word(word) else ""
        inner = decide(_entered(places, name))
        own = [one for one in declared if one.words[: len(taken) + 1] == (*taken, name)]
        if not inner and not own:
            name = _aliased(places, declared, taken, word)
            inner = decide(_entered(places, name))
            own = [one for one in declared if one.words == (*taken, name)]
        if not inner and not own:
            _raise_error_of(places)
            return Found("unknown", taken, None, places)
        taken = (*taken, name)
        if inner and inner[0].runnable:
            tree = inner[0].tree
            return Found("command", taken, inner[0].definition, inner, tree.plugin, tree.dev)
        if own and own[0].words == taken and not _holds_any(inner):
            plugin = own[0].plugin
            dev = any(place.tree.dev for place in start if place.tree.plugin == plugin)
            return Found("command", taken, own[0].definition, (), plugin, dev)
        places = inner
    _raise_error_of(places)
    return _category(taken, places)


def decide(reached: "Iterable[Place]", tell: "Tell | None" = None) -> list[Place]:
    """Return what places of the same words come to: one that runs, or those of a category.

    The first that is one or the other decides. With `tell`, which hears what is wrong,
    all are looked at: behind one that runs come those that it shadows, and of a
    category's only those that hold commands. Without, a deciding definition that is
    wrong raises DefinitionError.
    """
    kept: list[Place] = []
    runs = False
    for place in reached:
        if not _counts(place, tell, decides=not kept):
            continue
        if runs or not place.runnable:
            if tell is None or place.definition or place.holds_commands(tell):
                kept.append(place)
        elif not any(earlier.holds_commands() for earlier in kept):
            kept, runs = [place], True
            if tell is None:
                break
    return kept


def _counts(place: Place, tell: "Tell | None", *, decides: bool) -> bool:
    """Read the command.json of a place; return whether the place counts all the same."""
    try:
        place.definition = place.finder.command(place.at)
    except DefinitionError as error:
        if tell is not None:
            tell(str(error))
        if place.holds_below():
            place.error = error
            return True
        if tell is None and decides:
            raise
        return False
    if tell is not None and place.definition is not None:
        for warning in place.definition.warnings:
            tell(warning)
    return True


def _holds_any(places: "Iterable[Place]") -> bool:
    """Tell whether any counts as a category: an empty folder hides no command of a plugin."""
    return any(place.definition or place.holds_commands() for place in places)


def _entered(places: "Iterable[Place]", word: str) -> "Iterable[Place]":
    for place in places if word else ():
        inner = place.enter(word)
        if inner is not None:
            yield inner


def _raise_error_of(places: "Sequence[Place]") -> None:
    """Raise what is wrong with the definition of the place that decides, if anything is."""
    if places and places[0].error is not None:
        raise places[0].error


def _aliased(
    places: "Iterable[Place]",
    declared: "Iterable[Declared]",
    taken: tuple[str, ...],
    alias: str,
) -> str:
    """Return the word of the command that has `alias` in this category, or ""."""
    for place in places if alias else ():
        word: str = place.finder.aliased(place.at, alias)
        if word:
            return word
    for one in declared:
        if one.words[:-1] == taken and alias in one.definition.aliases:
            return one.words[-1]
    return ""


def description(
    places: "Iterable[Place]", tell: "Tell | None" = None
) -> "tuple[Place, Definition] | None":
    """Return what describes a category of these places, and where; None for nothing.

    That is the first category.json, or command.json without entrypoint; in one folder
    category.json goes before. One that is wrong is passed over, and told to `tell`.
    """
    for place in places:
        definition = place.definition
        try:
            definition = place.finder.category(place.at) or definition
        except DefinitionError as error:
            if tell is not None:
                tell(str(error))
        if definition is not None:
            return place, definition
    return None


def _category(words: tuple[str, ...], places: "Sequence[Place]") -> Found:
    described = description(places)
    if described is None:
        return Found("category", words, None, places)
    place, definition = described
    return Found("category", words, definition, places, place.tree.plugin, place.tree.dev)
