"""The contents of a plugin, read from its files only: none of its code is imported or run."""

from __future__ import annotations

import csv
import os
import re
import shlex
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import importlib_metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from builtin_plugins.administration.left_out import left_out
from builtin_plugins.administration.plugins.hooks_source import Words, read_source
from builtin_plugins.administration.program.environment.distributions import find_distribution
from builtin_plugins.io.archive import AS_STORED, extract
from builtin_plugins.plugins_folder.directory import FILE_NAME, TEXTS, Manifest, read_manifest
from builtin_plugins.plugins_folder.registry import Entry
from host import Definition, OperationError, PluginError, Problem, Record
from host.cli.contents import contents
from host.hookspecs import PROJECT
from host.run import read_regular
from host.run.catalog import Catalog
from host.run.folders import FolderNode
from host.run.json_file import Fields, read_json
from host.run.lock import Lock, Tree

_HOOKS_LIMIT = 1 << 20  # bytes of a hooks file
_PACKAGE_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_PACKAGE_NAME = re.compile(
    r"(?:^\[(?:project|tool\.poetry|metadata)\][^\[]*?^|\bsetup\s*\([^\[]*?\b)"
    r"name\s*=\s*[\"']?([A-Za-z0-9._-]+)",
    re.MULTILINE,
)
_TREE = re.compile(r"((?:.+?/)?commands)/.+/command\.json\Z")  # in a distribution
_METADATA = ("Name", "Version", "Summary")
_NONE: Mapping[Words, Definition] = {}


class PluginContents(Record):
    """The commands of a plugin by their words, and the hooks that its Python code implements.

    `problems` are ignored definitions, hooks that cannot work and misspelt keys; `manifest` has
    the plugin's own name and version, `left_out` the files that look like scripts but are not
    commands. For a distribution, `names` are those of its plugins, `requires` its requirements.
    """

    commands: Mapping[Words, Definition] = _NONE
    hooks: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    left_out: tuple[Problem, ...] = ()
    manifest: Manifest = Manifest()
    names: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()


def read_contents(root: str, scripts: Mapping[str, str] | None = None) -> PluginContents:
    """Return the contents of the directory plugin at `root`; `scripts` is that of its entry.

    Raises PluginError or DefinitionError if its plugin.json is invalid.
    """
    manifest = read_manifest(root)
    if scripts is not None:
        manifest = manifest.replaced(scripts=scripts)
    if not os.path.isdir(manifest.tree):
        what = f"there is no {manifest.tree}"
        raise PluginError(Problem(f"{root}/plugin.json", what, key="directory"))
    tree = Tree(manifest.tree, scripts=manifest.scripts)
    found = contents(Catalog(Lock([tree])), (), deep=True)
    problems = [*misspelt_keys(root), *found.problems]
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
    ignored: list[Problem] = []
    if tree.scripts is not None:
        for words in ((), *(one.words for one in found.categories)):
            node: FolderNode | None = FolderNode(tree)
            for word in words:
                node = node and node.enter(word)
            for one in left_out(node) if node else ():
                path = os.path.relpath(one.problem.path, tree.path)
                ignored.append(Problem(path, one.problem.text))
    return PluginContents(commands, hooks, tuple(problems), tuple(ignored), manifest)


def misspelt_keys(root: str) -> tuple[Problem, ...]:
    """Return a problem for each unknown key in plugin.json that resembles a known one."""
    path = os.path.join(root, FILE_NAME)
    if not os.path.exists(path):
        return ()
    fields = Fields(path, read_json(path))
    fields.known.update((*TEXTS, "min_version", "scripts"))
    return fields.misspelt()


def read_wheel(path: str) -> PluginContents:
    """Return the contents of the wheel at `path`, which is unpacked to read it.

    Raises OperationError if it is not a valid wheel.
    """
    called = os.path.basename(path)
    with tempfile.TemporaryDirectory() as area:
        root = os.path.join(area, "wheel")
        extract(Path(path), Path(root), called, AS_STORED)
        try:
            [found] = importlib_metadata.distributions(path=[root])
            wheel = _of_distribution(found)
            canonicalize_name(wheel.manifest.name, validate=True)
            Version(wheel.manifest.version)  # both become file names
            _check_record(found, root)
        except (KeyError, OSError, ValueError) as failure:
            raise OperationError(f"{called}: not a valid wheel: {failure}") from None
        return wheel


def _check_record(found: Any, root: str) -> None:
    """Raise ValueError if a wheel's RECORD does not list exactly its files."""
    rows = csv.reader((found.read_text("RECORD") or "").splitlines())
    listed = {row[0] for row in rows if row}
    files = {str(one.relative_to(root)) for one in Path(root).rglob("*") if one.is_file()}
    if foreign := listed - files:
        raise ValueError(f"its RECORD lists {min(foreign)}, which the wheel does not contain")
    if unlisted := {one for one in files - listed if "/RECORD." not in one}:  # signatures
        raise ValueError(f"its RECORD does not list {min(unlisted)}")


def read_installed(name: str) -> PluginContents:
    """Return the contents of an installed distribution, empty if they cannot be read."""
    found = find_distribution(name)
    try:
        return _of_distribution(found) if found else PluginContents()
    except (OSError, ValueError):
        return PluginContents()


def _of_distribution(found: Any) -> PluginContents:
    """Return the contents of an installed or unpacked distribution; raises ValueError, OSError."""
    requires = tuple(str(Requirement(one)) for one in found.requires or ())
    names, root = list(map(str, found.files or ())), str(found.locate_file(""))
    trees = {match[1] for one in names if (match := _TREE.match(one))}
    catalog = Catalog(Lock([Tree(os.path.join(root, one)) for one in sorted(trees)]))
    listed = contents(catalog, (), deep=True)
    wrong = [*listed.problems]
    commands = {one.words: one.definition for one in listed.commands}
    points = list(found.entry_points.select(group=PROJECT))
    modules = {point.module.replace(".", "/") for point in points}
    hooks: dict[str, None] = {}
    for one in names:
        if one.removesuffix(".py").removesuffix("/__init__") in modules:
            implemented, declared = read_source(one, found.locate_file(one).read_bytes(), wrong)
            hooks |= dict.fromkeys(implemented)
            commands = declared | commands
    name, version, summary = (found.metadata.get(one) or "" for one in _METADATA)
    return PluginContents(
        commands,
        tuple(hooks),
        tuple(placed(one, root, name) for one in wrong),
        manifest=Manifest(name, version, summary),
        names=tuple(point.name for point in points),
        requires=requires,
    )


def placed(problem: Problem, root: str, called: str) -> Problem:
    """Return a problem with its path in `root` replaced by one inside `called`."""
    path = "" if problem.path == root else problem.path.removeprefix(f"{root}/")
    return problem.replaced(path, problem.text.replace(f"{root}/", "")).inside(called)


def is_package(root: str) -> bool:
    """Return whether pip could install the directory `root`."""
    return any(os.path.isfile(os.path.join(root, one)) for one in ("pyproject.toml", "setup.py"))


def refuse_package(
    entry: Entry, root: str, commands: Iterable[Words], program: str, address: str
) -> None:
    """Raise PluginError if the directory `root` is a Python package, not a directory plugin.

    `address` is its repository in pip's form, "" for none.

    A directory plugin has a plugin.json, or commands outside of Python packages; its
    pyproject.toml may be there only for the settings of a tool. A directory that declares an entry
    point for plugins is always a package.
    """
    if not is_package(root) or os.path.lexists(os.path.join(root, FILE_NAME)):
        return
    text = ""
    for name in _PACKAGE_FILES:
        with suppress(OSError):
            text += Path(root, name).read_text("utf-8", "replace")
    if PROJECT not in text and not all(_is_in_package(root, words) for words in commands):
        return
    found = _PACKAGE_NAME.search(text)
    name, add = canonicalize_name(found[1]) if found else entry.name, f"{program} self plugin add"
    ways = f"from an index: {add} pip:{name}; or build a wheel and add that"
    if address:
        ways = f"add it with: {add} {shlex.quote(f'pip:{name} @ git+{address}')}"
    raise PluginError(f"{entry.source}: is a Python package, not a directory of commands", ways)


def _is_in_package(root: str, words: Words) -> bool:
    above = (os.path.join(root, *words[:end]) for end in range(1, len(words)))
    return any(os.path.isfile(os.path.join(one, "__init__.py")) for one in above)
