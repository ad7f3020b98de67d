"""The contents of a plugin that is a directory, read from its files only."""

import os
import re
from collections.abc import Iterator

from builtin_plugins.plugins.python_project import is_python_project
from builtin_plugins.registry.directory import (
    MANIFEST,
    missing_path,
    read_plugin,
)
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.version import PluginVersion, Words
from builtin_plugins.self_commands.left_out import left_out
from host import Definition, Messages, PluginError, Problem
from host.catalog.catalog import Catalog
from host.catalog.command_files import FolderNode
from host.catalog.contents import Contents, contents
from host.files.json_file import Fields
from host.files.paths import read_regular
from host.lock.lock import Lock
from host.record_base import CommandTree
from host.skills import skill_names

_HOOKS_LIMIT = 1 << 20  # maximum size of a hooks file in bytes
_HOOK = re.compile(r"(?ms)^[ \t]*@(?:\w+\.)*hookimpl\b.*?^[ \t]*def[ \t]+(\w+)")
_DECLARATION = re.compile(r"\bCommandDeclaration\(\s*(?:words\s*=\s*)?\(([^)]*)\)")
_LITERAL = re.compile(r"[\"']([^\"']+)[\"']")


def read_contents(plugin: PluginVersion) -> PluginVersion:
    """Return a directory plugin with what its files show.

    Raises PluginError if its plugin.json names a missing file.
    """
    missing = missing_path(plugin)
    if missing:
        raise PluginError(missing)

    tree = plugin.tree
    catalog = Catalog(Lock([tree]))
    inside = contents(catalog, (), deep=True)

    ignored: list[Problem] = []
    if tree.scripts is not None:
        top = os.path.realpath(tree.path)  # the nodes have real paths
        ignored += _files_left_out(catalog, (), top)
        for category in inside.categories:
            ignored += _files_left_out(catalog, category.words, top)

    code = b""
    if plugin.hooks_file:
        code = read_regular(plugin.hooks_file, PluginError, _HOOKS_LIMIT)
    hooks, words_in_code = declarations_in(code)
    declared = [(*tree.under, *words) for words in words_in_code]

    return plugin.replaced(
        commands=_definitions(inside),
        hooks=hooks,
        declared=tuple(declared),
        problems=(*misspelt_keys(plugin), *inside.problems),
        left_out=tuple(ignored),
    )


def read_new(root: str, entry: Entry) -> PluginVersion:
    """Return the contents of the new version in `root`; the author's facts complete the entry."""
    # An update takes the facts of the new plugin.json, not those of the former version.
    unread = entry.replaced(version="", description="", directory="", hooks="")
    plugin = read_plugin(root, unread)
    version = read_contents(plugin)

    if not (_is_meant_for_folders(version) or is_python_project(root)):
        scripts = _as_plain_scripts(plugin)
        if scripts is not None:
            version = scripts

    if _needs_path(plugin, version):
        # Scripts often call their neighbours by name.
        folder = version.entry.directory or "."
        completed = version.entry.replaced(path=(folder,))
        version = version.replaced(entry=completed)
    return version


def _is_meant_for_folders(version: PluginVersion) -> bool:
    """Return whether a directory that was read by its folders is meant to be read so.

    An invalid definition shows this, too. Every other problem, such as a subfolder whose name is no
    word, shows nothing.
    """
    if version.commands or version.has_python:
        return True
    for problem in version.problems:
        if problem.path.endswith(".json"):
            return True
    return False


def _as_plain_scripts(plugin: PluginVersion) -> PluginVersion | None:
    """Return the contents if each script of a directory is a command, or None without scripts.

    Returns None, too, if the author or the user has decided how scripts become commands.
    """
    if plugin.tree.scripts is not None:
        return None

    # With {}, each script is a command.
    tree = plugin.tree.replaced(scripts={})
    version = read_contents(plugin.replaced(tree=tree))
    if not version.commands:
        return None

    scripts: dict[str, str | bool] = {}
    if plugin.entry.scripts:
        scripts = dict(plugin.entry.scripts)
        scripts.pop("files", None)
    entry = plugin.entry.replaced(scripts=scripts)
    return version.replaced(entry=entry)


def check_not_empty(version: PluginVersion, messages: Messages) -> None:
    """Raise PluginError if a plugin has no contents, after warnings about what was ignored."""
    if version.commands or version.has_python or skill_names(version.root):
        return
    messages.warn(*version.problems)
    raise PluginError(
        f"{version.entry.source}: contains no commands and no hooks",
        "a plugin must contain scripts or <category>/<command>/"
        f"command.json (see: {messages.program} self new plugin --help)",
    )


def _needs_path(plugin: PluginVersion, version: PluginVersion) -> bool:
    """Return whether adding a plugin records the key `path`.

    This is so for a new plugin that consists of plain scripts, if neither its author nor the user
    has decided about the key.
    """
    if plugin.entry.installedAt:
        return False
    if plugin.entry.path is not None:
        return False
    if plugin.manifest_decides:
        return False

    for definition in version.commands.values():
        if not definition.is_script:
            return False
    return bool(version.commands)


def declarations_in(code: bytes) -> tuple[tuple[str, ...], tuple[Words, ...]]:
    """Return the hooks in the text of Python code, and the words of commands that are literals."""
    from host.hookspecs import HOOKS  # imported here: `self lint` needs no pluggy

    text = code.decode("utf-8", "replace")
    marked = _HOOK.findall(text)
    hooks = tuple([hook for hook in HOOKS if hook in marked])

    declared = []
    for expression in _DECLARATION.findall(text):
        words = _LITERAL.findall(expression)
        if words:  # otherwise, they are computed
            declared.append(tuple(words))
    return hooks, tuple(declared)


def _definitions(inside: Contents) -> dict[Words, Definition]:
    return {command.words: command.definition for command in inside.commands}


def _files_left_out(catalog: Catalog, words: Words, top: str) -> Iterator[Problem]:
    """Yield the files in a category that are not commands, with paths relative to `top`."""
    for node in catalog.find(words).nodes:
        if not isinstance(node, FolderNode):
            continue
        for finding in left_out(node):
            path = os.path.relpath(finding.problem.path, top)
            yield Problem(path, finding.problem.text)


def read_commands(
    *trees: CommandTree,
) -> tuple[dict[Words, Definition], tuple[Problem, ...]]:
    """Return the commands in `trees` by their words, and the problems in invalid definitions."""
    catalog = Catalog(Lock(list(trees)))
    inside = contents(catalog, (), deep=True)
    return _definitions(inside), tuple(inside.problems)


def misspelt_keys(plugin: PluginVersion) -> tuple[Problem, ...]:
    """Return a problem for each unknown key in plugin.json that resembles a known one."""
    path = os.path.join(plugin.root, MANIFEST)
    return Fields(path, plugin.manifest).misspelt("plugin")
