"""How a tree of commands on disk is looked into: any depth, no recursion, no endless links.

`Directories` is a finder (host.run.locate says what one answers); its places are paths.
A run loads this module, so it imports next to nothing.
"""

import _stat
import posix

from host.run import definition as definition_files
from host.run import paths
from host.run.definition import is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from host.run.definition import Definition

    Tell = Callable[[str], None]

_LONGEST_SHOWN = 400  # characters of a path
_MOST_BEYOND = 10_000  # directories behind one link that are searched for a command


class Directories:
    """The finder of a directory of categories, laid out like `commands/`.

    A link to a directory is followed, but no link below it, and none to a directory
    that the tree lies in; so every walk ends. `definitions` is what reads them, for who
    reads many: an index that need not parse them again.
    """

    __slots__ = ("_beyond", "_holding", "_last", "_real", "definitions", "root")

    def __init__(self, root: str) -> None:
        self.root = root
        self.definitions: Any = definition_files
        self._real = ""  # the root's real path, once a link makes it interesting
        self._beyond: set[str] = set()  # places reached through a link
        self._holding: set[str] = set()  # places known to hold commands
        self._last: Any = ("", [], [])  # the last place listed, words in it, what is wrong

    def enter(self, place: str, word: str) -> str:
        """Return the directory that `word` leads to from `place`, "" where there is none."""
        path = paths.join(place, word)
        try:
            mode = posix.lstat(path).st_mode
        except OSError:
            return ""
        if _stat.S_ISLNK(mode):
            return path if paths.is_directory(path) and self._follows(place, path) else ""
        if place in self._beyond:
            self._beyond.add(path)
        return path if _stat.S_ISDIR(mode) else ""

    def command(self, place: str) -> "Definition | None":
        """Return what the command.json there says, None without one; raises DefinitionError."""
        return self._definition(f"{place}/command.json")

    def category(self, place: str) -> "Definition | None":
        """Return what the category.json there says, None without one; raises DefinitionError."""
        return self._definition(f"{place}/category.json")

    def inner(self, place: str, tell: "Tell | None" = None) -> list[tuple[str, str]]:
        """Return (word, path) of the directories in `place` that can be something, sorted."""
        return [(word, paths.join(place, word)) for word in self.words(place, tell)]

    def words(self, place: str, tell: "Tell | None" = None) -> list[str]:
        """Return the names of the directories in `place` that can be something, sorted.

        Those that start with a dot, and `__pycache__`, are passed over. What is left out
        or cannot be read is told to `tell`. One place asked for again is not read again.
        """
        if place != self._last[0]:
            told: list[str] = []
            self._last = (place, sorted(self._listed(place, told.append, names=True)), told)
        for text in self._last[2]:
            (tell or _nobody)(text)
        words: list[str] = self._last[1]
        return words

    def holds_commands(self, place: str, tell: "Tell | None" = None) -> bool:
        """Tell whether `place` is a category: it has a category.json, or a command somewhere.

        Each directory is looked into once, however often it is asked for.
        """
        if place in self._holding:
            return True
        found = self._first_definition(place, tell)
        while len(found) >= len(place):  # all on the way down hold it too
            self._holding.add(found)
            found = paths.dirname(found)
        return place in self._holding

    def aliased(self, place: str, alias: str) -> str:
        """Return the word of the command in `place` that has `alias`, "" for none."""
        from host.run.aliases import aliased

        return aliased(place, self.words(place), alias)

    def remark(self, place: str, word: str) -> str:
        """Return why the directory `word` names nothing, "" where there is none."""
        path = paths.join(place, word)
        if not paths.is_directory(path):
            return ""
        return f"{path} holds no command.json that makes it a command"

    def _definition(self, path: str) -> "Definition | None":
        try:
            found: Definition = self.definitions.read_definition(path)
        except FileNotFoundError:
            return None
        return found

    def _listed(self, place: str, tell: "Tell | None", *, names: bool) -> list[str]:
        """Return the words in `place`, in no order."""
        found: list[str] = []
        beyond = place in self._beyond
        tell = tell or _nobody
        try:
            with posix.scandir(place) as entries:
                for entry in entries:
                    word = entry.name
                    if is_word(word) and entry.is_dir(follow_symlinks=False):
                        if beyond:
                            self._beyond.add(entry.path)
                        found.append(word)
                    elif word.startswith((".", "__")) or not _is_directory(entry):
                        continue
                    elif is_word(word):
                        if self._follows(place, entry.path, tell):
                            found.append(word)
                    elif names:
                        tell(
                            f"{entry.path}: left out; a word has letters, digits and ._- "
                            "after a first letter or digit, at most 64 in all"
                        )
        except OSError as failure:
            tell(f"{_shortened(place)}: {failure.strerror}")
        return found

    def _follows(self, place: str, path: str, tell: "Tell | None" = None) -> bool:
        """Tell whether the link `path` in `place` counts, and remember that it is one."""
        if place in self._beyond:
            return False
        self._real = self._real or paths.realpath(self.root)
        target = paths.realpath(path)
        if f"{self._real}/".startswith(f"{target.rstrip('/')}/"):
            if tell is not None:
                tell(f"{path}: left out; it links to {target}, which this tree lies in")
            return False
        self._beyond.add(path)
        return True

    def _first_definition(self, place: str, tell: "Tell | None") -> str:
        """Return the directory of the first definition that makes `place` a category.

        That is `place` itself with a category.json, else the first at or below it with
        a command.json; "" when there is none.
        """
        if paths.is_file(f"{place}/category.json"):
            return place
        near = _command_in(place)
        if near:
            return near
        pending = [place]
        left = _MOST_BEYOND
        while pending:
            at = pending.pop()
            if paths.is_file(paths.join(at, "command.json")):
                return at
            left -= at in self._beyond
            if not left:
                (tell or _nobody)(f"{place}: searched no further; it links to a large tree")
                return ""
            inner = sorted(self._listed(at, tell, names=False))
            pending += [paths.join(at, word) for word in inner]
        return ""


def _command_in(place: str) -> str:
    """Return a directory right below `place` with a command.json, no link; "" for none.

    Most categories have one, and what else is in there need not be listed to tell so.
    """
    try:
        with posix.scandir(place) as entries:
            for entry in entries:
                known = is_word(entry.name) and not entry.is_symlink()
                if known and paths.is_file(f"{entry.path}/command.json"):
                    return entry.path
    except OSError:
        pass  # whoever lists it tells so
    return ""


def _nobody(text: str) -> None:
    del text


def _is_directory(entry: "posix.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link that loops


def _shortened(path: str) -> str:
    """Return a path to show; one that is too long for the system is too long for a line."""
    if len(path) <= _LONGEST_SHOWN:
        return path
    return f"{path[:_LONGEST_SHOWN]}… ({len(path)} characters)"
