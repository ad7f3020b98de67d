"""The contents of a plugin that is a directory, read from its files only."""

import os
from collections.abc import Iterator

from builtin_plugins.administration.left_out import left_out
from builtin_plugins.administration.plugins.python_text import declarations_in
from builtin_plugins.plugins_folder.directory import MANIFEST, missing_path
from builtin_plugins.plugins_folder.version import PluginVersion, Words
from host import Definition, PluginError, Problem
from host.cli.contents import contents
from host.run.catalog import Catalog
from host.run.command_files import FolderNode
from host.run.files import read_regular
from host.run.json_file import Fields, read_json
from host.run.lock import Lock
from host.run.records import CommandTree

_HOOKS_LIMIT = 1 << 20  # maximum size of a hooks file in bytes


def read_contents(plugin: PluginVersion) -> PluginVersion:
    """Return a directory plugin with what its files show.

    Raises PluginError if its plugin.json names a missing file.
    """
    if missing := missing_path(plugin):
        raise PluginError(missing)

    tree = plugin.tree
    catalog = Catalog(Lock([tree]))
    inside = contents(catalog, (), deep=True)
    commands = {command.words: command.definition for command in inside.commands}

    ignored: list[Problem] = []
    if tree.scripts is not None:
        categories = [(), *(category.words for category in inside.categories)]
        top = os.path.realpath(tree.path)  # the nodes have real paths
        for words in categories:
            for node in catalog.find(words).nodes:
                if isinstance(node, FolderNode):
                    ignored += _files_left_out(node, top)

    code = b""
    if plugin.hooks_file:
        code = read_regular(plugin.hooks_file, PluginError, _HOOKS_LIMIT)
    hooks, declared = declarations_in(code)
    return plugin.replaced(
        commands=commands,
        hooks=hooks,
        declared=tuple((*tree.under, *words) for words in declared),
        problems=(*misspelt_keys(plugin.root), *inside.problems),
        left_out=tuple(ignored),
    )


def _files_left_out(node: FolderNode, top: str) -> Iterator[Problem]:
    """Yield the files in a folder that are not commands, with paths relative to `top`."""
    for finding in left_out(node):
        path = os.path.relpath(finding.problem.path, top)
        yield Problem(path, finding.problem.text)


def read_commands(
    *trees: CommandTree,
) -> tuple[dict[Words, Definition], tuple[Problem, ...]]:
    """Return the commands in `trees` by their words, and the problems in invalid definitions."""
    catalog = Catalog(Lock(list(trees)))
    inside = contents(catalog, (), deep=True)
    commands = {command.words: command.definition for command in inside.commands}
    return commands, tuple(inside.problems)


def misspelt_keys(root: str) -> tuple[Problem, ...]:
    """Return a problem for each unknown key in plugin.json that resembles a known one."""
    path = os.path.join(root, MANIFEST)
    if not os.path.exists(path):
        return ()
    return Fields(path, read_json(path)).misspelt("plugin")
