"""The hooks of plugin management.

It reconciles `plugins/`, finds the packages in it, and knows the words of plugins that do not
answer to them, used to explain an unknown command.
"""

import os
from collections.abc import Iterator

from builtin_plugins.plugins.reconcile import reconcile_if_free
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import effective_registry
from host import (
    BrokenPlugin,
    Disabled,
    Installation,
    RecordedWords,
    hookimpl,
)
from host.records import PluginPackage


@hookimpl
def prepare(installation: Installation) -> None:
    reconcile_if_free(installation.plugins_dir)


@hookimpl
def find_plugins(installation: Installation) -> Iterator[PluginPackage | BrokenPlugin]:
    plugins_dir = installation.plugins_dir
    restore = f"{installation.program} self plugin sync"
    for entry in effective_registry(plugins_dir).entries.values():
        has_folder = entry.is_package and not entry.is_in_environment
        if entry.enabled and has_folder:
            yield _package(entry, plugins_dir, restore)


def _package(
    entry: Entry, plugins_dir: str, restore: str
) -> PluginPackage | BrokenPlugin:
    """Return the folders and entry points of a package, or why it cannot be used."""
    # Imported here: it takes 50 ms, and most installations have no package.
    from builtin_plugins.plugins import package_folder
    from builtin_plugins.plugins.sources.pip import PipSource

    # The real path: a long run must not get modules of two versions when the link changes.
    root = os.path.realpath(os.path.join(plugins_dir, entry.name))
    if not os.path.isdir(root):
        reason = f"its files are missing; to restore them, run: {restore}"
        return BrokenPlugin(entry.name, reason, missing=True)

    source = PipSource.of(entry)
    problem = source.problem(plugins_dir)
    if problem:
        return BrokenPlugin(entry.name, f"{problem}; to install it again: {restore}")

    distributions = package_folder.distributions_in([root])
    points = tuple(package_folder.entry_points(distributions))
    folders = tuple(source.folders(root))
    return PluginPackage(entry.name, folders, points, entry.under)


@hookimpl
def discover_commands(installation: Installation) -> Iterator[Disabled | RecordedWords]:
    plugins_dir = installation.plugins_dir
    for name, entry in effective_registry(plugins_dir).entries.items():
        if entry.enabled:
            # The files of the plugin may be missing.
            if entry.words:
                yield RecordedWords(name, entry.words)
            continue

        version = make_source(entry).current_version(plugins_dir)
        commands = [*version.commands, *version.declared]
        # If its files cannot be read, the first words are known from the addition.
        if not commands:
            commands = [(word,) for word in entry.words]
        yield Disabled(name, tuple(commands))
