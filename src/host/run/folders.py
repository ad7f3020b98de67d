"""A tree of commands on disk: any depth, no recursion, no endless links; its places are paths.

A place is the path that a command's words spell, `root/theme/set`. A folder there is a category or
a command. A script there has that path, perhaps with an extension (`root/theme/set.sh`).
"""

import _stat
import posix

from host.errors import DefinitionError, Problem
from host.run import basename, dirname, is_directory, is_file, join, read_regular, realpath
from host.run.command import is_word, read_definition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from host.run.command import Definition

_LONGEST_SHOWN = 400  # characters of a path
_LARGEST = 1 << 20  # bytes of a command.json that is searched for an alias
_MOST_BEYOND = 10_000  # directories behind one link that are searched for a command
_DEFAULTS = (b"env", b"group", b"requires", b"\\u")  # in a category.json with defaults; escapes too
_NO_SUBFOLDERS = 2  # links to a directory: from above and from itself
_EXTENSIONS = (  # of scripts, in the order in which files of one word count
    *("", ".awk", ".bash", ".fish", ".js", ".lua", ".mjs", ".php", ".pl", ".py", ".rb", ".sh"),
    *(".ts", ".zsh"),
)
_NO_SCRIPTS = (  # documents and data, executable or not
    *(".md", ".txt", ".rst", ".json", ".yaml", ".yml", ".toml", ".ini"),
    *(".conf", ".env", ".lock", ".log"),
)


def script_word(name: str) -> str:
    """Return the word of a script by its file's name, "" for a file that is never one."""
    if name.startswith((".", "_")) or name.endswith(_NO_SCRIPTS):
        return ""
    stem, dot, extension = name.rpartition(".")
    return stem if f"{dot}{extension}" in _EXTENSIONS and stem else name


def words_of_script(name: str, scripts: "Mapping[str, str]") -> list[str]:
    """Return the words of a script's file by its prefix and separator, [] for none."""
    word, prefix, separator = script_word(name), scripts.get("prefix", ""), scripts.get("split", "")
    if not word.startswith(prefix):
        return []
    word = word.removeprefix(prefix)
    words = word.split(separator) if separator else [word]
    return words if all(map(is_word, words)) else []


class FolderTree:
    """A directory of categories, laid out like `commands/`.

    `scripts` is None if only folders with a command.json are commands. Otherwise executable files
    are commands too (CONTRACT 15), and it may have "prefix" and "split" for the names of those in
    the root.

    A link to a directory is followed, but no link below it, and none to a directory that contains
    the tree; so every walk ends. Functions that take `problems` append what is left out or
    cannot be read.
    """

    __slots__ = (
        *("_above", "_bare", "_beyond", "_entrypoints", "_files", "_holding", "_last", "_left"),
        *("_listing", "_names", "_owned", "_read", "_real", "_scripts", "_virtual", "dev"),
        *("plugin", "root", "scripts"),
    )

    project: "Any" = None

    def __init__(
        self,
        root: str,
        plugin: str = "",
        dev: bool = False,
        scripts: "Mapping[str, str] | None" = None,
        read: "Callable[[str], Definition]" = read_definition,
    ) -> None:
        self.root = root.rstrip("/") or "/"
        self.plugin = plugin
        self.dev = dev
        self.scripts = scripts
        self._read = read
        self._real = ""  # the root's real path, once a link makes it interesting
        self._beyond: set[str] = set()  # places reached through a link
        self._owned: set[str] = set()  # commands' folders, and those below: files there are theirs
        self._holding: set[str] = set()  # places known to hold commands
        self._last: Any = ("", [], [])  # the last place listed, its words, its problems
        self._names: dict[str, list[str]] = {}  # words of the files in a folder that was listed
        self._files: dict[str, list[str]] = {}  # the paths that may be the script of a place
        self._bare: set[str] = set()  # places of scripts that are known to have no folder beside
        self._scripts: dict[str, str] = {}  # the script of a place that was asked for
        self._entrypoints: dict[str, str] = {}  # of categories, by their folders
        self._virtual: dict[str, set[str]] = {}  # words of places that only names of files make
        self._above: dict[str, tuple[Definition, ...]] = {}  # defaults for what is below a place
        self._left: list[str] | None = None  # names in the root that are not split yet
        self._listing: frozenset[str] = frozenset()  # all names there

    def path_of(self, place: str, word: str) -> str:
        return f"{place}/{word}" if place != "/" else f"/{word}"

    def enter(self, place: str, word: str) -> str:
        """Return the place that `word` leads to from `place`, "" if there is nothing."""
        if self.scripts and place == self.root:
            self._split_names(self.scripts, word)
        path = join(place, word)
        try:
            mode = posix.lstat(path).st_mode
        except OSError:
            mode = 0
        is_folder = _stat.S_ISDIR(mode)
        if _stat.S_ISLNK(mode) and is_directory(path):
            is_folder = self._follows(place, path)
        if place in self._owned:
            is_folder = is_folder and self._own(path)
        elif not is_folder:
            return path if path in self._virtual or self.script(path) else ""
        if is_folder and place in self._beyond:
            self._beyond.add(path)
        return path if is_folder else ""

    def command(self, place: str) -> "Definition | None":
        """Return the definition of the command or category there, None without one.

        The folder is asked first: its command.json, then its script `main`. Then comes a script
        beside the folder. Raises DefinitionError.
        """
        definition, main = None, ""
        if place not in self._bare:
            try:
                definition = self._read(f"{place}/command.json")
            except FileNotFoundError:
                pass
            if definition is not None and definition.entrypoint:
                self._owned.add(place)
                return definition
            main = self._main(place, definition)
        file = main or self.script(place)
        if not file:
            return definition
        if main:
            self._owned.add(place)
        if main and definition is not None:
            definition.entrypoint = basename(main)
        else:
            definition = self._read(file)
        definition.name = definition.name or basename(place)
        return definition

    def script(self, place: str) -> str:
        """Return the file of the script that has the words of `place`, "" for none."""
        if self.scripts is None or place == self.root:
            return ""
        found = self._scripts.get(place)
        if found is None:
            folder, word = dirname(place), basename(place)
            paths = self._files.get(place, [])
            if not paths and folder not in self._owned and folder not in self._names:
                usual = _EXTENSIONS if script_word(word) == word else _EXTENSIONS[1:]
                paths = [f"{place}{extension}" for extension in usual]
            count = (one for one in paths if not self.refusal(one))
            own = (one for one in count if basename(one) != self._entrypoint(dirname(one)))
            found = self._scripts[place] = next(own, "")
        return found

    def _entrypoint(self, folder: str) -> str:
        """Return the entrypoint that the category.json in a folder names, which is no command."""
        if folder not in self._entrypoints:
            try:
                category = self.category(folder)
            except DefinitionError:  # listing the folder reports it
                category = None
            self._entrypoints[folder] = category.entrypoint if category else ""
        return self._entrypoints[folder]

    def refusal(self, path: str) -> str:
        """Return why the file `path` cannot be a command, "" if it can."""
        try:
            mode = posix.lstat(path).st_mode
            if _stat.S_ISLNK(mode):
                self._real = self._real or realpath(self.root)
                target = realpath(path)
                if not target.startswith(f"{self._real}/"):
                    return f"it links to {target}, which is outside this tree"
                mode = posix.stat(path).st_mode
            if not _stat.S_ISREG(mode):
                return "it is not a regular file"
            if mode & 0o111:
                return ""
            with open(path, "rb", buffering=0) as file:
                return "" if file.read(2) == b"#!" else "it is not executable and has no shebang"
        except (OSError, ValueError) as failure:
            return getattr(failure, "strerror", None) or str(failure)

    def refused(self, place: str, word: str) -> "list[tuple[str, str]]":
        """Return the files in `place` that have a word but cannot be its script, with reasons."""
        takes = self.scripts is not None and place not in self._owned
        paths = [f"{join(place, word)}{one}" for one in _EXTENSIONS] if takes else []
        return [(path, self.refusal(path)) for path in paths if is_file(path)]

    def above(self, place: str) -> "tuple[Definition, ...]":
        """Return the category.json definitions above a command, the outermost first.

        Raises DefinitionError.
        """
        pending = []
        at = place
        while len(at) > len(self.root):
            at = dirname(at)
            if at in self._above:
                break
            pending.append(at)
        found = self._above.get(at, ())
        for at in reversed(pending):
            own = self.category(at) if _has_defaults(f"{at}/category.json") else None
            found = self._above[at] = (*found, own) if own else found
        return found

    def category(self, place: str) -> "Definition | None":
        """Return what the category.json there says, None without one; raises DefinitionError."""
        try:
            return self._read(f"{place}/category.json")
        except FileNotFoundError:
            return None

    def words(self, place: str, problems: "list[Problem] | None" = None) -> list[str]:
        """Return the names of the folders and scripts in `place` that can be words, sorted.

        Names that start with a dot, and `__pycache__`, are passed over. The last place is not
        read again.
        """
        if place != self._last[0]:
            wrong: list[Problem] = []
            if self.scripts and place == self.root:
                self._split_names(self.scripts)
            found = {*self._virtual.get(place, ())}
            if not (found or self._scripts.get(place)) or is_directory(place):
                found.update(self._listed(place, wrong, names=True))
                names = () if place in self._owned else self._names.get(place, ())
                found.update([word for word in names if self.script(join(place, word))])
            self._last = (place, sorted(found), wrong)
        if problems is not None:
            problems += self._last[2]
        words: list[str] = self._last[1]
        return words

    def has_below(self, place: str) -> bool:
        """Return whether anything is below the command at `place`."""
        if place in self._bare:
            return place in self._virtual
        if place not in self._owned:
            return place in self._virtual or (is_directory(place) and self.holds_commands(place))
        try:
            if posix.stat(place).st_nlink == _NO_SUBFOLDERS:
                return False
        except OSError:
            return False
        return bool(self.words(place))

    def holds_commands(self, place: str, problems: "list[Problem] | None" = None) -> bool:
        """Return whether `place` is a category: it has a category.json, or a command below it.

        Each directory is read once, however often the question comes.
        """
        if place in self._holding:
            return True
        if place in self._virtual:
            inner = [join(place, word) for word in self._virtual[place]]
            if any(self.script(one) or self.holds_commands(one) for one in inner):
                return True
        if (place in self._virtual or place in self._scripts) and not is_directory(place):
            return False
        found = self._first_definition(place, problems)
        while len(found) >= len(place):  # all on the way down hold it too
            self._holding.add(found)
            found = dirname(found)
        return place in self._holding

    def aliased(self, place: str, alias: str) -> str:
        """Return the word of the command in `place` that has `alias`, "" for none."""
        for word in self.words(place):
            path = join(place, word)
            file = self.script(path) or f"{path}/command.json"
            try:
                content = read_regular(file, _LARGEST, DefinitionError)
                if b"aliases" not in content and b"\\u" not in content:  # a key may be escaped
                    continue
                definition = self.command(path)
            except (FileNotFoundError, DefinitionError):
                continue
            if definition and definition.entrypoint and alias in definition.aliases:
                return word
        return ""

    def _split_names(self, scripts: "Mapping[str, str]", first: str = "") -> None:
        """Take the words of scripts in the root from their names, `db-backup` as `db backup`.

        Only those that begin with `first` are looked at, as a run needs few of them.
        """
        if self._left is None:
            self._names[self.root] = []
            try:
                self._left = sorted(posix.listdir(self.root))
            except OSError:
                self._left = []  # listing the root reports it
            self._listing = frozenset(self._left)
        begin = f"{scripts.get('prefix', '')}{first}"
        taken = [name for name in self._left if name.startswith(begin)]
        if taken:
            self._left = [name for name in self._left if not name.startswith(begin)]
        for name in taken:
            place, words = self.root, words_of_script(name, scripts)
            for word in words:
                self._virtual.setdefault(place, set()).add(word)
                place = join(place, word)
            if words:
                self._files.setdefault(place, []).append(join(self.root, name))
                if words[0] not in self._listing:
                    self._bare.add(place)

    def _main(self, place: str, definition: "Definition | None") -> str:
        """Return the script `main` that makes the folder `place` a command, "" for none."""
        if self.scripts is None or place == self.root or not is_directory(place):
            return ""
        if is_file(f"{place}/category.json"):
            return ""
        if place in self._owned and definition is None:
            return ""
        paths = [f"{place}/main{extension}" for extension in _EXTENSIONS]
        return next((path for path in paths if not self.refusal(path)), "")

    def _own(self, path: str) -> bool:
        """Return whether a folder below a command's folder is below the command too."""
        if not (is_file(f"{path}/command.json") or is_file(f"{path}/category.json")):
            return False
        self._owned.add(path)
        return True

    def _listed(self, place: str, problems: list[Problem], *, names: bool) -> list[str]:
        """Return the words of the folders in `place`, in no order, and note those of scripts.

        With `names`, names of folders that cannot be words are problems.
        """
        found: list[str] = []
        files: list[str] = []
        beyond = place in self._beyond
        try:
            with posix.scandir(place) as entries:
                for entry in entries:
                    word = entry.name
                    if is_word(word) and entry.is_dir(follow_symlinks=False):
                        if beyond:
                            self._beyond.add(entry.path)
                        found.append(word)
                    elif word.startswith((".", "__")):
                        continue
                    elif not _is_directory(entry):
                        files.append(word)
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
        return self._counted(place, found, files)

    def _counted(self, place: str, folders: list[str], files: list[str]) -> list[str]:
        """Return the words of the `folders` in `place` that count, and note those of scripts."""
        if place in self._owned:
            return [word for word in folders if self._own(join(place, word))]
        if self.scripts is not None and not (self.scripts and place == self.root):
            scripts: dict[str, list[str]] = {}
            for name in sorted(files):
                if is_word(word := script_word(name)):
                    scripts.setdefault(word, []).append(join(place, name))
            self._names[place] = [*scripts]
            self._bare.update([join(place, word) for word in scripts.keys() - {*folders}])
            self._files.update({join(place, word): scripts[word] for word in scripts})
        return folders

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
            if any(self.script(join(at, word)) for word in self._names.get(at, ())):
                return at
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


def _has_defaults(file: str) -> bool:
    """Return whether a category.json may hold defaults for commands; a run parses no others."""
    try:
        content = read_regular(file, _LARGEST, DefinitionError)
    except (FileNotFoundError, DefinitionError):
        return False
    return any(mark in content for mark in _DEFAULTS)


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
