"""The contents of a plugin that is a Python package, read from its files only."""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from builtin_plugins.plugins.directory_contents import (
    declarations_in,
    read_commands,
)
from builtin_plugins.plugins.package_folder import distribution_of
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.version import (
    PluginVersion,
    Words,
    relocated,
)
from host import Definition, Problem
from host.hook_marker import GROUP
from host.record_base import CommandTree

_TREE = re.compile(r"((?:.+?/)?commands)/.+/command\.json\Z")  # in a distribution


def read_package(entry: Entry, folders: Sequence[str]) -> PluginVersion:
    """Return the contents of a package; the last of `folders` has its distribution.

    The other folders are those of a linked project, whose files the distribution does not list.
    Raises ValueError or OSError if the files are unreadable or invalid.
    """
    *linked, folder = folders
    distribution = distribution_of(entry.name, [folder])
    if distribution is None:
        return PluginVersion(entry, folder)

    modules = set()
    names = []
    for point in distribution.entry_points.select(group=GROUP):
        names.append(point.name)
        modules.add(point.module)

    listed = distribution.files or ()
    files = {folder: [str(path) for path in listed]}
    for root in linked:
        files[root] = _files_of(root, modules)

    commands: dict[Words, Definition] = {}
    problems: list[Problem] = []
    code = b""
    for root, paths in files.items():
        code += _code_of(root, paths, modules)
        trees = _command_trees(root, paths)
        in_trees, invalid = read_commands(*trees)
        commands |= in_trees
        for problem in invalid:
            problems.append(relocated(problem, root, entry.name))

    # The user may have chosen a category for all commands (`add --under`).
    placed = {}
    for words, definition in commands.items():
        placed[*entry.under, *words] = definition

    hooks, words_in_code = declarations_in(code)
    declared = [(*entry.under, *words) for words in words_in_code]
    return PluginVersion(
        entry,
        folder,
        commands=placed,
        hooks=hooks,
        declared=tuple(declared),
        problems=tuple(problems),
        names=tuple(names),
    )


def _code_of(root: str, paths: Iterable[str], modules: Collection[str]) -> bytes:
    """Return the code of the modules `modules` among the files `paths`."""
    code = b""
    for path in paths:
        if _module_name(path) in modules:
            code += Path(root, path).read_bytes() + b"\n"
    return code


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
        module_file = f"{top}.py"
        if os.path.isfile(os.path.join(root, module_file)):
            files.append(module_file)

        package = os.path.join(root, top)
        for directory, _, names in os.walk(package):
            inside = os.path.relpath(directory, root)
            for name in names:
                files.append(f"{inside}/{name}")
    return files
