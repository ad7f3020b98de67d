"""The lock: the declarations of plugins, and stamps that show whether they are still valid.

`host.planning.lock_file` writes it and `_parse` reads it; each record is stored as an array of its
values. The file has four parts: a line with the format and checksum, a line of JSON that every run
reads, a line of JSON for listings and declared commands, and a line for each definition that a
plugin declares in code. It contains paths, names and these definitions, but never values of
variables and never code. If the checksum or a stamp is wrong, the lock is rebuilt from the plugins.
"""

import _imp
import posix

from host.errors import DefinitionError, HostError, Problem
from host.run.definition import Definition
from host.run.files import own_content
from host.run.json_file import Fields, parse_json
from host.run.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Scheme = tuple[str, str, str, str, Sequence[str]]

FORMAT = b"cli-host lock 19 "
SLOWEST_CLOCK = 2_100_000_000  # nanoseconds; FAT stores file times in steps of two seconds
_HASH_KEY = 0x636C69
_NOTHING: "Mapping[str, Any]" = {}


class Tree(Record):
    """A tree of categories: its path and its plugin, or "" for the installation's own tree.

    `scripts` has the keys that `words_of_script` describes, or is None if scripts are not commands.
    `under` has the words of the category that contains the whole tree, or is empty. `root` is the
    directory of the plugin, project or installation, and `path_folders` has folders in it to append
    to PATH. `order` is the position of its plugin, 0 for the installation itself.
    """

    path: str
    plugin: str = ""
    dev: bool = False
    scripts: "Mapping[str, str] | None" = None
    under: "Sequence[str]" = ()
    root: str = ""
    path_folders: "Sequence[str]" = ()
    order: int = 0


class Declared(Record):
    """A command or category declared in code: its words, and its definition as JSON.

    `json` is parsed when `definition` is first read. `runs` is false for a category. `order` is the
    position of its plugin.
    """

    words: tuple[str, ...]
    json: bytes
    plugin: str
    ours: bool = False
    runs: bool = True
    order: int = 0

    _checked = None

    @property
    def definition(self) -> "Definition":
        """The checked definition. Raises DefinitionError only while the lock is being built."""
        if self._checked is None:
            owner = f"plugin {self.plugin}: {' '.join(self.words)}"
            fields = parse_json(owner, self.json)
            self._checked = parse_declared(owner, fields, ours=self.ours)
        return self._checked


class Source(Record):
    """One declared source of variables: files, a key of the command's definition, or a provider.

    `reader` is "shell" or "dotenv" for `files`, "env_files" or "envs" for that key of the
    definition, or "python" for `provider`, a "module:attr" to call. `words` has the leading words
    of the commands that the source serves, or () for all commands. `folders` has the packages of
    `plugin`.
    """

    name: str
    rank: float
    reader: str
    files: "Sequence[str]" = ()
    provider: str = ""
    words: "Sequence[str]" = ()
    plugin: str = ""
    folders: "Sequence[str]" = ()

    def serves(self, words: tuple[str, ...]) -> bool:
        return words[: len(self.words)] == tuple(self.words)


class AfterCall(Record):
    """A function of a plugin that is called after each finished run of the commands below `words`.

    `function` is a "module:attr" reference, and `name` is for messages. `folders` has the packages
    of `plugin`.
    """

    name: str
    function: str
    words: "Sequence[str]"
    plugin: str
    folders: "Sequence[str]" = ()

    def serves(self, words: tuple[str, ...]) -> bool:
        return words[: len(self.words)] == tuple(self.words)


class Plugin(Record):
    """A plugin; `name` is the name of its entry point or its name in the registry.

    `distribution`, `version` and `reference` ("package.module") are those of an entry point;
    `package` is the normalized name of the distribution, or the name in the registry. `file` is a
    hooks file. `ours` is true for a built-in plugin. `hooks` maps each implemented hook to -1
    (tryfirst), 0 or 1 (trylast). `trees` has the paths of its trees. `broken` is the reason why it
    is not used, or "", and `missing` is true if its files are not there. `under` has the words of
    the category that contains everything it declares, or is empty. `folders` has the directories of
    a package that is not installed in the program's environment.
    """

    name: str
    distribution: str = ""
    version: str = ""
    reference: str = ""
    file: str = ""
    ours: bool = False
    package: str = ""
    hooks: "Mapping[str, int]" = _NOTHING
    trees: "Sequence[str]" = ()
    broken: str = ""
    missing: bool = False
    under: "Sequence[str]" = ()
    folders: "Sequence[str]" = ()

    @property
    def is_linked(self) -> bool:
        """Whether its author works on it in place: a folder is then in the author's directory."""
        return len(self.folders) > 1

    @property
    def full_name(self) -> str:
        """The name, with the distribution's name in parentheses if that is different."""
        beside = self.reference and self.distribution != self.name and "(" not in self.name
        return f"{self.name} ({self.distribution})" if beside else self.name


class _ParsedLater:
    """An attribute of `Lock`, parsed on first access if the lock comes from a file."""

    def __init__(self, name: str, default: "Any") -> None:
        self.name = name
        self.default = default

    def __get__(self, lock: "Lock | None", owner: type) -> "Any":
        if lock is None or not lock.unparsed:
            return self.default
        lock.__dict__.update(_parse_later(lock.unparsed))
        return lock.__dict__[self.name]


def _parsed_later(name: str, default: "Any") -> "Any":
    return _ParsedLater(name, default)  # `Any`, because the attributes have types of their own


class Lock(Record):
    """All declarations of plugins: trees, commands and sources in order of precedence.

    `schemes` has rows of scheme, provider, plugin, the provider for `env_files` or "", and the
    plugin's `folders`. `plugins` has the plugins by name, in the order in which they were queried.
    `stamps` has a stamp of each path, taken before the path was read. `disabled` maps each disabled
    plugin to the words of its commands, to explain an unknown word. `first_declared` is the lowest
    `order` of a third-party plugin that declares commands in code, or None. A run of a command in a
    folder whose plugin comes before that parses neither `commands` nor `plugins` nor `disabled`.
    """

    trees: "list[Tree]"
    commands: "Sequence[Declared]" = _parsed_later("commands", ())
    sources: "Sequence[Source]" = ()
    plugins: "Mapping[str, Plugin]" = _parsed_later("plugins", _NOTHING)
    stamps: "Mapping[str, str]" = _NOTHING
    disabled: "Mapping[str, Sequence[Sequence[str]]]" = _parsed_later("disabled", _NOTHING)
    schemes: "Sequence[Scheme]" = ()
    after_runs: "Sequence[AfterCall]" = ()
    first_declared: int | None = None

    unparsed = b""  # the lines of the lock file for the values that are parsed later

    def disabled_owner(self, words: "Sequence[str]") -> str:
        """Return the disabled plugin that has the command or category `words`, or ""."""
        for plugin, commands in self.disabled.items():
            if any([*command[: len(words)]] == [*words] for command in commands):
                return plugin
        return ""

    def folders_of(self, tree: Tree) -> "Sequence[str]":
        """Return the folders with the packages of the plugin that declares the commands in `tree`.

        `tree` has no path if the commands are declared in Python.
        """
        for plugin in self.plugins.values():
            is_its_tree = tree.path in plugin.trees if tree.path else plugin.name == tree.plugin
            if plugin.folders and is_its_tree:
                return plugin.folders
        return ()

    def warnings(self, program: str) -> list[str]:
        """Return one warning for each broken plugin; `program` is the program's name."""
        return [
            f"plugin {one.full_name} is broken: {one.broken}; see: {program} self plugin list"
            for one in self.plugins.values()
            if one.broken
        ]


def parse_declared(owner: str, fields: "Mapping[str, Any]", *, ours: bool = False) -> Definition:
    """Return the definition that the plugin `owner` declares in code. Raises DefinitionError.

    A command's `entrypoint` is a Python reference; a category has none. Arguments of built-in
    plugins (`ours`) may have a reference as `complete`: see host.cli.completion.
    """
    values = dict(fields)
    # host.planning.click_commands has made these keys from a click command; `text` is also the help
    # text of a built-in command.
    parser = values.pop("parser", "")
    subcommand = values.pop("subcommand", ())
    text = values.pop("text", "")
    options_first = values.pop("options_first", False)
    unchecked = values.pop("args", ()) if parser else ()
    definition = Definition("", Fields(owner, values), ours=ours)
    definition.parser = parser
    definition.subcommand = tuple(subcommand)
    definition.text = text
    definition.options_first = options_first
    if unchecked:
        from host.run.argument_declarations import unchecked_arguments

        definition.unchecked_args = unchecked_arguments(unchecked)
    if definition.path:
        expected = "only a file can name folders, which are relative to that file"
        raise DefinitionError(Problem(owner, expected, key="path"))
    if "entrypoint" in fields and not (definition.in_python or definition.moved_to):
        expected = 'expected a reference "package.module:attr"'
        raise DefinitionError(Problem(owner, expected, key="entrypoint"))
    return definition


def stamp(path: str) -> str:
    """Return a string that changes with the file or directory at `path`, or "" if it is missing."""
    return " ".join(map(str, stamp_numbers(path)))


def stamp_numbers(path: str) -> tuple[int, ...]:
    """Return the mtime and ctime (in ns), size and inode of `path`, or () if it is missing."""
    try:
        status = posix.stat(path)
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def read_lock(paths: "Iterable[str]", key: str) -> Lock | None:
    """Return the first lock in `paths` that is intact, current and has this `key`, or None.

    A lock must belong to the caller or root, and no other user may be able to write to it.
    """
    for path in paths:
        try:
            return _parse(own_content(path), key)
        except (HostError, OSError, LookupError, TypeError, ValueError, AttributeError):
            continue
    return None


def _parse(content: bytes, key: str) -> Lock:
    """Return the parsed lock. Raises ValueError if it is damaged, outdated or has another key."""
    head, _, body = content.partition(b"\n")
    if head != FORMAT + checksum(body):
        raise ValueError("damaged")
    first, _, rest = body.partition(b"\n")
    values = parse_json("lock", first)
    if values["key"] != key or any(stamp(path) != then for path, then in values["stamps"].items()):
        raise ValueError("outdated")
    found = Lock(
        trees=[Tree.of_row(row) for row in values["trees"]],
        sources=[Source.of_row(row) for row in values["sources"]],
        stamps=values["stamps"],
        schemes=values["schemes"],
        after_runs=[AfterCall.of_row(row) for row in values["after_runs"]],
        first_declared=values["first_declared"],
    )
    found.unparsed = rest
    return found


def _parse_later(lines: bytes) -> "dict[str, Any]":
    """Return `commands`, `plugins` and `disabled` from their lines in a lock file."""
    first, *definitions = lines.split(b"\n")
    values = parse_json("lock", first)
    plugins = [Plugin.of_row(row) for row in values["plugins"]]
    return {
        "commands": [
            Declared.of_row((tuple(words), json, *whose))
            for (words, *whose), json in zip(values["commands"], definitions, strict=True)
        ],
        "plugins": {plugin.name: plugin for plugin in plugins},
        "disabled": values["disabled"],
    }


def checksum(body: "bytes | memoryview[int]") -> bytes:
    """Return a hash of `body` that is fast to compute; it detects damage, not attacks."""
    return _imp.source_hash(_HASH_KEY, body).hex().encode()
