"""The hook for `plugins/`: its directories are plugins, unless the registry disables them."""

import os
from collections.abc import Iterator

from builtin_plugins.registry.directory import (
    MANIFEST,
    dropped_entries,
    find_directory_plugins,
)
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import (
    local_path,
    read_registry,
    registry_path,
)
from builtin_plugins.registry.version import PluginVersion
from host import (
    BrokenPlugin,
    CommandTree,
    Disabled,
    HostError,
    Installation,
    PluginFile,
    PluginOrder,
    Watch,
    hookimpl,
)


@hookimpl
def find_plugins(
    installation: Installation,
) -> Iterator[PluginFile | PluginOrder | CommandTree | Disabled | Watch | BrokenPlugin]:
    plugins_dir = installation.plugins_dir
    # What is watched has its stamp before it is read, so no change in between is lost.
    yield Watch(plugins_dir)
    yield Watch(registry_path(plugins_dir))
    yield Watch(local_path(plugins_dir))
    try:
        registry = read_registry(plugins_dir)
    except HostError as error:
        # Nobody knows which plugins are disabled.
        yield BrokenPlugin("", str(error))
        yield Disabled("*")
        return
    dropped = dropped_entries(plugins_dir, registry)
    for entry in (*registry.entries.values(), *dropped):
        if not entry.is_package:
            root = entry.root(plugins_dir)
            yield from map(Watch, (root, f"{root}/{MANIFEST}"))
    plugins = find_directory_plugins(plugins_dir, registry)

    # The entries decide about the order; plugins without one come last.
    unregistered = [plugin.entry.name for plugin in plugins]
    names = dict.fromkeys([*registry.entries, *unregistered])
    yield PluginOrder(tuple(names))

    for problem in registry.problems:
        if problem not in registry.refused.values():
            yield BrokenPlugin("", str(problem))
    # An entry that cannot be read may be the one that disables its package.
    yield from map(Disabled, registry.refused)

    for entry in registry.entries.values():
        yield from _state(installation, entry)
    for plugin in plugins:
        if plugin.entry.enabled:
            yield from _records(plugin)


def _state(
    installation: Installation, entry: Entry
) -> Iterator[Disabled | BrokenPlugin]:
    """Yield whether an entry's plugin is disabled or missing."""
    if entry.is_package:
        if not entry.enabled:
            yield Disabled(entry.name)
        return

    root = entry.root(installation.plugins_dir)
    if entry.enabled and not os.path.isdir(root):
        reason = _how_to_restore(installation.program, entry)
        yield BrokenPlugin(entry.name, reason, missing=True)


def _records(
    plugin: PluginVersion,
) -> Iterator[PluginFile | CommandTree | Watch | BrokenPlugin]:
    """Yield what an enabled plugin's directory has."""
    name = plugin.entry.name
    if plugin.problem:
        yield BrokenPlugin(name, str(plugin.problem))
        return

    tree = plugin.tree
    yield Watch(tree.path)
    if not os.path.isdir(tree.path):
        yield BrokenPlugin(name, f"there is no directory {tree.path}")
        return

    yield tree
    if plugin.hooks_file:
        yield PluginFile(name, plugin.root, plugin.hooks_file, tuple(tree.under))


def _how_to_restore(program: str, entry: Entry) -> str:
    """Return that the files of a plugin are missing, and how to restore them."""
    command = f"{program} self plugin"
    if not entry.is_users_directory:
        return f"its files are missing; to restore them, run: {command} sync"

    where = entry.source or "the directory"
    remove = f"{command} remove {entry.name}"
    return f"its files are missing; restore {where}, or run: {remove}"
