"""The contents of a plugin, read from its files alone: nothing of it is imported or run."""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NoReturn

import importlib_metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from builtin_plugins.administration.plugins.hooks_source import Words, read_source
from builtin_plugins.administration.program.environment.distributions import (
    find_distribution,
    packages_directory,
)
from builtin_plugins.administration.program.environment.owned_files import wheel_paths
from builtin_plugins.administration.words.lint.scripts import left_out
from builtin_plugins.plugins_folder.directory import Manifest, read_manifest
from host import Definition, HostError, OperationError, PluginError, Problem, Record, is_word
from host.cli.contents import contents
from host.hookspecs import PROJECT
from host.run import read_regular
from host.run.catalog import Catalog
from host.run.command import parse_declared
from host.run.folders import FolderTree
from host.run.json_file import parse_json
from host.run.lock import Lock, Tree

_HOOKS_LIMIT = 1 << 20  # bytes of a hooks file
_MEMBER_LIMIT = 4 << 20  # bytes of a file of a distribution
_TREE_NAMES = ("commands", "cli_commands")
_SCRIPTS = ("console_scripts", "gui_scripts")

_NONE: Mapping[Words, Definition] = {}


class PluginContents(Record):
    """The commands of a plugin by their words, the hooks that its Python implements.

    `problems` are definitions that do not count, hooks that cannot work and misspelt keys;
    `manifest` has the plugin's own name and version, `left_out` the files that look like scripts
    and are no commands. For a distribution, `names` are those of
    its plugins, `requires` its requirements, and `files` their paths in the environment.
    """

    commands: Mapping[Words, Definition] = _NONE
    hooks: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: tuple[Problem, ...] = ()
    manifest: Manifest = Manifest()
    names: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read_contents(root: str, scripts: Mapping[str, str] | None = None) -> PluginContents:
    """Return the contents of the directory plugin at `root`; `scripts` are those of its entry.

    Raises PluginError or DefinitionError when its plugin.json is wrong.
    """
    manifest = read_manifest(root)
    if scripts is not None:
        manifest = manifest.replaced(scripts=scripts)
    if not os.path.isdir(manifest.tree):
        what = f"there is no {manifest.tree}"
        raise PluginError(Problem(f"{root}/plugin.json", what, key="directory"))
    tree = Tree(manifest.tree, scripts=manifest.scripts)
    found, wrong = contents(Catalog(Lock([tree])), (), deep=True)
    problems = [*manifest.warnings, *wrong]
    commands = {one.words: one.definition for one in found.commands}
    hooks: tuple[str, ...] = ()
    if manifest.hooks:
        path = manifest.hooks_file
        try:
            source = read_regular(path, _HOOKS_LIMIT, PluginError)
        except FileNotFoundError:
            raise PluginError(Problem(path, "No such file or directory")) from None
        hooks, declared = read_source(path, source, problems)
        commands = declared | commands
    places = ((), *(one.words for one in found.categories))
    return PluginContents(
        commands,
        hooks,
        tuple(problems),
        tuple(_left_out(tree, places)) if tree.scripts is not None else (),
        manifest,
    )


def _left_out(tree: Tree, places: Iterable[Words]) -> Iterator[Problem]:
    folders = FolderTree(tree.path, scripts=tree.scripts)
    for words in places:
        for one in left_out(folders, os.path.join(tree.path, *words)):
            yield Problem(os.path.relpath(one.file, tree.path), one.message)


def read_wheel(path: str) -> PluginContents:
    """Return the contents of the wheel at `path`; raises OperationError if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except (zipfile.BadZipFile, KeyError, OSError, ValueError, NotImplementedError) as failure:
        raise OperationError(f"{PurePosixPath(path).name}: not a sound wheel: {failure}") from None


def _read(archive: zipfile.ZipFile) -> PluginContents:
    def text(name: str) -> str:
        if archive.getinfo(name).file_size > _MEMBER_LIMIT:
            raise ValueError(f"{name} is of unusual size")
        return archive.read(name).decode("utf-8", "replace")

    names = [one for one in archive.namelist() if not one.endswith("/")]
    packed = _Packed(names, text)
    said = packed.metadata
    name, version, summary = (said.get(one) or "" for one in ("Name", "Version", "Summary"))
    canonicalize_name(name, validate=True)
    Version(version)  # both become names of files
    for one in packed.requires or ():
        Requirement(one)
    listed = {row[0] for row in csv.reader((packed.read_text("RECORD") or "").splitlines()) if row}
    if foreign := listed.difference(names):
        raise ValueError(f"its RECORD lists {min(foreign)}, which it does not contain")
    points = packed.entry_points
    scripts = [one.name for group in _SCRIPTS for one in points.select(group=group)]
    files = tuple(wheel_paths(names, scripts, packages_directory(), name))
    found = _of_distribution(packed, names, text)
    return found.replaced(manifest=Manifest(name, version, summary), files=files)


class _Packed(importlib_metadata.Distribution):
    """A distribution that is still in its wheel, whose members are `names` and read by `text`."""

    def __init__(self, names: Sequence[str], text: Callable[[str], str]) -> None:
        self._names, self._text = set(names), text
        parts = [one.split("/") for one in names if one.endswith(".dist-info/METADATA")]
        found = [one[0] for one in parts if len(one) == 2]  # not what it has packed in
        if len(found) != 1:
            raise ValueError("it has no METADATA" if not found else "it is several distributions")
        self._info = found[0]

    def read_text(self, filename: Any) -> str | None:
        name = f"{self._info}/{filename}"
        return self._text(name) if name in self._names else None

    def locate_file(self, path: Any) -> NoReturn:
        raise FileNotFoundError(path)


def read_installed(name: str) -> PluginContents:
    """Return the contents of an installed distribution, empty if it is not installed."""
    found = find_distribution(name)
    if found is None:
        return PluginContents()

    def text(file: str) -> str:
        path = str(found.locate_file(file))
        return read_regular(path, _MEMBER_LIMIT, HostError).decode("utf-8", "replace")

    try:
        return _of_distribution(found, list(map(str, found.files or ())), text)
    except (HostError, OSError):
        return PluginContents()


def _of_distribution(
    distribution: Any,
    names: Sequence[str],
    text: Callable[[str], str],
) -> PluginContents:
    commands: dict[Words, Definition] = {}
    problems: list[Problem] = []
    hooks: list[str] = []
    points = list(distribution.entry_points.select(group=PROJECT))
    for point in points:
        path = point.module.replace(".", "/")
        source = next((one for one in (f"{path}.py", f"{path}/__init__.py") if one in names), "")
        if source:
            implemented, declared = read_source(source, text(source).encode(), problems)
            hooks += implemented
            commands |= declared
    for name in names:
        if name.endswith("/command.json"):
            commands |= _in_tree(name, text(name), problems)
    return PluginContents(
        commands,
        tuple(dict.fromkeys(hooks)),
        tuple(one.inside(distribution.metadata["Name"]) for one in problems),
        names=tuple(point.name for point in points),
        requires=tuple(distribution.requires or ()),
        files=tuple(f"{packages_directory()}/{name}" for name in names),
    )


def _in_tree(name: str, text: str, problems: list[Problem]) -> dict[Words, Definition]:
    """Return the command of a command.json; its words are what follows a `commands` directory."""
    parts = PurePosixPath(name).parts[:-1]
    start = next((i + 1 for i, part in enumerate(parts) if part in _TREE_NAMES), len(parts) - 2)
    words = tuple(parts[max(start, 0) :])
    try:
        fields: Any = parse_json(name, text.encode())
        if not words or not all(map(is_word, words)) or not isinstance(fields, dict):
            return {}
        if not (fields.get("entrypoint") or fields.get("script")):
            return {}
        # Only the words matter here, not the place of the script.
        return {words: parse_declared(name, fields | {"entrypoint": "a:b"})}
    except HostError as error:
        problems.append(error.problem)
        return {}
