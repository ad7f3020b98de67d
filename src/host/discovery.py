"""What plugins declare → the lock."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from host.definition import is_word
from host.errors import HostError
from host.layout import Layout
from host.lock import BUILTIN, Declared, Lock, Tree, read_lock, stamp, write_lock
from host.messages import Messages
from host.places import Places
from host.plugins import Loaded, entry_points, load
from host.records import CommandDeclaration, CommandTree, EnvSource, Installation, Watch
from host.registry import FILE_NAME
from host.sources import Source

RESERVED = "self"

# Settings first, so that plugin sources can use them; the definition's own last.
_LOAD_ORDER = {"shell": 0, "dotenv": 1, "python": 1, "env_files": 2, "envs": 3}
_STRONGEST, _WEAKEST = 2.0, 4.0


def refresh(places: Places, messages: Messages, safe: bool = False) -> Lock:
    """Ask all plugins what there is; write and return the lock.

    In safe mode no third-party Python is imported, and nothing is written. Each
    broken plugin is warned of once.
    """
    stamps = {path: stamp(path) for path in _watched(places)}
    loaded = load(one for one in entry_points() if one.builtin or not safe)
    lock = _declared(loaded, places.installation(), stamps)
    for warning in lock.warnings:
        messages.warn(warning)
    if not safe:
        stamps.update({path: stamp(path) for path in loaded.files})
        write_lock(places.locks, places.key, stamps, lock)
    return lock


def current(places: Places, messages: Messages, safe: bool = False) -> Lock:
    """Return the lock as it is, or a new one when it no longer holds."""
    lock = None if safe else read_lock(places.locks, places.key)
    if lock is None:
        return refresh(places, messages, safe)
    for warning in lock.warnings:
        messages.warn(warning)
    return lock


def _watched(places: Places) -> Iterator[str]:
    """Yield what tells that plugins came, went or changed."""
    for path in sys.path:
        if os.path.isdir(path):
            yield path
            yield from sorted(_path_files(path))
    plugins_dir = places.plugins_dir
    yield plugins_dir
    yield os.path.join(plugins_dir, FILE_NAME)
    try:
        names = sorted(os.listdir(plugins_dir))
    except OSError:
        return
    for name in names:
        path = os.path.join(plugins_dir, name)
        if not name.startswith(".") and os.path.isdir(path):
            yield path
            yield os.path.join(path, "plugin.json")


def _path_files(directory: str) -> Iterator[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return
    yield from (os.path.join(directory, name) for name in names if name.endswith(".pth"))


def _declared(loaded: Loaded, installation: Installation, stamps: dict[str, str]) -> Lock:
    trees: list[Tree] = []
    commands: list[Declared] = []
    for plugin, records in loaded.call_each("discover_commands", installation=installation):
        for record in records:
            try:
                if isinstance(record, CommandTree):
                    trees.append(Tree(record.path, record.plugin, record.dev))
                elif isinstance(record, Watch):
                    stamps[record.path] = stamp(record.path)
                else:
                    commands.append(_command(plugin, record))
            except (HostError, TypeError, ValueError) as error:
                loaded.broken[plugin] = f"discover_commands: {error}"
    sources: list[Source] = []
    for plugin, records in loaded.call_each("env_sources", installation=installation):
        for record in records:
            try:
                sources.append(_source(plugin, record))
            except (TypeError, ValueError) as error:
                loaded.broken[plugin] = f"env_sources: {error}"
    sources.sort(key=lambda source: _LOAD_ORDER[source.reader])
    hooks = {name: loaded.hooks_of(name) for name in loaded.names}
    return Lock(trees, commands, sources, hooks, _warnings(loaded.broken))


def _command(plugin: str, record: Any) -> Declared:
    if not isinstance(record, CommandDeclaration):
        raise TypeError(f"expected a CommandTree or CommandDeclaration, not {record!r}")
    words = tuple(record.words)
    if not words or not all(isinstance(word, str) and is_word(word) for word in words):
        raise ValueError(f"words cannot be {words!r}")
    if words[0] == RESERVED and not _is_builtin(plugin):
        raise ValueError(f"{words!r}: {RESERVED} is reserved")
    return Declared(words, dict(record.definition), plugin)


def _source(plugin: str, record: Any) -> Source:
    if not isinstance(record, EnvSource):
        raise TypeError(f"expected an EnvSource, not {record!r}")
    if not _STRONGEST <= record.rank <= _WEAKEST:
        raise ValueError(f"{record.name}: rank must be from 2 to 4, not {record.rank}")
    reader = "python" if record.provider else record.reader
    if reader not in ("dotenv", "python") and not _is_builtin(plugin):
        raise ValueError(f"{record.name}: reader must be dotenv, not {reader}")
    return Source(
        record.name, record.rank, reader, record.files, record.provider, record.words, plugin
    )


def _is_builtin(plugin: str) -> bool:
    return plugin.startswith(BUILTIN)


def _warnings(broken: dict[str, str]) -> Iterable[str]:
    return [
        f"plugin {name} is broken: {reason}; see: self plugin list"
        for name, reason in broken.items()
    ]


def own_commands(layout: Layout) -> list[Declared]:
    """Return what the built-in plugins declare, where there is no installation yet."""
    installation = Installation(layout.program, layout.root, "", "", "")
    loaded = load(one for one in entry_points() if one.builtin)
    found = []
    for plugin, records in loaded.call_each("discover_commands", installation=installation):
        found += [_command(plugin, one) for one in records if isinstance(one, CommandDeclaration)]
    return found
