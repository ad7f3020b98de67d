"""The lock: the declarations of plugins, and stamps that show whether they are still valid.

`host.lock.write_lock` writes it and `_parse` reads it; each record is stored as an array of its
values. The file has four parts: a line with the format and checksum, a line of JSON that every run
reads, a line of JSON for listings and declared commands, and a line for each definition that a
plugin declares in code. It contains paths, names and these definitions, but never values of
variables and never code. If the checksum or a stamp is wrong, the lock is rebuilt from the plugins.
"""

import _imp
import posix

from host.errors import HostError
from host.files.json_file import parse_json
from host.files.paths import own_content
from host.record_base import CommandTree, EnvSource, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from host.catalog.declared_commands import Declared
    from host.lock.plugin import Plugin
    from host.plugin_functions import AfterRun, BeforeRun, SecretScheme

    _Words = Sequence[Sequence[str]]

FORMAT = b"cli-host lock 25 "
# nanoseconds; FAT stores file times in steps of two seconds
SLOWEST_CLOCK = 2_100_000_000
_HASH_KEY = 0x636C69
_NOTHING: "Mapping[str, Any]" = {}


class _ParsedLater:
    """An attribute of `Lock`, parsed on first access if the lock comes from a file."""

    def __init__(self, name: str, default: "Any") -> None:
        self.name = name
        self.default = default

    def __get__(self, lock: "Lock | None", owner: type) -> "Any":
        if lock is None or not lock.unparsed:
            return self.default
        lock.__dict__.update(_parse_later(bytes(lock.unparsed)))
        return lock.__dict__[self.name]


def _parsed_later(name: str, default: "Any") -> "Any":
    # `Any`, because the attributes have types of their own
    return _ParsedLater(name, default)


class Lock(Record):
    """All declarations of plugins: trees, commands and sources in order of precedence.

    `plugins` has the plugins by name, in the order in which they were queried.
    `stamps` has a stamp of each path, taken before the path was read. `disabled` maps each disabled
    plugin to the words of its commands, to explain an unknown word. `first_words` maps the path
    of a plugin's tree to its first words, each with a file that shows that there are commands, or
    with "".
    `first_declared` is the lowest `order` of a third-party plugin that declares commands in code,
    or None. A run of a command in a folder whose plugin comes before that parses none of
    `commands`, `plugins`, `disabled` and `first_words`.
    """

    trees: "list[CommandTree]"
    commands: "Sequence[Declared]" = _parsed_later("commands", ())
    sources: "Sequence[EnvSource]" = ()
    plugins: "Mapping[str, Plugin]" = _parsed_later("plugins", _NOTHING)
    stamps: "Mapping[str, str]" = _NOTHING
    disabled: "Mapping[str, _Words]" = _parsed_later("disabled", _NOTHING)
    schemes: "Sequence[SecretScheme]" = ()
    before_runs: "Sequence[BeforeRun]" = ()
    after_runs: "Sequence[AfterRun]" = ()
    first_declared: int | None = None
    first_words: "Mapping[str, Mapping[str, str]]" = _parsed_later(
        "first_words", _NOTHING
    )

    # the lines of the lock file for the values that are parsed later
    unparsed = memoryview(b"")

    def before_runs_of(self, words: "tuple[str, ...]") -> "list[BeforeRun]":
        """Return the functions of plugins that are asked before a run of the command `words`."""
        return [call for call in self.before_runs if call.serves(words)]

    def after_runs_of(
        self, words: "tuple[str, ...]", environ: "Mapping[str, str]"
    ) -> "list[AfterRun]":
        """Return the functions of plugins that are called after a run of the command `words`.

        `environ` is the environment of its caller.
        """
        return [call for call in self.after_runs if call.serves(words, environ)]

    def disabled_owner(self, words: "Sequence[str]") -> str:
        """Return the disabled plugin that has the command or category `words`, or ""."""
        beginning = list(words)
        for plugin, commands in self.disabled.items():
            for command in commands:
                if list(command[: len(words)]) == beginning:
                    return plugin
        return ""

    def folders_of(self, tree: CommandTree) -> "Sequence[str]":
        """Return the folders with the packages of the plugin that declares the commands in `tree`.

        `tree` has no path if the commands are declared in Python.
        """
        for plugin in self.plugins.values():
            if not plugin.folders:
                continue
            if tree.path:
                has_tree = tree.path in plugin.trees
            else:
                has_tree = plugin.name == tree.plugin
            if has_tree:
                return plugin.folders
        return ()

    def warnings(self, program: str) -> list[str]:
        """Return one warning for each broken plugin; `program` is the program's name."""
        warnings = []
        for plugin in self.plugins.values():
            if not plugin.broken:
                continue
            if not plugin.name:  # the registry cannot be read
                warnings.append(plugin.broken)
                continue
            what = f"plugin {plugin.full_name} is broken: {plugin.broken}"
            warnings.append(f"{what}; see: {program} self plugin list")
        return warnings


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
        except (HostError, OSError, ValueError):
            continue  # there is none, it is not trustworthy, or it is damaged or outdated
        except (LookupError, TypeError, AttributeError):
            continue  # the checksum is right, but a program with other records has written it
    return None


def _parse(content: bytes, key: str) -> Lock:
    """Return the parsed lock. Raises ValueError if it is damaged, outdated or has another key."""
    # A run parses the first line of the body only, so the body is not copied.
    start = content.find(b"\n") + 1
    body = memoryview(content)[start:]
    if content[:start] != FORMAT + checksum(body) + b"\n":
        raise ValueError("damaged")

    end = content.find(b"\n", start)
    values = parse_json("lock", content[start:end])
    if values["key"] != key:
        raise ValueError("of another installation or interpreter")
    # A missing file has a stamp, too, because its appearance may change the plugins.
    for path, then in values["stamps"].items():
        if stamp(path) != then:
            raise ValueError("outdated")

    lock = Lock(
        trees=[CommandTree.of_row(row) for row in values["trees"]],
        sources=[EnvSource.of_row(row) for row in values["sources"]],
        stamps=values["stamps"],
        first_declared=values["first_declared"],
    )
    # Most installations have none of these.
    if values["schemes"] or values["before_runs"] or values["after_runs"]:
        from host.plugin_functions import AfterRun, BeforeRun, SecretScheme

        lock.schemes = [SecretScheme.of_row(row) for row in values["schemes"]]
        lock.before_runs = [BeforeRun.of_row(row) for row in values["before_runs"]]
        lock.after_runs = [AfterRun.of_row(row) for row in values["after_runs"]]
    lock.unparsed = memoryview(content)[end + 1 :]
    return lock


def _parse_later(lines: bytes) -> "dict[str, Any]":
    """Return the attributes of `Lock` that are parsed later, from their lines in a lock file."""
    from host.catalog.declared_commands import Declared
    from host.lock.plugin import Plugin

    first, *definitions = lines.split(b"\n")
    values = parse_json("lock", first)

    commands = []
    for row, json in zip(values["commands"], definitions, strict=True):
        words, *whose = row
        commands.append(Declared.of_row((tuple(words), json, *whose)))
    plugins = {}
    for row in values["plugins"]:
        plugin = Plugin.of_row(row)
        plugins[plugin.name] = plugin
    return {
        "commands": commands,
        "plugins": plugins,
        "disabled": values["disabled"],
        "first_words": values["first_words"],
    }


def checksum(body: "bytes | memoryview[int]") -> bytes:
    """Return a hash of `body` that is fast to compute; it detects damage, not attacks."""
    return _imp.source_hash(_HASH_KEY, body).hex().encode()
