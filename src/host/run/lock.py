"""The lock's format: what plugins declared, and the stamps that show whether it still holds.

`host.planning.cache_files` writes it and `_parse` reads it; each record has a `row`, which makes it
again. It is a line of JSON and a line for each definition that a plugin declares in code.
It holds places and names, and the definitions of commands that plugins declare in code;
never what a source says, never code. A checksum rejects what is not
as written; stamps of every file and directory that was looked at reject what is no
longer so. Whoever finds none builds the same again from the plugins.
"""

import _imp
import posix

from host.errors import HostError
from host.run import Record, read_regular
from host.run.command import Definition, parse_declared
from host.run.json_file import parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

FORMAT = b"cli-host lock 11 "
_HASH_KEY = 0x636C69
_NOTHING: "Mapping[str, Any]" = {}
_SIZE_LIMIT = 64 * 1024 * 1024  # bytes


class Tree(Record):
    """A tree of categories: where it starts, and whose it is, "" for the installation's own.

    `scripts` is None if scripts there are no commands, else it may have "prefix" and "split".
    """

    path: str
    plugin: str = ""
    dev: bool = False
    scripts: "Mapping[str, str] | None" = None


class Declared(Record):
    """A command or category declared in code: its words, and what its command.json would hold.

    A run reads the lock with all of them and needs one definition at most, so the `json` of
    each is read when it is asked for. A category has no entrypoint: nothing `runs`.
    """

    words: tuple[str, ...]
    json: bytes
    plugin: str
    ours: bool = False
    runs: bool = True

    _checked = None

    @property
    def definition(self) -> "Definition":
        """Return it checked; raises DefinitionError, which who builds the lock finds out."""
        if self._checked is None:
            owner = f"plugin {self.plugin}: {' '.join(self.words)}"
            fields = parse_json(owner, self.json)
            self._checked = parse_declared(owner, fields, ours=self.ours)
        return self._checked


class Source(Record):
    """One declared source: a `reader` of files or of a definition's field, or a provider.

    `reader` is "shell" or "dotenv" (of `files`), "env_files" or "envs" (of the
    command's definition), or "python" (calls `provider`, a "module:attr"). `words`
    are the leading words of the commands that it serves; () serves all.
    """

    name: str
    rank: float
    reader: str
    files: "Sequence[str]" = ()
    provider: str = ""
    words: "Sequence[str]" = ()
    plugin: str = ""

    def serves(self, words: tuple[str, ...]) -> bool:
        return words[: len(self.words)] == tuple(self.words)


class Plugin(Record):
    """What is known of one plugin, by the name of its entry point or in the registry.

    `distribution` and `version` are those of an entry point, whose `reference` is
    "package.module"; `project` is the distribution's name as packaging compares it; `file`
    is a hooks file. `ours` marks this distribution's own. `hooks` has those that it
    implements, each with the place that it asked for: -1 (tryfirst), 0 or 1 (trylast).
    `trees` are the paths that it named, `broken` is why it does not count, "" when it does.
    """

    name: str
    distribution: str = ""
    version: str = ""
    reference: str = ""
    file: str = ""
    ours: bool = False
    project: str = ""
    hooks: "Mapping[str, int]" = _NOTHING
    trees: "Sequence[str]" = ()
    broken: str = ""

    @property
    def label(self) -> str:
        """The name, with its distribution's beside where that is another one."""
        beside = self.reference and self.distribution != self.name and "(" not in self.name
        return f"{self.name} ({self.distribution})" if beside else self.name


class Lock(Record):
    """What plugins declared: trees, commands and sources in order of precedence.

    `schemes` are those of secret references: scheme, provider, plugin.
    `plugins` by name, in the order in which they are asked. `stamps` were taken of each
    path before it was looked at. `disabled` has the words of the commands of disabled plugins,
    by the plugin's name, which explain an unknown word.
    """

    trees: "list[Tree]"
    commands: "Sequence[Declared]" = ()
    sources: "Sequence[Source]" = ()
    plugins: "Mapping[str, Plugin]" = _NOTHING
    stamps: "Mapping[str, str]" = _NOTHING
    disabled: "Mapping[str, Sequence[Sequence[str]]]" = _NOTHING
    schemes: "Sequence[Sequence[str]]" = ()

    def disabled_owner(self, words: "Sequence[str]") -> str:
        """Return the name of the disabled plugin that has a command or category `words`, or ""."""
        for plugin, commands in self.disabled.items():
            if any([*command[: len(words)]] == [*words] for command in commands):
                return plugin
        return ""

    def warnings(self, program: str) -> list[str]:
        """Return what listings of `program` say of broken plugins."""
        return [
            f"plugin {one.label} is broken: {one.broken}; see: {program} self plugin list"
            for one in self.plugins.values()
            if one.broken
        ]


def stamp(path: str) -> str:
    """Return a text that changes whenever the file or directory at `path` does."""
    try:
        status = posix.stat(path)
    except OSError:
        return ""
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def read_lock(places: "Iterable[str]", key: str) -> Lock | None:
    """Return the first lock in `places` that is intact, made for `key` and still true, or None.

    Only a lock of the caller or of root that nobody else can write counts (CONTRACT 11).
    """
    for place in places:
        try:
            found = _parse(_own_content(place), key)
        except (HostError, OSError, LookupError, TypeError, ValueError, AttributeError):
            continue
        if found is not None:
            return found
    return None


def _own_content(place: str) -> bytes:
    """Return the lock's bytes; raises OSError for what somebody else may have written."""
    status = posix.stat(place)
    if status.st_uid not in (0, posix.geteuid()) or status.st_mode & 0o022:
        raise PermissionError(place)
    return read_regular(place, _SIZE_LIMIT, HostError)


def _parse(content: bytes, key: str) -> Lock | None:
    """Return the lock that these bytes are, None when it is not one for `key` or no longer true."""
    head, _, body = content.partition(b"\n")
    if head != FORMAT + checksum(body):
        return None
    whole, *definitions = body.split(b"\n")
    values = parse_json("lock", whole)
    if values["key"] != key or any(stamp(path) != then for path, then in values["stamps"].items()):
        return None
    plugins = [Plugin.of_row(row) for row in values["plugins"]]
    return Lock(
        [Tree.of_row(row) for row in values["trees"]],
        [
            Declared.of_row((tuple(words), json, *whose))
            for (words, *whose), json in zip(values["commands"], definitions, strict=True)
        ],
        [Source.of_row(row) for row in values["sources"]],
        {plugin.name: plugin for plugin in plugins},
        values["stamps"],
        values["disabled"],
        values["schemes"],
    )


def checksum(body: "bytes | memoryview[int]") -> bytes:
    """Return a hash against accidents, not attacks: it is in the interpreter itself."""
    return _imp.source_hash(_HASH_KEY, body).hex().encode()
