"""plugins/registry.json written: by one at a time, beside a copy for the day it is lost."""

from __future__ import annotations

import json
import os
from contextlib import AbstractContextManager, suppress

from builtin_plugins.io.files.atomic import write_file
from builtin_plugins.io.files.flock import PATIENCE, Waiting, locked
from builtin_plugins.plugins_folder.registry import LAST, SCHEMA, Registry
from host import HostError
from host.run.json_file import read_json

_LOCK_FILE = ".registry.lock"


def exclusive(
    plugins_dir: str, waiting: Waiting | None = None, *, patient: bool = True
) -> AbstractContextManager[int]:
    """Hold the lock on changes of plugins; `waiting` gets a line if another process has it.

    Raises OperationError if that process does not finish.
    """
    path = os.path.join(plugins_dir, _LOCK_FILE)
    return locked(path, PATIENCE if patient else 0.0, waiting, create=True)


def write_registry(path: str, registry: Registry) -> None:
    """Write the registry to its file; the caller holds `exclusive`.

    A link is followed, so that a team's file can stay where it is shared. A copy beside
    it counts if somebody damages the file. Raises OSError.
    """
    if not registry.exists and not registry.values["plugins"]:
        return
    if not _says(path, registry):
        registry.values = {"$schema": SCHEMA, **registry.values}
        write_file(os.path.realpath(path), _text(registry))
    plugins_dir = os.path.dirname(path)
    if not is_kept(plugins_dir, registry):
        with suppress(OSError):  # it is for the day when the other one is damaged
            write_file(os.path.join(plugins_dir, LAST), _text(registry))


def is_kept(plugins_dir: str, registry: Registry) -> bool:
    """Tell whether the copy of the last intact state is one of `registry`."""
    return _says(os.path.join(plugins_dir, LAST), registry)


def _says(path: str, registry: Registry) -> bool:
    try:
        return bool(read_json(path) == registry.values)
    except (HostError, OSError):
        return False


def _text(registry: Registry) -> bytes:
    """Return the content of the file; a lone surrogate stays an escape."""
    text = json.dumps(registry.values, indent=2, ensure_ascii=False)
    return f"{text}\n".encode("utf-8", "backslashreplace")
