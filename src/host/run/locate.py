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
from host.run.lock import NOT_CATEGORIES, RESERVED, SELF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
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
    """What words name.

    `kind` is "command", "category" or "unknown" (then `words` is the part that
    exists). `places` are a category's, one a tree, in order of precedence, or a
    command's own; `plugin` is "" for the installation's own. `shadows` says what else
    has a command's words, where all was looked at.
    """

    __slots__ = ("definition", "dev", "kind", "places", "plugin", "shadows", "words")

    def __init__(
        self,
        kind: str,
        words: tuple[str, ...],
        definition: "Definition | None" = None,
        places: "Sequence[Place]" = (),
        plugin: str = "",
        dev: bool = False,
    ) -> None:
        self.kind = kind
        self.words = words
        self.definition = definition
        self.places = places
        self.plugin = plugin
        self.dev = dev
        self.shadows: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return (self.definition.name if self.definition else "") or self.words[-1]

    @property
    def description(self) -> str:
        if self.definition is None:
            return SELF if self.words == (RESERVED,) else ""
        return self.definition.description

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

    A word that names nothing may be an alias. Raises DefinitionError when the deciding
    definition is wrong.
    """
    found = Found("category", (), None, places)
    for word in words:
        if word.startswith("-"):
            break
        inner = _entered(found, word, declared) if is_word(word) else None
        if inner is None:
            named = _aliased(found, word, declared)
            inner = _entered(found, named, declared) if named else None
        if inner is None:
            _raise_error_of(found.places)
            return Found("unknown", found.words, None, found.places)
        found = inner
        if found.kind == "command":
            return found
    _raise_error_of(found.places)
    _describe(found)
    return found


def below(category: Found, declared: "Sequence[Declared]", tell: "Tell") -> "Iterator[Found]":
    """Yield what is directly below a category, as `locate` finds it; `tell` hears what is wrong.

    A folder that holds no command is nothing, and so is one that is called as what is this
    program's own.
    """
    depth = len(category.words)
    reached: dict[str, list[Place]] = {}
    for place in category.places:
        for word, at in place.finder.inner(place.at, tell):
            if word in NOT_CATEGORIES and not depth:
                tell(f"{at}: left out; the word {word} is this program's own")
            else:
                reached.setdefault(word, []).append(Place(place.tree, place.finder, at))
    own: dict[str, list[Declared]] = {}
    for one in declared:
        if one.words[:depth] == category.words and len(one.words) > depth:
            own.setdefault(one.words[depth], []).append(one)
            reached.setdefault(one.words[depth], [])
    for word, places in reached.items():
        found = _named((*category.words, word), places, own.get(word, ()), tell)
        if found is not None:
            if found.kind == "category":
                _describe(found, tell)
            yield found


def _named(
    words: tuple[str, ...],
    reached: "Iterable[Place]",
    declared: "Sequence[Declared]",
    tell: "Tell | None" = None,
) -> Found | None:
    """Return the command or category that `words` name, None for neither.

    They lead to the places `reached`, and those of `declared` begin with them. The first
    tree that has them decides which of the two it is; categories of the same words are one.
    """
    places = decide(reached, tell)
    shadowed = [one for one in declared if one.words == words] if declared else []
    if places and places[0].runnable:
        tree = places[0].tree
        found = Found("command", words, places[0].definition, places, tree.plugin, tree.dev)
    elif shadowed and declared[0].words == words and not _holds_any(places):
        own, *shadowed = shadowed
        found = Found("command", words, own.definition, (), own.owner, own.dev)
    elif places or declared:
        return Found("category", words, None, places)
    else:
        return None
    if tell is not None and (places[1:] or shadowed):
        hidden = [place.at for place in places[1:]]
        found.shadows = (*hidden, *[f"plugin {one.plugin}" for one in shadowed])
    return found


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


def _entered(category: Found, word: str, declared: "Iterable[Declared]") -> Found | None:
    """Return what `word` names in a category, None for nothing; raises DefinitionError."""
    words = (*category.words, word)
    places = category.places if category.words or word not in NOT_CATEGORIES else ()
    reached = (inner for place in places if (inner := place.enter(word)))
    own = [one for one in declared if one.words[: len(words)] == words]
    return _named(words, reached, own)


def _raise_error_of(places: "Sequence[Place]") -> None:
    """Raise what is wrong with the definition of the place that decides, if anything is."""
    if places and places[0].error is not None:
        raise places[0].error


def _aliased(category: Found, alias: str, declared: "Iterable[Declared]") -> str:
    """Return the word of the command that has `alias` in a category, "" for none."""
    for place in category.places if alias else ():
        word: str = place.finder.aliased(place.at, alias)
        if word:
            return word
    for one in declared:
        if one.words[:-1] == category.words and alias in one.definition.aliases:
            return one.words[-1]
    return ""


def _describe(category: Found, tell: "Tell | None" = None) -> None:
    """Give it the first category.json, or command.json without entrypoint, as its definition."""
    for place in category.places:
        definition: Definition | None = None
        try:
            definition = place.finder.category(place.at)
            told = definition.warnings if definition else ()
        except DefinitionError as error:
            told = (str(error),)
        if tell is not None:
            for text in told:
                tell(text)
        category.definition = definition or place.definition
        if category.definition is not None:
            category.plugin, category.dev = place.tree.plugin, place.tree.dev
            break
