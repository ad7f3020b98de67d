"""The text of a directory plugin's plugin.json → a checked object."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from host.errors import DefinitionError, PluginError
from host.strict_json import read_json

FILE_NAME = "plugin.json"
_KEYS = ("name", "version", "description", "directory", "hooks")


class Manifest(NamedTuple):
    """What plugin.json says, "" where it says nothing.

    `directory` is the subdirectory that holds the categories, `hooks` a Python file
    with hookimpls; both relative to the plugin.
    """

    name: str = ""
    version: str = ""
    description: str = ""
    directory: str = ""
    hooks: str = ""


def read_manifest(root: str) -> Manifest | None:
    """Return the manifest of the plugin at `root`, None where there is none.

    Raises DefinitionError naming file and key.
    """
    path = os.path.join(root, FILE_NAME)
    try:
        values: Any = read_json(path)
    except FileNotFoundError:
        return None
    if not isinstance(values, dict):
        raise DefinitionError(f"{path}: expected an object")
    found = {}
    for key in _KEYS:
        value = values.get(key, "")
        if type(value) is not str:
            raise DefinitionError(f'{path}: "{key}": expected a string')
        if "\0" in value or any("\ud800" <= one <= "\udfff" for one in value):
            raise DefinitionError(f'{path}: "{key}": holds a character that is not allowed')
        found[key] = value
    return Manifest(**found)


def inside(root: str, relative: str, what: str) -> str:
    """Return the path of `relative` in the plugin at `root`.

    Raises PluginError when it leaves the plugin, also by a link.
    """
    path = os.path.join(root, relative)
    top = os.path.realpath(root)
    real = os.path.realpath(path)
    if relative.startswith("/") or (real != top and not real.startswith(top + os.sep)):
        raise PluginError(f'{root}: "{what}": {relative} leaves the plugin')
    return path
