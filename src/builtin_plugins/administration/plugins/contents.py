"""The contents of a plugin, read from its files alone: nothing of it is imported or run."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import importlib_metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from builtin_plugins.administration.left_out import left_out
from builtin_plugins.administration.plugins.hooks_source import Words, read_source
from builtin_plugins.administration.program.environment.distributions import find_distribution
from builtin_plugins.io.archive import MOST_BYTES, MOST_FILES, Rules, extract
from builtin_plugins.plugins_folder.directory import FILE_NAME, TEXTS, Manifest, read_manifest
from host import Definition, OperationError, PluginError, Problem, Record
from host.cli.contents import contents
from host.hookspecs import PROJECT
from host.run import read_regular
from host.run.catalog import Catalog
from host.run.folders import FolderNode
from host.run.json_file import Fields, read_json
from host.run.lock import Lock, Tree

_HOOKS_LIMIT = 1 << 20  # bytes of a hooks file
_RULES = Rules(strip=False, members=MOST_FILES, size=MOST_BYTES)
_TREE_NAMES = ("commands", "cli_commands")
_NONE: Mapping[Words, Definition] = {}


class PluginContents(Record):
    """The commands of a plugin by their words, the hooks that its Python implements.

    `problems` are definitions that do not count, hooks that cannot work and misspelt keys;
    `manifest` has the plugin's own name and version, `left_out` the files that look like scripts
    and are no commands. For a distribution, `names` are those of its plugins, `requires` its
    requirements.
    """

    commands: Mapping[Words, Definition] = _NONE
    hooks: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: tuple[Problem, ...] = ()
    manifest: Manifest = Manifest()
    names: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()


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
    problems = [*misspelt_keys(root)]
    tree = Tree(manifest.tree, scripts=manifest.scripts)
    found, wrong = contents(Catalog(Lock([tree])), (), deep=True)
    problems += wrong
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
    for words in places:
        node: FolderNode | None = FolderNode(tree)
        for word in words:
            node = node and node.enter(word)
        for one in left_out(node) if node else ():
            path = os.path.relpath(one.problem.path, tree.path)
            yield Problem(path, one.problem.text)


def misspelt_keys(root: str) -> tuple[Problem, ...]:
    """Return a problem for each unknown key in the plugin.json at `root` that resembles a known."""
    path = os.path.join(root, FILE_NAME)
    if not os.path.exists(path):
        return ()
    fields = Fields(path, read_json(path))
    fields.known.update((*TEXTS, "min_version", "scripts"))
    return fields.misspelt()


def _commands(trees: Iterable[str], problems: list[Problem]) -> dict[Words, Definition]:
    """Return the commands in directories of categories; add what is wrong there to `problems`."""
    found, wrong = contents(Catalog(Lock([Tree(one) for one in trees])), (), deep=True)
    problems += wrong
    return {one.words: one.definition for one in found.commands}


def read_wheel(path: str) -> PluginContents:
    """Return the contents of the wheel at `path`, which is unpacked for that.

    Raises OperationError if it is no wheel.
    """
    called = os.path.basename(path)
    with tempfile.TemporaryDirectory() as area:
        root = os.path.join(area, "wheel")
        extract(Path(path), Path(root), _RULES, called=called)
        try:
            return _read_unpacked(root)
        except (KeyError, OSError, ValueError) as failure:
            raise OperationError(f"{called}: not a sound wheel: {failure}") from None


def _read_unpacked(root: str) -> PluginContents:
    found = list(importlib_metadata.distributions(path=[root]))
    if len(found) != 1:
        raise ValueError(f"expected one distribution, found {len(found)}")
    facts = found[0].metadata
    name, version, summary = (facts.get(one) or "" for one in ("Name", "Version", "Summary"))
    canonicalize_name(name, validate=True)
    Version(version)  # both become names of files
    for one in found[0].requires or ():
        Requirement(one)
    rows = csv.reader((found[0].read_text("RECORD") or "").splitlines())
    listed = {row[0] for row in rows if row}
    files = {str(one.relative_to(root)) for one in Path(root).rglob("*") if one.is_file()}
    if foreign := listed - files:
        raise ValueError(f"its RECORD lists {min(foreign)}, which it does not contain")
    if unlisted := {one for one in files - listed if "/RECORD." not in one}:  # a signature of it
        raise ValueError(f"its RECORD does not list {min(unlisted)}")
    return _of_distribution(found[0]).replaced(manifest=Manifest(name, version, summary))


def read_installed(name: str) -> PluginContents:
    """Return the contents of an installed distribution, empty if it is not installed."""
    found = find_distribution(name)
    try:
        return _of_distribution(found) if found else PluginContents()
    except OSError:
        return PluginContents()


def _of_distribution(found: Any) -> PluginContents:
    problems: list[Problem] = []
    hooks: dict[str, None] = {}
    declared: dict[Words, Definition] = {}
    names, root = list(map(str, found.files or ())), str(found.locate_file(""))
    points = list(found.entry_points.select(group=PROJECT))
    modules = {point.module.replace(".", "/") for point in points}
    for name in names:
        if name.removesuffix(".py").removesuffix("/__init__") in modules:
            implemented, more = read_source(name, found.locate_file(name).read_bytes(), problems)
            hooks |= dict.fromkeys(implemented)
            declared |= more
    trees = {os.path.join(root, _tree_of(one)) for one in names if one.endswith("/command.json")}
    commands = declared | _commands(sorted(trees), problems)
    return PluginContents(
        commands,
        tuple(hooks),
        tuple(_inside(found.metadata["Name"], one, root) for one in problems),
        names=tuple(point.name for point in points),
        requires=tuple(found.requires or ()),
    )


def _tree_of(name: str) -> str:
    """Return the directory of categories that a command.json is in, as far as names tell."""
    parts = name.split("/")[:-1]
    end = next((at + 1 for at, part in enumerate(parts) if part in _TREE_NAMES), len(parts) - 2)
    return "/".join(parts[: max(end, 0)])


def _inside(whole: str, problem: Problem, root: str) -> Problem:
    path, text = problem.path.removeprefix(f"{root}/"), problem.text.replace(f"{root}/", "")
    return problem.replaced(path, text).inside(whole)
