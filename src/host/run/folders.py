"""A tree of commands on disk: any depth, no recursion, no endless links; its places are paths."""

import _stat
import posix

from host.errors import DefinitionError, Problem
from host.run import dirname, is_directory, is_file, join, read_regular, realpath
from host.run.command import is_word, read_definition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from host.run.command import Definition

_LONGEST_SHOWN = 400  # characters of a path
_LARGEST = 1 << 20  # bytes of a command.json that is searched for an alias
_MOST_BEYOND = 10_000  # directories behind one link that are searched for a command


class FolderTree:
    """A directory of categories, laid out like `commands/`.

    A link to a directory is followed, but no link below it, and none to a directory that contains
    the tree; so every walk ends. Functions that take `problems` append what is left out or
    cannot be read.
    """

    __slots__ = ("_beyond", "_holding", "_last", "_read", "_real", "dev", "plugin", "root")

    def __init__(
        self,
        root: str,
        plugin: str = "",
        dev: bool = False,
        read: "Callable[[str], Definition]" = read_definition,
    ) -> None:
        self.root = root
        self.plugin = plugin
        self.dev = dev
        self._read = read
        self._real = ""  # the root's real path, once a link makes it interesting
        self._beyond: set[str] = set()  # places reached through a link
        self._holding: set[str] = set()  # places known to hold commands
        self._last: Any = ("", [], [])  # the last place listed, its words, its problems

    def path_of(self, place: str, word: str) -> str:
        return join(place, word)

    def enter(self, place: str, word: str) -> str:
        """Return the directory that `word` leads to from `place`, "" where there is none."""
        path = join(place, word)
        try:
            mode = posix.lstat(path).st_mode
        except OSError:
            return ""
        if _stat.S_ISLNK(mode):
            return path if is_directory(path) and self._follows(place, path) else ""
        if place in self._beyond:
            self._beyond.add(path)
        return path if _stat.S_ISDIR(mode) else ""

    def command(self, place: str) -> "Definition | None":
        """Return what the command.json there says, None without one; raises DefinitionError."""
        return self._definition(f"{place}/command.json")

    def category(self, place: str) -> "Definition | None":
        """Return what the category.json there says, None without one; raises DefinitionError."""
        return self._definition(f"{place}/category.json")

    def words(self, place: str, problems: "list[Problem] | None" = None) -> list[str]:
        """Return the names of the directories in `place` that can be words, sorted.

        Names that start with a dot, and `__pycache__`, are passed over. The last place is not
        read again.
        """
        if place != self._last[0]:
            wrong: list[Problem] = []
            self._last = (place, sorted(self._listed(place, wrong, names=True)), wrong)
        if problems is not None:
            problems += self._last[2]
        words: list[str] = self._last[1]
        return words

    def holds_commands(self, place: str, problems: "list[Problem] | None" = None) -> bool:
        """Return whether `place` is a category: it has a category.json, or a command below it.

        Each directory is read once, however often the question comes.
        """
        if place in self._holding:
            return True
        found = self._first_definition(place, problems)
        while len(found) >= len(place):  # all on the way down hold it too
            self._holding.add(found)
            found = dirname(found)
        return place in self._holding

    def aliased(self, place: str, alias: str) -> str:
        """Return the word of the command in `place` that has `alias`, "" for none."""
        for word in self.words(place):
            file = f"{place}/{word}/command.json"
            try:
                content = read_regular(file, _LARGEST, DefinitionError)
                if b"aliases" not in content and b"\\u" not in content:  # a key may be escaped
                    continue
                definition = self._read(file)
            except (FileNotFoundError, DefinitionError):
                continue
            if definition.entrypoint and alias in definition.aliases:
                return word
        return ""

    def _definition(self, path: str) -> "Definition | None":
        try:
            return self._read(path)
        except FileNotFoundError:
            return None

    def _listed(self, place: str, problems: list[Problem], *, names: bool) -> list[str]:
        """Return the words in `place`, in no order."""
        found: list[str] = []
        beyond = place in self._beyond
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
                        if self._follows(place, entry.path, problems):
                            found.append(word)
                    elif names:
                        reason = (
                            "left out; a word has letters, digits and ._- "
                            "after a first letter or digit, at most 64 in all"
                        )
                        problems.append(Problem(entry.path, reason))
        except OSError as failure:
            problems.append(Problem(_shortened(place), f"{failure.strerror}"))
        return found

    def _follows(self, place: str, path: str, problems: "list[Problem] | None" = None) -> bool:
        """Return whether the link `path` in `place` is followed, and remember that it is."""
        if place in self._beyond:
            return False
        self._real = self._real or realpath(self.root)
        target = realpath(path)
        if f"{self._real}/".startswith(f"{target.rstrip('/')}/"):
            if problems is not None:
                reason = f"left out; it links to {target}, which contains this tree"
                problems.append(Problem(path, reason))
            return False
        self._beyond.add(path)
        return True

    def _first_definition(self, place: str, problems: "list[Problem] | None") -> str:
        """Return the directory of the first definition that makes `place` a category.

        That is `place` itself with a category.json, else the first at or below it with
        a command.json; "" when there is none.
        """
        if is_file(f"{place}/category.json"):
            return place
        near = _command_in(place)
        if near:
            return near
        problems = [] if problems is None else problems
        pending = [place]
        left = _MOST_BEYOND
        while pending:
            at = pending.pop()
            if is_file(join(at, "command.json")):
                return at
            left -= at in self._beyond
            if not left:
                problems.append(Problem(place, "searched no further; it links to a large tree"))
                return ""
            inner = sorted(self._listed(at, problems, names=False))
            pending += [join(at, word) for word in inner]
        return ""


def _command_in(place: str) -> str:
    """Return a directory right below `place` with a command.json, no link; "" for none.

    Most categories have one, and what else is in there need not be listed to tell so.
    """
    try:
        with posix.scandir(place) as entries:
            for entry in entries:
                known = is_word(entry.name) and not entry.is_symlink()
                if known and is_file(f"{entry.path}/command.json"):
                    return entry.path
    except OSError:
        pass  # listing the folder reports it
    return ""


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
