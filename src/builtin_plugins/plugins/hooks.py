"""The hooks of plugin management: the plugins in `plugins/`, and the commands of `self plugin`."""

import os
from collections.abc import Iterator

from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.registry.directory import (
    MANIFEST,
    dropped_entries,
    find_directory_plugins,
)
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import (
    Registry,
    local_path,
    read_registry,
    registry_path,
)
from builtin_plugins.registry.version import PluginVersion
from builtin_plugins.self_commands.declarations import commands_of
from host import (
    BrokenPlugin,
    CategoryDeclaration,
    CommandDeclaration,
    CommandTree,
    Disabled,
    HostError,
    Installation,
    PluginFile,
    PluginOrder,
    Watch,
    hookimpl,
)
from host.lock import broken
from host.records import PluginPackage

_Found = (
    PluginOrder
    | CommandTree
    | PluginFile
    | PluginPackage
    | Disabled
    | BrokenPlugin
    | Watch
)


@hookimpl
def find_plugins(installation: Installation) -> Iterator[_Found]:
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
    else:
        yield from _plugins(registry, installation)


def _plugins(registry: Registry, installation: Installation) -> Iterator[_Found]:
    """Yield the plugins of the registry, and the directories without an entry."""
    plugins_dir = installation.plugins_dir
    entries = registry.entries.values()
    for entry in (*entries, *dropped_entries(plugins_dir, registry)):
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

    for plugin in plugins:
        if plugin.entry.enabled:
            yield from _directory(plugin)
    for entry in entries:
        yield from _entry(entry, installation)


def _entry(
    entry: Entry, installation: Installation
) -> Iterator[PluginPackage | Disabled | BrokenPlugin | Watch]:
    """Yield a package of the registry, or that a plugin is disabled or missing."""
    if not entry.enabled:
        version = make_source(entry).current_version(installation.plugins_dir)
        # The words explain an unknown command.
        yield Disabled(entry.name, (*version.commands, *version.declared))
    elif not entry.is_package:
        yield from _missing_directory(entry, installation)
    elif not entry.is_in_environment:
        yield from _package(entry, installation)


def _directory(
    plugin: PluginVersion,
) -> Iterator[PluginFile | CommandTree | Watch | BrokenPlugin]:
    """Yield what a directory plugin has, or why it cannot be used."""
    name = plugin.entry.name
    if plugin.problem:
        yield BrokenPlugin(name, str(plugin.problem))
        return

    tree = plugin.tree
    yield Watch(tree.path)
    if not os.path.isdir(tree.path):
        yield BrokenPlugin(name, broken.no_command_directory(tree.path))
        return

    yield tree
    if plugin.hooks_file:
        yield PluginFile(name, plugin.root, plugin.hooks_file, tuple(tree.under))


def _missing_directory(
    entry: Entry, installation: Installation
) -> Iterator[BrokenPlugin]:
    """Yield that the files of a directory plugin are missing, if they are."""
    if os.path.isdir(entry.root(installation.plugins_dir)):
        return

    command = f"{installation.program} self plugin"
    reason = broken.files_missing(f"{command} sync")
    if entry.is_users_directory:
        directory = entry.source or "the directory"
        remove = f"{command} remove {entry.name}"
        reason = broken.linked_directory_missing(directory, remove)
    yield BrokenPlugin(entry.name, reason, missing=True)


def _package(
    entry: Entry, installation: Installation
) -> Iterator[PluginPackage | BrokenPlugin | Watch]:
    """Yield the folders and entry points of a package, or why it cannot be used."""
    # Imported here: it takes 50 ms, and most installations have no package.
    from builtin_plugins.plugins import package_folder
    from builtin_plugins.plugins.sources.pip import PipSource

    plugins_dir = installation.plugins_dir
    sync = f"{installation.program} self plugin sync"
    # The real path: a long run must not get modules of two versions when the link changes.
    root = os.path.realpath(entry.root(plugins_dir))
    if entry.version_dir:
        # A repair, or a removal by hand, takes effect at once.
        yield Watch(os.path.dirname(root))
    if not entry.version_dir or not os.path.isdir(root):
        yield BrokenPlugin(entry.name, broken.files_missing(sync), missing=True)
        return

    source = PipSource.of(entry)
    moved = source.missing_folders(root)
    problem = source.problem(plugins_dir)
    if moved:
        yield from map(Watch, moved)
        yield BrokenPlugin(entry.name, problem)
    elif problem:
        yield BrokenPlugin(entry.name, broken.to_install_again(problem, sync))
    else:
        points = package_folder.entry_points(entry.name, root)
        folders = tuple(source.folders(root))
        yield PluginPackage(entry.name, folders, points, entry.under)


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield from commands_of(
        "builtin_plugins.plugins.commands",
        "add",
        "enable_disable",
        "list",
        "remove",
        "rollback",
        "search",
        "show",
        "sync",
        "update",
    )
    yield CategoryDeclaration(
        ("self", "plugin"), "plugin", "Add, list, update and remove plugins"
    )
