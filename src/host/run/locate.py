"""Words → the command or category that they name, by looking where it would be.

The file system finds one command faster than any index of all of them can be read,
so a run costs the same with ten commands and with ten thousand.
"""

import os

from builtin_plugins.directories.finder import holds_commands, subdirectories
from host.errors import DefinitionError
from host.run.definition import Definition, is_word, read_category, read_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from host.run.lock import Declared, Tree


class Found:
    """What the first `depth` words name.

    `kind` is "command", "category" or "unknown" (then `words` is the part that
    exists). `directories` are a category's folders, one a tree, in order of
    precedence; `plugin` is "" for the installation's own command.
    """

    __slots__ = ("definition", "dev", "directories", "kind", "plugin", "words")

    def __init__(
        self,
        kind: str,
        words: "Iterable[str]",
        definition: Definition | None = None,
        directories: "Iterable[str]" = (),
        plugin: str = "",
        dev: bool = False,
    ) -> None:
        self.kind = kind
        self.words = tuple(words)
        self.definition = definition
        self.directories = list(directories)
        self.plugin = plugin
        self.dev = dev


class _Place:
    """A directory reached in one tree, with its command.json when it has one.

    `error` is what is wrong with that file, where commands lie below it all the same.
    """

    __slots__ = ("definition", "error", "path", "tree")

    def __init__(
        self,
        tree: "Tree",
        path: str,
        definition: Definition | None = None,
        error: DefinitionError | None = None,
    ) -> None:
        self.tree = tree
        self.path = path
        self.definition = definition
        self.error = error

    @property
    def runnable(self) -> bool:
        return self.definition is not None and self.definition.entrypoint != ""


def locate(
    words: "Sequence[str]", trees: "Iterable[Tree]", declared: "Sequence[Declared]" = ()
) -> Found:
    """Return what the leading `words` name; the words after those are its arguments.

    At each step the first tree that has the word decides whether it is a command
    or a category; categories of the same words are one category. A word that is
    none may be an alias. Raises DefinitionError when the deciding definition is wrong.
    """
    places = [_Place(tree, tree.path) for tree in trees]
    taken: tuple[str, ...] = ()
    for word in words:
        if word.startswith("-"):
            break
        name = word if is_word(word) else ""
        inner = _step(places, name)
        own = [one for one in declared if one.words[: len(taken) + 1] == (*taken, name)]
        if not inner and not own:
            name = _aliased(places, declared, taken, word)
            inner = _step(places, name)
            own = [one for one in declared if one.words == (*taken, name)]
        if not inner and not own:
            _raise_error_of(places)
            return Found("unknown", taken, None, [place.path for place in places])
        taken = (*taken, name)
        if inner and inner[0].runnable:
            place = inner[0]
            return Found(
                "command", taken, place.definition, [place.path], place.tree.plugin, place.tree.dev
            )
        if not inner and own[0].words == taken:
            return Found("command", taken, own[0].definition, plugin=own[0].plugin)
        places = inner
    _raise_error_of(places)
    return _category(taken, places)


def _raise_error_of(places: "Iterable[_Place]") -> None:
    """Raise what is wrong with the definition of the place that decides, if anything is."""
    for place in places:
        if place.error is not None:
            raise place.error
        return


def _step(places: "Iterable[_Place]", word: str) -> list[_Place]:
    """Return where `word` leads from `places`: one runnable place, or a category's places."""
    inner: list[_Place] = []
    for place in places:
        path = os.path.join(place.path, word)
        if not word or not os.path.isdir(path):
            continue
        try:
            found = _Place(place.tree, path, read_command(os.path.join(path, "command.json")))
        except FileNotFoundError:
            found = _Place(place.tree, path)
        except DefinitionError as error:
            if any(holds_commands(sub.path) for sub in subdirectories(path)):
                found = _Place(place.tree, path, error=error)
            elif inner:
                continue
            else:
                raise
        if not found.runnable:
            inner.append(found)
        elif not any(holds_commands(earlier.path) for earlier in inner):
            return [found]
    return inner


def _aliased(
    places: "Iterable[_Place]",
    declared: "Iterable[Declared]",
    taken: tuple[str, ...],
    alias: str,
) -> str:
    """Return the word of the command that has `alias` in this category, or ""."""
    if not alias:
        return ""
    for place in places:
        for inner in subdirectories(place.path):
            try:
                definition = read_command(os.path.join(inner.path, "command.json"))
            except (FileNotFoundError, DefinitionError):
                continue
            if definition.entrypoint and alias in definition.aliases:
                return inner.word
    for one in declared:
        if one.words[:-1] == taken and alias in one.definition.aliases:
            return one.words[-1]
    return ""


def _category(words: tuple[str, ...], places: "Iterable[_Place]") -> Found:
    """Describe a category by the first category.json, or command.json without entrypoint."""
    found = Found("category", words, None, [place.path for place in places])
    for place in places:
        definition = place.definition
        try:
            definition = read_category(os.path.join(place.path, "category.json"))
        except (FileNotFoundError, DefinitionError):
            pass
        if definition is not None:
            found.definition = definition
            found.plugin, found.dev = place.tree.plugin, place.tree.dev
            break
    return found
