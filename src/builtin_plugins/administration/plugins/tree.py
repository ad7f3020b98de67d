"""The tree of a directory plugin's commands."""

from builtin_plugins.plugins_folder.directory import DirectoryPlugin
from host.run.declarations import CommandTree


def commands_of(plugin: DirectoryPlugin) -> CommandTree:
    """Return the tree of a plugin's commands, as it will be in the lock."""
    return CommandTree(
        plugin.tree,
        scripts=plugin.scripts,
        under=plugin.under,
        root=plugin.root,
        path_folders=plugin.path_folders,
    )
