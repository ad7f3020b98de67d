"""The contents of a plugin, read from its files alone: nothing of it is imported or run."""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

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
from builtin_plugins.plugins_folder.directory import FILE_NAME, TEXTS, Manifest, read_manifest
from host import Definition, HostError, OperationError, PluginError, Problem, Record, is_word
from host.cli.contents import contents
from host.hookspecs import PROJECT
from host.run import read_regular
from host.run.catalog import Catalog
from host.run.command import parse_declared
from host.run.json_file import Fields, parse_json, read_json
from host.run.lock import Lock, Tree

_HOOKS_LIMIT = 1 << 20  # bytes of a hooks file
_MEMBER_LIMIT = 4 << 20  # bytes of a file that is read in a wheel
_READ = ("METADATA", "RECORD", "entry_points.txt", "/command.json", ".py")
_TREE_NAMES = ("commands", "cli_commands")
_SCRIPTS = ("console_scripts", "gui_scripts")

_NONE: Mapping[Words, Definition] = {}


class PluginContents(Record):
    """The commands of a plugin by their words, the hooks that its Python implements.

    `problems` are definitions that do not count, hooks that cannot work and misspelt keys;
    `manifest` has the plugin's own name and version. For a distribution, `names` are those of
    its plugins, `requires` its requirements, and `files` their paths in the environment.
    """

    commands: Mapping[Words, Definition] = _NONE
    hooks: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    manifest: Manifest = Manifest()
    names: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read_contents(root: str) -> PluginContents:
    """Return the contents of the directory plugin at `root`.

    Raises PluginError or DefinitionError when its plugin.json is wrong.
    """
    manifest = read_manifest(root)
    if not os.path.isdir(manifest.tree):
        what = f"there is no {manifest.tree}"
        raise PluginError(Problem(f"{root}/plugin.json", what, key="directory"))
    found, wrong = contents(Catalog(Lock([Tree(manifest.tree)])), (), deep=True)
    problems = [*misspelt_keys(root), *wrong]
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
    return PluginContents(commands, hooks, tuple(problems), manifest)


def misspelt_keys(root: str) -> tuple[Problem, ...]:
    """Return a problem for each unknown key in the plugin.json at `root` that resembles a known."""
    path = os.path.join(root, FILE_NAME)
    if not os.path.exists(path):
        return ()
    fields = Fields(path, read_json(path))
    fields.known.update(TEXTS)
    return fields.misspelt()


def read_wheel(path: str) -> PluginContents:
    """Return the contents of the wheel at `path`; raises OperationError if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except (zipfile.BadZipFile, KeyError, OSError, ValueError, NotImplementedError) as failure:
        raise OperationError(f"{PurePosixPath(path).name}: not a sound wheel: {failure}") from None


def _read(archive: zipfile.ZipFile) -> PluginContents:
    names = [one for one in archive.namelist() if not one.endswith("/")]
    for one in archive.infolist():
        if one.file_size > _MEMBER_LIMIT and one.filename.endswith(_READ):
            raise ValueError(f"{one.filename} is of unusual size")
    tops = [one.removesuffix("/METADATA") for one in names if one.endswith(".dist-info/METADATA")]
    infos = [one for one in tops if "/" not in one]  # others are packed into the wheel
    if len(infos) != 1:
        raise ValueError(f"expected one METADATA, found {len(infos)}")
    place: Any = zipfile.Path(archive, f"{infos[0]}/")
    distribution = importlib_metadata.PathDistribution(place)
    facts = distribution.metadata
    name, version, summary = (facts.get(one) or "" for one in ("Name", "Version", "Summary"))
    canonicalize_name(name, validate=True)
    Version(version)  # both become names of files
    for requirement in distribution.requires or ():
        Requirement(requirement)
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    if foreign := {row[0] for row in rows if row}.difference(names):
        raise ValueError(f"its RECORD lists {min(foreign)}, which it does not contain")
    points = distribution.entry_points
    scripts = [one.name for group in _SCRIPTS for one in points.select(group=group)]
    files = wheel_paths(names, scripts, packages_directory(), name)
    found = _of_distribution(distribution, names, files)
    return found.replaced(manifest=Manifest(name, version, summary))


def read_installed(name: str) -> PluginContents:
    """Return the contents of an installed distribution, empty if it is not installed."""
    found = find_distribution(name)
    if found is None:
        return PluginContents()
    names = [str(one) for one in found.files or ()]
    try:
        return _of_distribution(found, names, (f"{packages_directory()}/{one}" for one in names))
    except OSError:
        return PluginContents()


def _of_distribution(
    distribution: Any, names: Sequence[str], files: Iterable[str]
) -> PluginContents:
    commands: dict[Words, Definition] = {}
    problems: list[Problem] = []
    hooks: dict[str, None] = {}
    points = list(distribution.entry_points.select(group=PROJECT))
    modules = {point.module.replace(".", "/") for point in points}
    for name in names:
        if name.removesuffix(".py").removesuffix("/__init__") in modules:
            implemented, declared = read_source(name, _content(distribution, name), problems)
            hooks |= dict.fromkeys(implemented)
            commands |= declared
        elif name.endswith("/command.json"):
            commands |= _in_tree(name, _content(distribution, name), problems)
    return PluginContents(
        commands,
        tuple(hooks),
        tuple(one.inside(distribution.metadata["Name"]) for one in problems),
        names=tuple(point.name for point in points),
        requires=tuple(distribution.requires or ()),
        files=tuple(files),
    )


def _content(distribution: Any, name: str) -> bytes:
    content: bytes = distribution.locate_file(name).read_bytes()
    return content


def _in_tree(name: str, content: bytes, problems: list[Problem]) -> dict[Words, Definition]:
    """Return the command of a command.json; its words are what follows a `commands` directory."""
    parts = PurePosixPath(name).parts[:-1]
    start = next((i + 1 for i, part in enumerate(parts) if part in _TREE_NAMES), len(parts) - 2)
    words = tuple(parts[max(start, 0) :])
    try:
        fields: Any = parse_json(name, content)
        if not words or not all(map(is_word, words)) or not isinstance(fields, dict):
            return {}
        if not (fields.get("entrypoint") or fields.get("script")):
            return {}
        # Only the words matter here, not the place of the script.
        return {words: parse_declared(name, fields | {"entrypoint": "a:b"})}
    except HostError as error:
        problems.append(error.problem)
        return {}
