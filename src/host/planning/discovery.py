"""What plugins declare → the lock."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from builtin_plugins.plugin_directories.registry import FILE_NAME
from builtin_plugins.plugin_directories.repair import settle
from host.errors import HostError
from host.planning.child import Report, survey
from host.planning.loading import (
    LISTING_HOOKS,
    Candidate,
    entry_points,
    load,
    shortened,
    source_files,
    third_party,
)
from host.records import (
    CommandDeclaration,
    CommandTree,
    EnvSource,
    Installation,
    Problem,
    Watch,
)
from host.run.definition import is_reference, is_word
from host.run.installation import Layout, Places
from host.run.lock import BUILTIN, RESERVED, Declared, Lock, Tree, stamp, write_lock
from host.run.messages import Messages
from host.run.sources import Source

# Settings first, so that plugin sources can use them; the definition's own last.
_LOAD_ORDER = {"shell": 0, "dotenv": 1, "python": 1, "env_files": 2, "envs": 3}
_ASKED = ("discover_commands", "env_sources")
_STRONGEST, _WEAKEST = 2.0, 4.0


def refresh(places: Places, messages: Messages, safe: bool = False) -> Lock:
    """Ask all plugins what there is; write and return the lock.

    In safe mode no third-party Python is imported, and nothing is written. Each
    broken plugin is warned of once.
    """
    if not safe:
        settle(places.plugins_dir)
    stamps = {path: stamp(path) for path in _watched(places)}
    lock = _declared(places, stamps, python=not safe)
    for warning in lock.warnings:
        messages.warn(warning)
    if not safe:
        write_lock(places.locks, places.key, lock)
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


def ask(places: Places, *, directory_hooks: bool, python: bool) -> Lock:
    """Return what plugins say now, without writing or warning.

    `python` includes third-party Python, `directory_hooks` that of directory plugins.
    """
    return _declared(places, {}, python=python, directory_hooks=directory_hooks)


def _declared(
    places: Places, stamps: dict[str, str], *, python: bool, directory_hooks: bool = True
) -> Lock:
    """Ask the plugins and check what they say; what they looked at goes into `stamps`."""
    installation = places.installation()
    told = _Told(stamps)
    points = list(entry_points())
    ours = [one for one in points if one.builtin]
    own = load(ours)
    for hook in _ASKED:
        for name, records in own.call_each(hook, installation=installation):
            told.take(name, hook, records)
    for candidate in ours:
        if candidate.name in own.names:
            told.implements(candidate, own.hooks_of(candidate.name))
    told.broken.update(own.broken)
    candidates = third_party(points, places.plugins_dir, told.broken)
    asked = [one for one in candidates if python and (directory_hooks or not one.file)]
    for report in survey(asked, installation):
        told.report(report)
    for candidate in candidates:
        if not candidate.file and not python:
            told.origins[candidate.name] = [candidate.origin, candidate.version]
    return told.lock()


class _Told:
    """What plugins said so far, checked record by record."""

    def __init__(self, stamps: dict[str, str]) -> None:
        self.stamps = stamps
        self.trees: list[Tree] = []
        self.commands: list[Declared] = []
        self.sources: list[Source] = []
        self.hooks: dict[str, list[str]] = {}
        self.speakers: list[list[str]] = []
        self.origins: dict[str, list[str]] = {}
        self.broken: dict[str, str] = {}

    def report(self, report: Report) -> None:
        candidate = report.candidate
        self.implements(candidate, report.hooks)
        if not candidate.file:
            self.origins[candidate.name] = [candidate.origin, candidate.version]
        if report.reason:
            self.broken[candidate.name] = f"{candidate.origin}: {report.reason}"
        files = report.files
        if report.reason:  # also where it fails before it says which files it has
            files = [*files, *source_files(candidate)]
        self.stamps.update({path: stamp(path) for path in files})
        for hook, records in report.records.items():
            self.take(candidate.name, hook, records)

    def implements(self, plugin: Candidate, hooks: list[str]) -> None:
        self.hooks[plugin.name] = hooks
        if not LISTING_HOOKS.isdisjoint(hooks):
            self.speakers.append([plugin.name, plugin.origin, plugin.reference, plugin.file])

    def take(self, plugin: str, hook: str, records: Iterable[Any]) -> None:
        for record in records:
            try:
                self.take_one(plugin, hook, record)
            except (HostError, TypeError, ValueError) as error:
                self.broken[plugin] = f"{hook}: {shortened(str(error))}"

    def take_one(self, plugin: str, hook: str, record: Any) -> None:
        if hook == "env_sources":
            self.sources.append(_source(plugin, record))
        elif isinstance(record, CommandTree):
            owner = record.plugin or ("" if _is_builtin(plugin) else plugin)
            path = _path(record.path, "a CommandTree's path")
            self.trees.append(Tree(path, _text(owner, "plugin"), record.dev is True))
            if plugin in self.origins:
                self.origins[plugin].append(record.path)
        elif isinstance(record, Watch):
            path = _path(record.path, "a Watch's path")
            self.stamps.setdefault(path, stamp(path))
        elif isinstance(record, Problem):
            self.broken[record.plugin] = record.reason
        else:
            self.commands.append(_command(plugin, record))

    def lock(self) -> Lock:
        self.sources.sort(key=lambda source: _LOAD_ORDER[source.reader])
        return Lock(
            self.trees,
            self.commands,
            self.sources,
            hooks=self.hooks,
            speakers=self.speakers,
            origins=self.origins,
            broken=self.broken,
            stamps=self.stamps,
        )


def _command(plugin: str, record: Any) -> Declared:
    if not isinstance(record, CommandDeclaration):
        raise TypeError(f"expected a CommandTree or CommandDeclaration, not {record!r}")
    words = _words(record.words)
    if not words:
        raise ValueError("a command needs words")
    if words[0] == RESERVED and not _is_builtin(plugin):
        raise ValueError(f"{words!r}: {RESERVED} is reserved")
    return Declared(words, dict(record.definition), plugin)


def _source(plugin: str, record: Any) -> Source:
    if not isinstance(record, EnvSource):
        raise TypeError(f"expected an EnvSource, not {record!r}")
    name = _text(record.name, "an EnvSource's name")
    if type(record.rank) not in (int, float) or not _STRONGEST <= record.rank <= _WEAKEST:
        raise ValueError(f"{name}: rank must be from 2 to 4, not {record.rank!r}")
    reader = "python" if record.provider else record.reader
    if reader not in ("dotenv", "python") and not _is_builtin(plugin):
        raise ValueError(f"{name}: reader must be dotenv, not {reader!r}")
    if record.provider and not is_reference(_text(record.provider, f"{name}: provider")):
        raise ValueError(f"{name}: provider must be a reference module:attr")
    files = [_path(one, f"{name}: a file") for one in _several(record.files, f"{name}: files")]
    words = _words(record.words)
    return Source(name, record.rank, reader, files, record.provider, words, plugin)


def _text(value: Any, what: str) -> str:
    """Return `value`, a str that a file name could be; raises TypeError or ValueError."""
    if type(value) is not str:
        raise TypeError(f"{what}: expected a str, not {value!r:.80}")
    if "\0" in value:
        raise ValueError(f"{what}: holds a NUL")
    os.fsencode(value)
    return value


def _path(value: Any, what: str) -> str:
    if not _text(value, what).startswith("/"):
        raise ValueError(f"{what}: expected an absolute path, not {value!r:.80}")
    return str(value)


def _several(value: Any, what: str) -> Iterable[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"{what}: expected a tuple, not {value!r:.80}")
    return value


def _words(value: Any) -> tuple[str, ...]:
    found = tuple(_text(word, "a word") for word in _several(value, "words"))
    if not all(map(is_word, found)):
        raise ValueError(f"words cannot be {found!r:.80}")
    return found


def _is_builtin(plugin: str) -> bool:
    return plugin.startswith(BUILTIN)


def own_commands(layout: Layout) -> list[Declared]:
    """Return what the built-in plugins declare, where there is no installation yet."""
    installation = Installation(layout.program, layout.root, "", "", "")
    loaded = load(one for one in entry_points() if one.builtin)
    found = []
    for plugin, records in loaded.call_each("discover_commands", installation=installation):
        found += [_command(plugin, one) for one in records if isinstance(one, CommandDeclaration)]
    return found
