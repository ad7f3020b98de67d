"""The hook for `plugins/`: its directories are plugins, unless the registry disables them."""

import os
from collections.abc import Iterator

from builtin_plugins.plugins_folder.directory import (
    MANIFEST,
    find_directory_plugins,
    names_in,
)
from builtin_plugins.plugins_folder.entry import REGISTRY, Entry
from builtin_plugins.plugins_folder.registry import (
    effective_registry,
    local_path,
    registry_path,
)
from builtin_plugins.plugins_folder.version import PluginVersion
from host import (
    BrokenPlugin,
    CommandTree,
    Disabled,
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
    yield from map(Watch, _watched(plugins_dir))
    registry = effective_registry(plugins_dir)
    plugins = find_directory_plugins(plugins_dir, registry)

    # The entries decide about the order; plugins without one come last.
    unregistered = [plugin.entry.name for plugin in plugins]
    names = dict.fromkeys([*registry.entries, *unregistered])
    yield PluginOrder(tuple(names))

    for problem in registry.problems:
        file = os.path.basename(problem.path) or REGISTRY
        yield BrokenPlugin(file, str(problem))
    # An entry that cannot be read may be the one that disables its package.
    yield from map(Disabled, registry.refused)

    for name, entry in registry.entries.items():
        if entry.is_package:
            if not entry.enabled:
                yield Disabled(name)
        elif entry.enabled and not os.path.isdir(f"{plugins_dir}/{name}"):
            reason = _how_to_restore(installation.program, entry)
            yield BrokenPlugin(name, reason, missing=True)

    for plugin in plugins:
        if plugin.entry.enabled:
            yield from _records(plugin)


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


def _watched(plugins_dir: str) -> Iterator[str]:
    """Yield the paths to watch for added, removed and changed plugins."""
    yield plugins_dir
    yield registry_path(plugins_dir)
    yield local_path(plugins_dir)
    for name in names_in(plugins_dir):
        if name.startswith("."):
            continue
        directory = os.path.join(plugins_dir, name)
        yield directory
        yield os.path.join(directory, MANIFEST)
