"""The kept versions of plugins: `.versions/<name>/<version>/tree`, each with a record beside it."""

from __future__ import annotations

import os

from builtin_plugins.plugins_folder.directory import TREE, VERSIONS, linked_version_dir
from builtin_plugins.plugins_folder.registry import Entry, read_entry
from host import HostError
from host.run.json_file import read_json

RECORD = "entry.json"  # the entry, in case the registry gets lost


def kept_tree(plugins_dir: str, entry: Entry) -> str:
    """Return where the files of a kept version are; in a link, `plugins_dir` is ""."""
    return os.path.join(plugins_dir, VERSIONS, entry.name, entry.version_dir, TREE)


def recorded(plugins_dir: str, name: str) -> Entry | None:
    """Return the record of the current version of a plugin, None if it is not a kept one."""
    version_dir = linked_version_dir(plugins_dir, name)
    return None if version_dir is None else record(plugins_dir, name, version_dir)


def record(plugins_dir: str, name: str, version_dir: str) -> Entry | None:
    """Return the record of a kept version: the proof that this program made its directory."""
    try:
        entry = read_entry(
            read_json(os.path.join(plugins_dir, VERSIONS, name, version_dir, RECORD))
        )
    except (HostError, OSError, AttributeError):
        return None
    return entry if (entry.name, entry.version_dir) == (name, version_dir) else None
