"""What a plugin would add, told from its files alone: nothing of it is imported or run."""

from __future__ import annotations

import ast
import csv
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, NoReturn

import importlib_metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from builtin_plugins.administration.program.environment.distributions import (
    find_distribution,
    packages_directory,
)
from builtin_plugins.administration.program.environment.owned_files import wheel_paths
from builtin_plugins.plugins_folder.directory import Manifest, read_manifest
from host import Definition, HostError, OperationError, PluginError, Problem, Record, is_word
from host.cli.contents import contents
from host.hookspecs import HOOKS, PROJECT
from host.run import read_regular
from host.run.catalog import Catalog
from host.run.command import is_reference, parse_declared
from host.run.json_file import parse_json
from host.run.lock import Lock, Tree

_HOOKS_LIMIT = 1 << 20  # bytes of a hooks file
_MEMBER_LIMIT = 4 << 20  # bytes of a file of a distribution
_TREE_NAMES = ("commands", "cli_commands")
_SCRIPTS = ("console_scripts", "gui_scripts")

Words = tuple[str, ...]

_NONE: Mapping[Words, Definition] = {}


class PluginContents(Record):
    """The commands of a plugin by their words, the hooks that its Python implements.

    `problems` are definitions that do not count, hooks that cannot work and misspelt keys;
    `manifest` is what it says of itself. `names` are those of a distribution's plugins,
    `requires` is what that needs, `files` is where its files are in the environment.
    """

    commands: Mapping[Words, Definition] = _NONE
    hooks: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    manifest: Manifest = Manifest()
    names: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read_contents(root: str) -> PluginContents:
    """Return what the directory plugin at `root` holds.

    Raises PluginError or DefinitionError when its plugin.json is wrong.
    """
    manifest = read_manifest(root)
    if not os.path.isdir(manifest.tree):
        what = f"there is no {manifest.tree}"
        raise PluginError(Problem(f"{root}/plugin.json", what, key="directory"))
    found, wrong = contents(Catalog(Lock([Tree(manifest.tree)])), (), deep=True)
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
    return PluginContents(commands, hooks, tuple(problems), manifest)


def read_wheel(path: str) -> PluginContents:
    """Return what is in the wheel at `path`; raises OperationError when it is none."""
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
    """Return what the files of an installed distribution speak of; nothing for none."""
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
        # Only what it is called matters here; where its script lies does not.
        return {words: parse_declared(name, fields | {"entrypoint": "a:b"})}
    except HostError as error:
        problems.append(error.problem)
        return {}


def read_source(
    name: str, source: bytes, problems: list[Problem]
) -> tuple[tuple[str, ...], dict[Words, Definition]]:
    """Return the hooks that Python source implements, and the commands with words written out.

    It is read, never run; what is wrong with it is added to `problems`.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as failure:
        line = getattr(failure, "lineno", None) or 1
        what = f"not Python: {getattr(failure, 'msg', failure)}"
        problems.append(Problem(name, what, line=line))
        return (), {}
    aliases = [one for one in ast.walk(module) if isinstance(one, ast.alias)]
    markers = {one.asname or one.name for one in aliases if one.name == "hookimpl"}
    markers.add("hookimpl")
    marked: set[str] = set()
    for one in ast.walk(module):
        if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for decorator in one.decorator_list:
            if _named(getattr(decorator, "func", decorator)) not in markers:
                continue
            hook = _spec_name(decorator) or one.name
            marked.add(hook)
            if hook not in HOOKS:
                what, remedy = f"there is no hook {hook}", f"there are {', '.join(HOOKS)}"
                problems.append(Problem(name, what, remedy, line=one.lineno))
            elif isinstance(one, ast.AsyncFunctionDef):
                what, remedy = f"{hook}: is async def", "a hook is a plain function"
                problems.append(Problem(name, what, remedy, line=one.lineno))
    brought = {"*", *HOOKS} & {one.asname or one.name for one in aliases}
    used = {*markers, "HookimplMarker"} & {*map(_named, ast.walk(module))}
    if not (marked or brought or used):
        what = "no function is marked with @hookimpl, so nothing is called"
        problems.append(Problem(name, what, line=1))
    return tuple(one for one in HOOKS if one in marked), dict(_declared(name, module))


def _spec_name(decorator: ast.expr) -> str:
    """Return the hook that a marker names itself, as in `@hookimpl(specname="…")`."""
    for one in decorator.keywords if isinstance(decorator, ast.Call) else ():
        if one.arg == "specname" and isinstance(one.value, ast.Constant):
            return str(one.value.value or "")
    return ""


def references(source: bytes) -> Iterator[tuple[int, str]]:
    """Yield each "module:attr" that hooks write out for a provider or a command, with its line."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for one in ast.walk(module):
        values: list[ast.expr | None] = []
        if isinstance(one, ast.Call) and _named(one.func) == "EnvSource":
            values = [*one.args[3:4], *(key.value for key in one.keywords if key.arg == "provider")]
        elif isinstance(one, ast.Call) and _named(one.func) == "CommandDeclaration":
            given = [*one.args[1:2], *(key.value for key in one.keywords)]
            fields = [part for part in given if isinstance(part, ast.Dict)]
            values = [
                value
                for part in fields
                for key, value in zip(part.keys, part.values, strict=True)
                if isinstance(key, ast.Constant) and key.value == "entrypoint"
            ]
        for value in values:
            if isinstance(value, ast.Constant) and is_reference(str(value.value)):
                yield value.lineno, str(value.value)


def _declared(name: str, module: ast.Module) -> Iterator[tuple[Words, Definition]]:
    for call in ast.walk(module):
        if not isinstance(call, ast.Call) or _named(call.func) != "CommandDeclaration":
            continue
        given = dict(zip(("words", "definition"), call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg}
        with suppress(LookupError, ValueError, TypeError, HostError, SyntaxError):
            words, fields = (ast.literal_eval(given[key]) for key in ("words", "definition"))
            yield tuple(words), parse_declared(name, fields)


def _named(one: ast.AST) -> str:
    """Return the last name of `name` or `package.name`."""
    if isinstance(one, ast.Attribute):
        return one.attr
    return one.id if isinstance(one, ast.Name) else ""
