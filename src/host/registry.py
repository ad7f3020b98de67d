"""plugins/registry.json: which plugins there are, in which order, and which are on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from host.definition import read_json
from host.errors import HostError, PluginError

FILE_NAME = "registry.json"
SUPPORTED = 1  # the major version of the format that this program reads and writes


@dataclass(frozen=True, slots=True)
class Registered:
    """One entry of the registry, as far as running its commands needs it."""

    name: str
    kind: str
    enabled: bool
    dev: bool


def registry_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, FILE_NAME)


def read_registered(plugins_dir: str) -> list[Registered]:
    """Return the entries in order, [] when there is no registry yet.

    Raises PluginError when it is unreadable or of a newer format.
    """
    path = registry_path(plugins_dir)
    try:
        values: Any = read_json(path)
    except FileNotFoundError:
        return []
    except HostError as error:
        raise PluginError(str(error)) from None
    version = values.get("version", "") if isinstance(values, dict) else None
    if not isinstance(version, str) or not version.split(".")[0].isdigit():
        raise PluginError(f'{path}: "version": expected a string such as "1.0.0"')
    if int(version.split(".")[0]) > SUPPORTED:
        raise PluginError(f"{path}: format {version} is newer than this program; update it")
    entries = values.get("plugins")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PluginError(f'{path}: "plugins": expected an array of objects')
    return [
        Registered(
            name=entry["name"],
            kind=str(entry.get("kind", "")),
            enabled=entry.get("enabled") is not False,
            dev=entry.get("dev") is True,
        )
        for entry in entries
        if isinstance(entry.get("name"), str)
    ]
