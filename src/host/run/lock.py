"""The lock's format: what plugins said there is, and how to tell that it still holds.

It holds places and names, never values, never code. A checksum rejects what is not
as written; stamps of every file and directory that was looked at reject what is no
longer so. Whoever finds none builds the same again from the plugins.
"""

import os

from host.errors import HostError
from host.run.definition import Definition, parse_declared
from host.run.json_files import parse_json, read_regular
from host.run.sources import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

RESERVED = "self"  # the first word of the commands that manage the program itself
NOT_CATEGORIES = (RESERVED, "help")  # first words that are this program's own
BUILTIN = "builtin."  # what the names of our own entry points start with

_FORMAT = b"cli-host lock 3 "
_CLOCK_GRAIN = 0.02  # seconds; the kernel's clock for files moves every 4 to 10 ms
_NOTHING: "Mapping[str, Any]" = {}
_SIZE_LIMIT = 64 * 1024 * 1024  # bytes


class Tree:
    """A directory that holds categories; `plugin` is "" for the installation's own."""

    __slots__ = ("dev", "path", "plugin")

    def __init__(self, path: str, plugin: str = "", dev: bool = False) -> None:
        self.path = path
        self.plugin = plugin
        self.dev = dev


class Declared:
    """A command that a plugin declares in code: its words and a checked definition."""

    __slots__ = ("builtin", "definition", "fields", "plugin", "words")

    def __init__(self, words: tuple[str, ...], fields: "Mapping[str, Any]", plugin: str) -> None:
        self.words = words
        self.fields = fields
        self.plugin = plugin
        self.builtin = plugin.startswith(BUILTIN)
        self.definition: Definition = parse_declared(f"plugin {plugin}: {' '.join(words)}", fields)


class Lock:
    """What plugins declared: trees, commands and sources in order of precedence.

    `hooks` says which plugin (entry point or registry name) implements which hooks;
    `speakers` are those that have a word when a listing is shown, each as [name, origin,
    reference of its entry point, path of its hooks file]. `origins` has the distribution,
    version and trees of each entry point that is not ours, `broken` why plugins are.
    `stamps` were taken of each path before it was looked at.
    """

    __slots__ = (
        "broken",
        "commands",
        "hooks",
        "origins",
        "sources",
        "speakers",
        "stamps",
        "trees",
    )

    def __init__(
        self,
        trees: "Iterable[Tree]",
        commands: "Iterable[Declared]" = (),
        sources: "Iterable[Source]" = (),
        *,
        hooks: "Mapping[str, list[str]]" = _NOTHING,
        speakers: "Iterable[list[str]]" = (),
        origins: "Mapping[str, list[str]]" = _NOTHING,
        broken: "Mapping[str, str]" = _NOTHING,
        stamps: "Mapping[str, str]" = _NOTHING,
    ) -> None:
        self.trees = list(trees)
        self.commands = list(commands)
        self.sources = list(sources)
        self.hooks = dict(hooks)
        self.speakers = list(speakers)
        self.origins = dict(origins)
        self.broken = dict(broken)
        self.stamps = dict(stamps)

    @property
    def warnings(self) -> list[str]:
        """What listings say of broken plugins."""
        return [
            f"plugin {name} is broken: {reason}; see: self plugin list"
            for name, reason in self.broken.items()
        ]


def stamp(path: str) -> str:
    """Return a text that changes whenever the file or directory at `path` does."""
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def lock_places(lock_file: str, cache_home: str) -> tuple[str, str]:
    """Return where a lock may be: beside the installation, else in the user's cache."""
    flat = lock_file.replace("%", "%25").replace("/", "%2F")
    return lock_file, os.path.join(cache_home, "cli-host", flat[-200:])


def read_lock(places: "Iterable[str]", key: str) -> Lock | None:
    """Return the first lock in `places` that is intact, made for `key` and still true, or None."""
    for place in places:
        try:
            content = read_regular(place, _SIZE_LIMIT, HostError)
            found = _parse(content, key)
        except (HostError, OSError, LookupError, TypeError, ValueError, AttributeError):
            continue
        if found is not None:
            return found
    return None


def _parse(content: bytes, key: str) -> Lock | None:
    head, _, body = content.partition(b"\n")
    if head != _FORMAT + _checksum(body):
        return None
    values = parse_json("lock", body)
    if values["key"] != key or any(stamp(path) != then for path, then in values["stamps"].items()):
        return None
    return Lock(
        [Tree(path, plugin, dev) for path, plugin, dev in values["trees"]],
        [Declared(tuple(words), fields, plugin) for words, fields, plugin in values["commands"]],
        [
            Source(name, float(rank), reader, files, provider, words, plugin)
            for name, rank, reader, files, provider, words, plugin in values["sources"]
        ],
        hooks=values["hooks"],
        speakers=values["speakers"],
        origins=values["origins"],
        broken=values["broken"],
        stamps=values["stamps"],
    )


def write_lock(places: "Iterable[str]", key: str, lock: Lock) -> None:
    """Write `lock` to the first of `places` that can be written, whole or not at all.

    When one of its stamps no longer holds, nothing is written. Where no place can be
    written, nothing is either.
    """
    import json

    body = json.dumps(
        {
            "key": key,
            "stamps": lock.stamps,
            "trees": [[tree.path, tree.plugin, tree.dev] for tree in lock.trees],
            "commands": [[list(own.words), own.fields, own.plugin] for own in lock.commands],
            "sources": [
                [own.name, own.rank, own.reader, own.files, own.provider, own.words, own.plugin]
                for own in lock.sources
            ],
            "hooks": lock.hooks,
            "speakers": lock.speakers,
            "origins": lock.origins,
            "broken": lock.broken,
        },
        indent=1,
    ).encode()
    if not _settled(lock.stamps):
        return
    for place in places:
        if _replace(place, _FORMAT + _checksum(body) + b"\n" + body):
            return


def _settled(stamps: "Mapping[str, str]") -> bool:
    """Tell whether the stamps still hold, once a change could no longer hide behind them."""
    import time

    time.sleep(_CLOCK_GRAIN)
    return all(stamp(path) == then for path, then in stamps.items())


def _replace(place: str, content: bytes) -> bool:
    """Put `content` at `place` by rename, so that a reader sees the old or the new."""
    temporary = f"{place}.{os.getpid()}.tmp"
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(temporary, flags, 0o644)
    except OSError:
        return False
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.rename(temporary, place)
    except OSError:
        os.unlink(temporary)
        return False
    return True


def _checksum(body: bytes) -> bytes:
    from binascii import crc32

    return b"%08x" % crc32(body)
