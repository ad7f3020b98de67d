"""The hooks for `plugins/`: its directories are plugins, unless the registry disables them."""

import os
from collections.abc import Iterator

from builtin_plugins.plugins_folder.directory import MANIFEST, find_directory_plugins, names_in
from builtin_plugins.plugins_folder.registry import (
    REGISTRY,
    Entry,
    effective_registry,
    local_path,
    registry_path,
)
from host import BrokenPlugin, CommandTree, Disabled, Installation, PluginFile, Watch, hookimpl


@hookimpl
def find_plugins(installation: Installation) -> Iterator[PluginFile | Disabled | Watch]:
    plugins_dir = installation.plugins_dir
    yield from map(Watch, _watched(plugins_dir))
    registry = effective_registry(plugins_dir)
    entries = registry.entries.values()
    yield from (Disabled(one.name) for one in entries if one.is_package and not one.enabled)
    # An entry that cannot be read may be the one that disables its package.
    yield from map(Disabled, registry.refused)
    for plugin in find_directory_plugins(plugins_dir, registry):
        if plugin.hooks_file and plugin.entry.enabled and os.path.isdir(plugin.tree):
            yield PluginFile(plugin.entry.name, plugin.root, plugin.hooks_file, plugin.under)


@hookimpl
def discover_commands(installation: Installation) -> Iterator[CommandTree | BrokenPlugin | Watch]:
    plugins_dir = installation.plugins_dir
    registry = effective_registry(plugins_dir)
    for problem in registry.problems:
        yield BrokenPlugin(os.path.basename(problem.path) or REGISTRY, str(problem))
    for name, entry in registry.entries.items():
        if entry.enabled and not entry.is_package and not os.path.isdir(f"{plugins_dir}/{name}"):
            yield BrokenPlugin(name, _how_to_restore(installation.program, entry), missing=True)
    for plugin in find_directory_plugins(plugins_dir, registry):
        entry = plugin.entry
        if entry.enabled and plugin.problem:
            yield BrokenPlugin(entry.name, str(plugin.problem))
        elif entry.enabled:
            yield Watch(plugin.tree)
            if os.path.isdir(plugin.tree):
                yield CommandTree(
                    plugin.tree,
                    entry.name,
                    entry.dev,
                    plugin.scripts,
                    plugin.under,
                    plugin.root,
                    plugin.path_folders,
                )
            else:
                yield BrokenPlugin(entry.name, f"there is no directory {plugin.tree}")


def _how_to_restore(program: str, entry: Entry) -> str:
    """Return that the files of a plugin are missing, and how to restore them."""
    command = f"{program} self plugin"
    if entry.is_users_directory:
        where = entry.source or "the directory"
        return f"its files are missing; restore {where}, or run: {command} remove {entry.name}"
    return f"its files are missing; to restore them, run: {command} sync"


def _watched(plugins_dir: str) -> Iterator[str]:
    """Yield the paths to watch for added, removed and changed plugins."""
    yield plugins_dir
    yield registry_path(plugins_dir)
    yield local_path(plugins_dir)
    for name in names_in(plugins_dir):
        if not name.startswith("."):
            yield os.path.join(plugins_dir, name)
            yield os.path.join(plugins_dir, name, MANIFEST)
