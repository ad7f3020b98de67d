"""Commands of directory plugins: whatever lies in `plugins/`."""

from __future__ import annotations

from collections.abc import Iterator

from builtin_plugins.plugin_directories.directory import find_directory_plugins
from host import CommandTree, Installation, hookimpl
from host.records import Problem


@hookimpl
def discover_commands(installation: Installation) -> Iterator[CommandTree | Problem]:
    plugins, problems = find_directory_plugins(installation.plugins_dir)
    for problem in problems:
        yield Problem("registry.json", problem)
    for plugin in plugins:
        if plugin.problem:
            yield Problem(plugin.name, plugin.problem)
        elif plugin.enabled:
            yield CommandTree(plugin.tree, plugin=plugin.name, dev=plugin.dev)
