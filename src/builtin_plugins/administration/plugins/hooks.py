"""The hooks of plugin management: it reconciles `plugins/`, and finds the packages in it."""

import os
from collections.abc import Iterator

from builtin_plugins.administration.plugins.reconcile import reconcile_if_free
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import effective_registry
from host import BrokenPlugin, Installation, hookimpl
from host.records import PluginPackage


@hookimpl
def prepare(installation: Installation) -> None:
    reconcile_if_free(installation.plugins_dir)


@hookimpl
def find_plugins(installation: Installation) -> Iterator[PluginPackage | BrokenPlugin]:
    plugins_dir = installation.plugins_dir
    for entry in effective_registry(plugins_dir).entries.values():
        if entry.enabled and entry.is_package and not entry.is_in_environment:
            yield _found(entry, plugins_dir, f"{installation.program} self plugin sync")


def _found(
    entry: Entry, plugins_dir: str, restore: str
) -> PluginPackage | BrokenPlugin:
    # Imported here: it takes 50 ms, and most installations have no package.
    from builtin_plugins.administration.plugins import package_folder
    from builtin_plugins.administration.plugins.sources.pip import PipSource

    # The real path: a long run must not get modules of two versions when the link changes.
    root = os.path.realpath(os.path.join(plugins_dir, entry.name))
    source = PipSource.of(entry)
    if not os.path.isdir(root):
        reason = f"its files are missing; to restore them, run: {restore}"
        return BrokenPlugin(entry.name, reason, missing=True)
    if problem := source.problem(plugins_dir):
        return BrokenPlugin(entry.name, f"{problem}; to install it again: {restore}")
    points = package_folder.entry_points(package_folder.distributions_in([root]))
    return PluginPackage(
        entry.name, tuple(source.folders(root)), tuple(points), entry.under
    )
