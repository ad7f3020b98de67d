"""What a wheel holds, told by reading the file: nothing of it is imported or run."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any, NoReturn

import importlib_metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from builtin_plugins.plugin_changes.contents import PluginContents, Words, read_source
from builtin_plugins.venv.distributions import find_distribution
from host import Definition, HostError, OperationError
from host.hookspecs import PROJECT
from host.run.definition import is_word, parse_declared
from host.run.json_files import parse_json
from host.run.paths import read_regular

_FILE_NAME = re.compile(r"[A-Za-z0-9._+]+-[A-Za-z0-9._+!]+(-[A-Za-z0-9._]+){3,4}\.whl\Z")
_MEMBER_LIMIT = 4 << 20
_TREE_NAMES = ("commands", "cli_commands")


@dataclass(frozen=True)
class Wheel:
    """A wheel's name, version, summary and requirements, and its contents."""

    name: str
    version: str
    summary: str
    requires: Sequence[Requirement]
    contents: PluginContents


def is_wheel_name(name: str) -> bool:
    """Tell whether `name` can be a wheel's file name."""
    return bool(_FILE_NAME.match(name))


def read_wheel(path: str) -> Wheel:
    """Return what is in the wheel at `path`; raises OperationError when it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except (zipfile.BadZipFile, KeyError, OSError, ValueError, NotImplementedError) as failure:
        raise OperationError(f"{PurePosixPath(path).name}: not a sound wheel: {failure}") from None


class _Packed(importlib_metadata.Distribution):
    """A distribution that is still in its wheel; each file of it is bounded."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = set(archive.namelist())
        tops = [one.partition("/") for one in self._names if one.endswith(".dist-info/METADATA")]
        found = [top for top, _, name in tops if name == "METADATA"]  # not what it has packed in
        if len(found) != 1:
            raise ValueError("it has no METADATA" if not found else "it is several distributions")
        self._info = found[0]

    def read_text(self, filename: Any) -> str | None:
        name = f"{self._info}/{filename}"
        return _text(self._archive, name) if name in self._names else None

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
        return _contents(found, list(map(str, found.files or ())), text)
    except (HostError, OSError):
        return PluginContents()


def _read(archive: zipfile.ZipFile) -> Wheel:
    packed = _Packed(archive)
    said = packed.metadata
    found = _contents(packed, archive.namelist(), partial(_text, archive))
    name, version, summary = (said.get(one) or "" for one in ("Name", "Version", "Summary"))
    canonicalize_name(name, validate=True)
    Version(version)  # both become names of files
    requires = list(map(Requirement, packed.requires or ()))
    return Wheel(name, version, summary, requires, found)


def _contents(
    distribution: Any,
    names: Sequence[str],
    text: Callable[[str], str],
) -> PluginContents:
    commands: dict[Words, Definition] = {}
    problems: list[str] = []
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
    problems = [f"{distribution.metadata['Name']}: {one}" for one in problems]
    return PluginContents(
        commands,
        tuple(dict.fromkeys(hooks)),
        tuple(problems),
        names=tuple(point.name for point in points),
    )


def _text(archive: zipfile.ZipFile, name: str) -> str:
    if archive.getinfo(name).file_size > _MEMBER_LIMIT:
        raise ValueError(f"{name} is of unusual size")
    return archive.read(name).decode("utf-8", "replace")


def _in_tree(name: str, text: str, problems: list[str]) -> dict[Words, Definition]:
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
        problems.append(str(error))
        return {}
