"""The contents of a plugin that is a Python package, read from its files only."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from builtin_plugins.administration.plugins.directory_contents import read_commands
from builtin_plugins.administration.plugins.package_folder import distributions_in
from builtin_plugins.administration.plugins.python_text import declarations_in
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.version import (
    PluginVersion,
    Words,
    relocated,
)
from host import Definition, Problem
from host.hook_marker import GROUP
from host.run.declarations import CommandTree

_TREE = re.compile(r"((?:.+?/)?commands)/.+/command\.json\Z")  # in a distribution


def read_package(entry: Entry, folders: Sequence[str]) -> PluginVersion:
    """Return the contents of a package; the last of `folders` has its distributions.

    The other folders are those of a linked project, whose files no distribution lists. Raises
    ValueError or OSError if the files are unreadable or invalid.
    """
    *linked, folder = folders
    commands: dict[Words, Definition] = {}
    problems: list[Problem] = []
    code = b""
    names: list[str] = []
    for distribution in distributions_in([folder]).values():
        points = [*distribution.entry_points.select(group=GROUP)]
        if not points:
            continue
        names += [point.name for point in points]
        modules = {point.module for point in points}

        files = {folder: [str(path) for path in distribution.files or ()]}
        for root in linked:
            files[root] = _files_of(root, modules)

        for root, paths in files.items():
            in_trees, invalid = read_commands(*_command_trees(root, paths))
            commands |= in_trees
            problems += [relocated(problem, root, entry.name) for problem in invalid]
            for path in paths:
                if _module_name(path) in modules:
                    code += Path(root, path).read_bytes() + b"\n"

    hooks, declared = declarations_in(code)
    placed = {}
    for words, definition in commands.items():
        placed[*entry.under, *words] = definition
    return PluginVersion(
        entry,
        folder,
        commands=placed,
        hooks=hooks,
        declared=tuple([(*entry.under, *words) for words in declared]),
        problems=tuple(problems),
        names=tuple(names),
    )


def _command_trees(root: str, paths: Iterable[str]) -> list[CommandTree]:
    """Return the directories called `commands` that have definitions among the files `paths`."""
    trees = set()
    for path in paths:
        match = _TREE.match(path)
        if match:
            trees.add(match[1])
    return [CommandTree(os.path.join(root, tree)) for tree in sorted(trees)]


def _module_name(path: str) -> str:
    """Return the name of the module in the file `path`, such as `acme.plugin`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _files_of(root: str, modules: Iterable[str]) -> list[str]:
    """Return the files of the top-level packages or modules `modules` in the directory `root`."""
    tops = {module.partition(".")[0] for module in modules}
    files = []
    for top in sorted(tops):
        if os.path.isfile(os.path.join(root, f"{top}.py")):
            files.append(f"{top}.py")
        for directory, _, names in os.walk(os.path.join(root, top)):
            inside = os.path.relpath(directory, root)
            for name in names:
                files.append(f"{inside}/{name}")
    return files
