"""What plugins declare → the lock."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from host.errors import HostError
from host.planning.cache_files import write_lock
from host.planning.distributions import entry_points
from host.planning.loading import load, short_reason, source_files
from host.planning.plugin_worker import PluginAnswer, query
from host.records import (
    BrokenPlugin,
    CategoryDeclaration,
    CommandDeclaration,
    CommandTree,
    Disabled,
    EnvSource,
    Installation,
    PluginFile,
    Watch,
)
from host.run.catalog import RESERVED
from host.run.command import is_reference, is_word
from host.run.environment import ENV_FILES, ENVS, LOAD_ORDER, RANKS
from host.run.installation import Layout, OpenInstallation
from host.run.lock import Declared, Lock, Plugin, Source, Tree, stamp
from host.run.text import Messages

_ASKED = ("find_plugins", "discover_commands", "env_sources")


def refresh(
    installation: OpenInstallation,
    messages: Messages,
    safe: bool = False,
) -> Lock:
    """Ask all plugins what there is; write and return the lock.

    In safe mode no third-party Python is imported, and nothing is written. Each broken plugin
    causes one warning.
    """
    lock = ask_plugins(installation, python=not safe, prepare=not safe)
    for warning in lock.warnings(messages.program):
        messages.warn(warning)
    if not safe:
        write_lock(installation.locks, installation.key, lock)
    return lock


def own_commands(layout: Layout) -> list[Declared]:
    """Return what our own plugins declare, where there is no installation yet."""
    installation = Installation(layout.program, layout.root, "", "", "")
    collected = _Collected({})
    ours = [one for one in entry_points() if one.ours]
    collected.ask_ours(ours, ["discover_commands"], installation)
    return list(collected.lock().commands)


def ask_plugins(
    installation: OpenInstallation,
    *,
    python: bool,
    directory_hooks: bool = True,
    prepare: bool = False,
) -> Lock:
    """Return what plugins say now, checked; a failure costs only the plugin that failed.

    `python` includes third-party Python, `directory_hooks` that of directory plugins, `prepare`
    lets ours bring the disk into order.
    """
    layout = installation.layout
    record = Installation(
        program=layout.program,
        root=layout.root,
        commands_dir=installation.commands_dir,
        plugins_dir=installation.plugins_dir,
        config_dir=layout.config_dir,
    )
    collected = _Collected({path: stamp(path) for path in _import_places()})
    points = list(entry_points())
    ours = [one for one in points if one.ours]
    collected.ask_ours(ours, [*(["prepare"] if prepare else []), *_ASKED], record)
    others = collected.third_party(points)
    asked = [one for one in others if python and (directory_hooks or not one.file)]
    for answer in query(asked, record):
        collected.add(answer)
    for plugin in others:
        collected.plugins.setdefault(plugin.name, plugin)
    return collected.lock()


def _import_places() -> Iterator[str]:
    """Yield what tells that installed distributions came, went or changed."""
    for path in sys.path:
        if os.path.isdir(path):
            yield path
            yield from sorted(glob.glob(os.path.join(glob.escape(path), "*.pth")))


class _Collected:
    """What plugins said so far, checked record by record."""

    def __init__(self, stamps: dict[str, str]) -> None:
        self.stamps = stamps
        self.plugins: dict[str, Plugin] = {}
        self.files: list[PluginFile] = []
        self.disabled: dict[str, tuple[tuple[str, ...], ...]] = {}
        self.declared: list[tuple[int, Tree | Declared | Source]] = []

    def ask_ours(
        self, plugins: list[Plugin], hooks: Iterable[str], installation: Installation
    ) -> None:
        """Ask this distribution's own plugins, in this process."""
        loaded = load(plugins)
        for plugin in plugins:
            self.plugins[plugin.name] = plugin
            plugin.hooks = loaded.hooks_of(plugin.name)
        for hook in hooks:
            loaded.call_each(hook, partial(self.take, hook), installation=installation)
        for name, reason in loaded.broken.items():
            self.note(name, reason)

    def third_party(self, points: Iterable[Plugin]) -> list[Plugin]:
        """Return the plugins that are not ours and are on, each name once.

        A name that comes again is noted as broken under name and origin.
        """
        found: dict[str, Plugin] = {}
        files = [Plugin(one.name, one.origin, file=one.path) for one in self.files]
        for one in [*points, *files]:
            if one.ours or (not one.file and one.project in self.disabled):
                continue
            if one.name in found or one.name in self.plugins:
                one.name = f"{one.name} ({one.distribution})"
                one.broken = "another plugin has this name"
                self.plugins[one.name] = one
            else:
                found[one.name] = one
        return list(found.values())

    def add(self, answer: PluginAnswer) -> None:
        plugin = self.plugins.setdefault(answer.plugin.name, answer.plugin)
        plugin.hooks = answer.hooks
        if answer.reason:
            plugin.broken = f"{plugin.distribution}: {answer.reason}"
            # also where it fails before it says which files it has
            self.stamps.update({path: stamp(path) for path in source_files(plugin)})
        self.stamps.update(answer.stamps)
        for hook, record in answer.records:
            self.take(hook, plugin.name, record)

    def note(self, name: str, reason: str) -> None:
        """Note why something that may be no plugin at all is broken."""
        self.plugins.setdefault(name, Plugin(name)).broken = reason

    def take(self, hook: str, name: str, record: Any) -> None:
        plugin = self.plugins[name]
        try:
            self.take_one(plugin, hook, record)
        except (HostError, TypeError, ValueError) as error:
            plugin.broken = f"{hook}: {short_reason(str(error))}"

    def take_one(self, plugin: Plugin, hook: str, record: Any) -> None:
        place = plugin.hooks.get(hook, 0)
        if isinstance(record, Watch):
            path = _path(record.path, "a Watch's path")
            self.stamps.setdefault(path, stamp(path))
        elif isinstance(record, BrokenPlugin) and plugin.ours:
            self.note(record.plugin, record.reason)
        elif hook == "env_sources":
            self.declared.append((place, _source(plugin, record)))
        elif isinstance(record, CommandTree):
            self.declared.append((place, _tree(plugin, record)))
            plugin.trees = [*plugin.trees, record.path]
        elif isinstance(record, PluginFile) and plugin.ours:
            self.files.append(record)
        elif isinstance(record, Disabled) and plugin.ours:
            self.disabled[record.plugin] = record.commands
        else:
            self.declared.append((place, _declared(plugin, record)))

    def lock(self) -> Lock:
        """Return it all in order of precedence: the installation's own, then as plugins asked."""
        found = [one for _, one in sorted(self.declared, key=lambda one: one[0])]
        trees = [one for one in found if isinstance(one, Tree)]
        sources = [one for one in found if isinstance(one, Source)]
        return Lock(
            sorted(trees, key=lambda one: one.plugin != ""),
            [one for one in found if isinstance(one, Declared)],
            sorted(sources, key=lambda one: LOAD_ORDER[one.reader]),
            self.plugins,
            self.stamps,
            json.dumps(self.disabled).encode(),
        )


def _tree(plugin: Plugin, record: CommandTree) -> Tree:
    owner = record.plugin or ("" if plugin.ours else plugin.name)
    path = _path(record.path, "a CommandTree's path")
    return Tree(path, _text(owner, "plugin"), record.dev is True)


def _declared(plugin: Plugin, record: Any) -> Declared:
    fields: dict[str, Any] = {}
    if isinstance(record, CategoryDeclaration):
        fields = {"name": record.name, "description": record.description}
    elif isinstance(record, CommandDeclaration):
        fields = {"entrypoint": None, **record.definition}
    else:
        raise TypeError(f"expected a CommandTree, Command- or CategoryDeclaration, not {record!r}")
    words = _words(record.words)
    if not words:
        raise ValueError("a command or category needs words")
    if words[0] == RESERVED and not plugin.ours:
        raise ValueError(f"{words!r}: {RESERVED} is reserved")
    runs = isinstance(record, CommandDeclaration)
    declared = Declared(words, json.dumps(fields).encode(), plugin.name, plugin.ours, runs)
    declared.definition  # noqa: B018 - asking for it checks it
    return declared


def _source(plugin: Plugin, record: Any) -> Source:
    if not isinstance(record, EnvSource):
        raise TypeError(f"expected an EnvSource, not {record!r}")
    name = _text(record.name, "an EnvSource's name")
    reader = "python" if record.provider else record.reader
    rank = RANKS.get(reader, record.rank) if plugin.ours else record.rank
    if rank is None or type(rank) not in (int, float) or not ENVS <= rank <= ENV_FILES:
        raise ValueError(f"{name}: rank must be from {ENVS} to {ENV_FILES}, not {rank!r}")
    if reader not in ("dotenv", "python") and not plugin.ours:
        raise ValueError(f"{name}: reader must be dotenv, not {reader!r}")
    if record.provider and not is_reference(_text(record.provider, f"{name}: provider")):
        raise ValueError(f"{name}: provider must be a reference module:attr")
    files = [_path(one, f"{name}: a file") for one in _several(record.files, f"{name}: files")]
    words = _words(record.words)
    return Source(name, rank, reader, files, record.provider, words, plugin.name)


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
