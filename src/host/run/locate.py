"""Words → the command or category that they name, and the precedence of those with the same words.

`decide` says who wins; what the finders of all trees say is merged. Only what lies on the
way is looked at, so a run costs the same with ten commands and with ten thousand. What is
below a place is the business of the tree's finder, which the lock names; nothing here
touches a disk. What a plugin declares in code is a tree without a path behind the others.
A finder is made from a tree's path and answers for places, which only it understands
(`root` is the one of no words):

    enter(place, word)        the place that a word leads to, "" for none
    command(place)            its command.json, None for none; raises DefinitionError
    category(place)           its category.json, likewise
    words(place, tell)        the words below, sorted
    inner(place, tell)        (word, place) for each of them
    holds_commands(place, tell)  whether it is a category: by its word or what is below
    aliased(place, alias)     the word of the command with that alias, "" for none
    remark(place, word)       why a word that is there names nothing, "" for no reason
    definitions               what reads the files: host.run.definition, or like it an index

`tell` is called with what is wrong there, in a line. Finders are this distribution's
own: what a plugin adds costs a run of another's command nothing.
"""

from host.errors import DefinitionError
from host.run.definition import is_word
from host.run.lock import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from host.run.definition import Definition
    from host.run.lock import Declared

    Tell = Callable[[str], None]

RESERVED = "self"  # the first word of the commands that manage the program itself
NOT_CATEGORIES = (RESERVED, "help")  # first words that are this program's own


class Place:
    """Where words lead in one tree: `at` is the finder's name for it, a path or words.

    `definition` is its command.json once `decide` has looked; `error` is what is wrong
    with that file, where commands lie below it all the same.
    """

    __slots__ = ("at", "definition", "error", "finder", "tree")

    def __init__(self, tree: "Tree", finder: "Any", at: "Any") -> None:
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
        return self.definition.description if self.definition else ""

    @property
    def directories(self) -> list[str]:
        return [place.at for place in self.places if place.tree.path]


class Declarations:
    """The finder of what one plugin declares in code: its places are words.

    The first command that begins with the words of a place decides what it is. What is
    declared of a category describes one that there is.
    """

    __slots__ = ("_declared", "definitions", "root")

    def __init__(self, declared: "Iterable[Declared]") -> None:
        self._declared = declared
        self.definitions = None
        self.root: tuple[str, ...] = ()

    def enter(self, place: tuple[str, ...], word: str) -> tuple[str, ...]:
        inner = (*place, word)
        return next((inner for _ in self._below(inner)), ())

    def command(self, place: tuple[str, ...]) -> "Definition | None":
        first = next(self._below(place))
        return first.definition if first.words == place else None

    def category(self, place: tuple[str, ...]) -> "Definition | None":
        told = (one.definition for one in self._declared if not one.runs and one.words == place)
        return next(told, None)

    def words(self, place: tuple[str, ...], tell: "Tell | None" = None) -> list[str]:
        del tell
        words = {one.words[: len(place) + 1] for one in self._below(place)} - {place}
        return sorted([one[-1] for one in words])

    def inner(
        self, place: tuple[str, ...], tell: "Tell | None" = None
    ) -> list[tuple[str, tuple[str, ...]]]:
        return [(word, (*place, word)) for word in self.words(place, tell)]

    def holds_commands(self, place: tuple[str, ...], tell: "Tell | None" = None) -> bool:
        del place, tell
        return True

    def aliased(self, place: tuple[str, ...], alias: str) -> str:
        for one in self._below(place):
            if one.words[:-1] == place and alias in one.definition.aliases:
                return one.words[-1]
        return ""

    def remark(self, place: tuple[str, ...], word: str) -> str:
        del place, word
        return ""

    def _below(self, place: tuple[str, ...]) -> "Iterator[Declared]":
        return (one for one in self._declared if one.runs and one.words[: len(place)] == place)


def roots(
    trees: "Iterable[Tree]", declared: "Iterable[Declared]" = (), definitions: "Any" = None
) -> list[Place]:
    """Return the place of no words in each tree, and behind them in what each plugin declares.

    `definitions` is what finders are to read files with, where many are read.
    """
    found = []
    linked = set()
    for tree in trees:
        module, _, name = tree.finder.partition(":")
        finder = getattr(__import__(module, fromlist=[name]), name)(tree.path)
        finder.definitions = definitions or finder.definitions
        found.append(Place(tree, finder, finder.root))
        if tree.dev:
            linked.add(tree.plugin)
    own: list[Declared] = []
    for one in declared:
        if not own or own[0].plugin != one.plugin:
            own = []
            tree = Tree("", "" if one.ours else one.plugin, one.plugin in linked)
            found.append(Place(tree, Declarations(own), ()))
        own.append(one)
    return found


def locate(words: "Sequence[str]", places: "list[Place]") -> Found:
    """Return what the leading `words` name, from `places` of no words; the rest are arguments.

    At each step the first tree that has the word decides whether it is a command
    or a category; categories of the same words are one category. A word that is
    none may be an alias. Raises DefinitionError when the deciding definition is wrong.
    """
    found = Found("category", (), None, places)
    for word in words:
        if word.startswith("-"):
            break
        inner = _entered(found, word) if is_word(word) else None
        if inner is None:
            named = _aliased(found.places, word)
            inner = _entered(found, named) if named else None
        if inner is None:
            _raise_error_of(found.places)
            return Found("unknown", found.words, None, found.places)
        found = inner
        if found.kind == "command":
            return found
    _raise_error_of(found.places)
    _describe(found)
    return found


def below(category: Found, tell: "Tell") -> "Iterator[Found]":
    """Yield what is directly below a category, as `locate` finds it; `tell` hears what is wrong.

    A folder that holds no command is nothing, and so is one that is called as what is this
    program's own.
    """
    reached: dict[str, list[Place]] = {}
    for place in category.places:
        for word, at in place.finder.inner(place.at, tell):
            if _is_ours(category, word) and place.tree.path:
                tell(f"{at}: left out; the word {word} is this program's own")
            else:
                reached.setdefault(word, []).append(Place(place.tree, place.finder, at))
    for word, places in reached.items():
        found = _named((*category.words, word), places, tell)
        if found is not None:
            if found.kind == "category":
                _describe(found, tell)
            yield found


def _entered(category: Found, word: str) -> Found | None:
    """Return what `word` names in a category, None for nothing; raises DefinitionError."""
    ours = _is_ours(category, word)
    places = [one for one in category.places if not one.tree.path] if ours else category.places
    reached = (inner for place in places if (inner := place.enter(word)))
    return _named((*category.words, word), reached)


def _is_ours(category: Found, word: str) -> bool:
    """Tell whether no folder can give a word of this category a meaning."""
    return word in NOT_CATEGORIES and not category.words


def _named(
    words: tuple[str, ...], reached: "Iterable[Place]", tell: "Tell | None" = None
) -> Found | None:
    """Return the command or category that places of the same words come to, None for neither."""
    places = decide(reached, tell)
    if not places or not places[0].runnable:
        return Found("category", words, None, places) if places else None
    tree = places[0].tree
    found = Found("command", words, places[0].definition, places, tree.plugin, tree.dev)
    if tell is not None and places[1:]:
        found.shadows = tuple(
            [one.at if one.tree.path else f"plugin {one.tree.plugin}" for one in places[1:]]
        )
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


def _raise_error_of(places: "Sequence[Place]") -> None:
    """Raise what is wrong with the definition of the place that decides, if anything is."""
    if places and places[0].error is not None:
        raise places[0].error


def _aliased(places: "Iterable[Place]", alias: str) -> str:
    """Return the word of the command that has `alias` in a category, "" for none."""
    for place in places if is_word(alias) else ():
        word: str = place.finder.aliased(place.at, alias)
        if word:
            return word
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
