"""The hooks of plugin management.

It finds the packages in `plugins/`, and knows the words of disabled plugins, used to explain an
unknown command.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.registry import read_registry
from host import BrokenPlugin, Disabled, HostError, Installation, Watch, hookimpl
from host.records import PluginPackage


@hookimpl
def find_plugins(
    installation: Installation,
) -> Iterator[PluginPackage | BrokenPlugin | Watch]:
    plugins_dir = installation.plugins_dir
    restore = f"{installation.program} self plugin sync"
    for entry in _entries(plugins_dir):
        has_folder = entry.is_package and not entry.is_in_environment
        if entry.enabled and has_folder:
            yield from _package(entry, plugins_dir, restore)


def _entries(plugins_dir: str) -> Iterable[Entry]:
    """Return the entries of the registry; `registry` reports one that cannot be read."""
    with suppress(HostError):
        return read_registry(plugins_dir).entries.values()
    return ()


def _package(
    entry: Entry, plugins_dir: str, restore: str
) -> Iterator[PluginPackage | BrokenPlugin | Watch]:
    """Yield the folders and entry points of a package, or why it cannot be used."""
    # Imported here: it takes 50 ms, and most installations have no package.
    from builtin_plugins.plugins import package_folder
    from builtin_plugins.plugins.sources.pip import PipSource

    # The real path: a long run must not get modules of two versions when the link changes.
    root = os.path.realpath(entry.root(plugins_dir))
    if entry.version_dir:
        # A repair, or a removal by hand, takes effect at once.
        yield Watch(os.path.dirname(root))
    if not entry.version_dir or not os.path.isdir(root):
        reason = f"its files are missing; to restore them, run: {restore}"
        yield BrokenPlugin(entry.name, reason, missing=True)
        return

    source = PipSource.of(entry)
    moved = source.missing_folders(root)
    problem = source.problem(plugins_dir)
    if moved:
        yield from map(Watch, moved)
        yield BrokenPlugin(entry.name, problem)
    elif problem:
        yield BrokenPlugin(entry.name, f"{problem}; to install it again: {restore}")
    else:
        points = package_folder.entry_points(entry.name, root)
        folders = tuple(source.folders(root))
        yield PluginPackage(entry.name, folders, points, entry.under)


@hookimpl
def discover_commands(installation: Installation) -> Iterator[Disabled]:
    plugins_dir = installation.plugins_dir
    for entry in _entries(plugins_dir):
        if not entry.enabled:
            version = make_source(entry).current_version(plugins_dir)
            yield Disabled(entry.name, (*version.commands, *version.declared))
