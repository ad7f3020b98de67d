"""All plugins for `list` and `show`: registry, directories and distributions combined."""

from __future__ import annotations

import os

from builtin_plugins.registry import directory
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import Registry, read_registry
from builtin_plugins.registry.version import PluginVersion
from host import Record, SourceError, UsageError, masked_text
from host.catalog.catalog import Catalog
from host.catalog.declared_commands import Declared
from host.lock import broken
from host.lock.first_words import files_by_word
from host.lock.lock import Lock
from host.lock.plugin import Plugin
from host.record_base import CommandTree
from host.session.session import Session
from host.suggestions import closest
from host.text import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Literal


class KnownPlugin(Record):
    """A plugin and its state, as `self plugin list` shows it.

    `entry` is generated if the registry has none. `reason` explains the state.

    `state` is enabled, disabled, missing or broken. `root` is the plugin's directory, or ""
    for a distribution. `in_lock` has the plugin's entry points or its hooks file, as the lock
    records them. `own` has the commands that the plugin declares.
    """

    entry: Entry
    state: str
    reason: str = ""
    root: str = ""
    in_lock: Sequence[Plugin] = ()
    own: Lock = Lock([])

    @property
    def hooks(self) -> list[str]:
        """Return the names of the hooks that the plugin implements."""
        hooks: list[str] = []
        for plugin in self.in_lock:
            hooks += plugin.hooks
        return hooks

    @property
    def kind_text(self) -> str:
        if self.entry.dev:
            return f"{self.entry.kind} [dev]"
        return self.entry.kind

    @property
    def state_text(self) -> str:
        if self.entry.pinned:
            return f"{self.state}, pinned"
        return self.state

    @property
    def words(self) -> list[str]:
        """Return the first words of the plugin's commands."""
        words = {command.words[0] for command in self.own.commands}
        for tree in self.own.trees:
            files = self.own.first_words.get(tree.path)
            # While each file exists, the words of the current lock are those of now.
            if files is None or not _all_exist(files):
                files = files_by_word(tree)
            for word, file in files.items():
                if file:
                    words.add(word)
        return sorted(words)

    def described(self) -> dict[str, Any]:
        """Return the plugin as the JSON listing shows it."""
        from host.catalog.contents import contents  # imported here: only JSON needs it

        commands = []
        for command in contents(Catalog(self.own), (), deep=True).commands:
            commands.append(" ".join(command.words))
        path = None
        if self.root:
            path = os.path.realpath(self.root)

        fields = self.entry.fields()
        # The program manages this key, and only a package has it.
        fields.pop("python", None)
        return {
            **fields,
            "source": masked_text(self.entry.source) or None,
            "state": self.state,
            "reason": self.reason or None,
            "path": path,
            "commands": sorted(commands),
            "implements": self.hooks,
        }


def _all_exist(files: Mapping[str, str]) -> bool:
    return all(map(os.path.isfile, files.values()))


def inventory(
    session: Session, code: Literal["packages", "none"] = "packages"
) -> list[KnownPlugin]:
    """Return all plugins, those of the registry first; no code of a directory plugin is run.

    With "none", no package's code is run either; some commands and some reasons why a
    plugin is broken may then be missing.
    """
    plugins_dir = session.installation.plugins_dir
    lock = _lock_for_inventory(session, code)
    registry = read_registry(plugins_dir)
    session.messages.warn(*registry.problems)

    trees = _unchanged_trees(lock, registry, plugins_dir)
    read_now = directory.find_directory_plugins(plugins_dir, registry, without=trees)
    directories = {plugin.entry.name: plugin for plugin in read_now}

    # The registry comes first, then directories without an entry, then the environment.
    entries = {**registry.entries}
    for name, plugin in directories.items():
        entries.setdefault(name, plugin.entry)
    for entry in _in_environment(lock):
        entries.setdefault(entry.name, entry)

    declared: dict[str, list[Declared]] = {}
    for command in lock.commands:
        declared.setdefault(command.plugin, []).append(command)

    restore = f"{session.program} self plugin sync"
    plugins = []
    for name, entry in entries.items():
        if entry.is_package:  # the trees and commands of all its entry points
            own, _ = declarations(lock, entry)
        else:
            own_trees = [trees[name]] if name in trees else []
            commands = declared.get(name, ())
            own = Lock(own_trees, commands, first_words=lock.first_words)

        on_disk = directories.get(name)
        known = _known_plugin(entry, on_disk, lock, own, plugins_dir, restore)
        plugins.append(known)
    return plugins


def _lock_for_inventory(session: Session, code: Literal["packages", "none"]) -> Lock:
    """Return the lock, read or built."""
    current = session.current_lock
    if code == "packages":
        return session.lock_for_inspection
    if current is None:
        return session.query_plugins("none")
    return current


def _unchanged_trees(
    lock: Lock, registry: Registry, plugins_dir: str
) -> dict[str, CommandTree]:
    """Return the trees in the lock of the plugins whose entries are complete.

    Nothing else of these plugins has to be read: only this program writes their files, or they have
    no plugin.json, which the lock would notice.
    """
    trees = {}
    for tree in lock.trees:
        entry = registry.entries.get(tree.plugin)
        if entry is None or entry.is_package:
            continue
        if not entry.enabled:
            continue

        manifest = os.path.join(entry.root(plugins_dir), directory.MANIFEST)
        if entry.version_dir or lock.stamps.get(manifest) == "":
            trees[tree.plugin] = tree
    return trees


def _in_environment(lock: Lock) -> list[Entry]:
    """Return an entry for each package with plugins in the program's environment, by name."""
    packages = set()
    for plugin in lock.plugins.values():
        # A directory plugin has no entry point; a package in `plugins/` has folders.
        if not plugin.reference or plugin.folders:
            continue
        if not plugin.ours:
            packages.add((plugin.package, plugin.version))

    entries = []
    for name, version in sorted(packages):
        entries.append(Entry(name, "environment", version=version))
    return entries


def named_plugin(
    session: Session, name: str, plugins: list[KnownPlugin] | None = None
) -> KnownPlugin:
    """Return the plugin that has this name, or else one that has an entry point of this name.

    A package has any spelling of its name, such as Ca.Se-plug for ca-se-plug. `plugins` are the
    plugins to search, by default all; no plugin's code is run to find them.

    Raises UsageError with the nearest names if there is no such plugin.
    """
    if plugins is None:
        plugins = inventory(session, "none")

    # A plugin's own name comes before the entry points of other packages.
    for plugin in plugins:
        if plugin.entry.name == name:
            return plugin
    for plugin in plugins:
        for point in plugin.in_lock:
            if point.name == name:
                return plugin

    from packaging.utils import canonicalize_name  # imported here: a wrong name is rare

    canonical = canonicalize_name(name)
    for plugin in plugins:
        if plugin.entry.is_package and plugin.entry.name == canonical:
            return plugin

    near = closest(name, [plugin.entry.name for plugin in plugins])
    see = f"see: {session.program} self plugin list"
    raise UsageError(f"there is no plugin {name or EMPTY}", see, suggestions=near)


def _known_plugin(
    entry: Entry,
    plugin: PluginVersion | None,
    lock: Lock,
    own: Lock,
    plugins_dir: str,
    restore: str,
) -> KnownPlugin:
    """Return a plugin with its state.

    `own` has what it declares, and `restore` is the command that restores missing files.
    """
    in_lock = plugins_of(lock, entry)

    root = ""
    if plugin:
        entry = plugin.entry
        root = plugin.root
        own_trees = [plugin.tree] if plugin.tree.path else []
        own = own.replaced(trees=own_trees)
        is_here = True
    elif entry.is_in_environment:
        is_here = bool(in_lock) or _is_in_environment(entry, plugins_dir)
    elif entry.is_package or own.trees:
        root = entry.root(plugins_dir)
        is_here = os.path.isdir(root)
    else:
        is_here = False

    state = "enabled" if entry.enabled else "disabled"
    reason = _why_broken(in_lock, lock)
    if not is_here:
        state = "missing"
        reason = broken.FILES_MISSING
        # Only the user has the files of a linked directory.
        if not entry.is_linked:
            reason += f"; restore them with: {restore}"
    elif reason:
        state = "broken"
    return KnownPlugin(entry, state, reason, root, in_lock, own)


def _why_broken(in_lock: Sequence[Plugin], lock: Lock) -> str:
    """Return why these plugins, or their files of variables, cannot be used, or ""."""
    reasons = []
    names = set()
    for point in in_lock:
        names.add(point.name)
        if point.broken and not point.missing:
            reasons.append(point.broken)
    return "; ".join([*reasons, *_unreadable_variables(lock, names)])


def _unreadable_variables(lock: Lock, plugins: set[str]) -> Iterator[str]:
    """Yield why files of variables, declared by plugins of these names, cannot be read."""
    for source in lock.sources:
        if source.plugin not in plugins:
            continue

        # Imported here because few plugins have sources.
        from host.variables.dotenv import read_env_text

        for path in source.files:
            try:
                read_env_text(path)
            except SourceError as failure:
                yield failure.what


def _is_in_environment(entry: Entry, plugins_dir: str) -> bool:
    # Imported here: it takes 50 ms, and only a disabled package is not in the lock.
    from builtin_plugins.plugins.sources.base import make_source

    return make_source(entry).is_present(plugins_dir)


def plugins_of(lock: Lock, entry: Entry) -> list[Plugin]:
    """Return the plugins in `lock` that belong to an entry.

    These are the entry points of a package, or the hooks file of a directory plugin.
    """
    plugins = []
    for plugin in lock.plugins.values():
        if entry.is_package:
            is_own = plugin.package == entry.name
        else:
            is_own = not plugin.reference and plugin.name == entry.name
        if is_own:
            plugins.append(plugin)
    return plugins


def declarations(lock: Lock, entry: Entry) -> tuple[Lock, Lock]:
    """Return the declarations in `lock` in two parts: those of the plugin, and all others."""
    names = {entry.name}
    paths: set[str] = set()
    known = plugins_of(lock, entry)
    if entry.is_package:
        names = {plugin.name for plugin in known}
    for plugin in known:
        paths.update(plugin.trees)

    own_trees = []
    other_trees = []
    for tree in lock.trees:
        if tree.path in paths or tree.plugin in names:
            own_trees.append(tree)
        else:
            other_trees.append(tree)

    own_commands = []
    other_commands = []
    for command in lock.commands:
        if command.plugin in names:
            own_commands.append(command)
        else:
            other_commands.append(command)

    own = Lock(own_trees, own_commands, first_words=lock.first_words)
    return own, Lock(other_trees, other_commands)
