"""Write the registry: each of its two files, and the copy of its last intact state."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from builtin_plugins.io.files import atomic
from builtin_plugins.plugins_folder.registry import (
    LAST,
    Registry,
    RegistryFile,
    read_values,
)
from host import OperationError, Problem

SCHEMA = "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/registry.schema.json"


def write_registry(registry: Registry) -> None:
    """Write the registry's files that have changed; the caller holds the lock on `plugins/`.

    A registry.json that is a symbolic link stays one, so that a team can share the target. The
    local registry, if there is one, is written last: an entry that moves to the shared registry is
    then always in one of the two registries. A copy of each file is used if the file is damaged
    later. Raises OSError, and OperationError if an editor or git has changed a file since it was
    read.
    """
    has_shared = registry.shared.usable is not None
    if has_shared or registry.values["plugins"]:
        registry.shared, registry.values = _written(registry.shared, registry.values)
    if registry.local is not None:
        registry.personal, registry.local = _written(registry.personal, registry.local)


def _written(
    file: RegistryFile, values: dict[str, Any]
) -> tuple[RegistryFile, dict[str, Any]]:
    """Write `values` into a file of the registry, and into the copy of its last intact state.

    Returns the file as it is now, and its content. Nothing is written if it is there already. Not
    even a run that builds the lock may write what it read before: an edit or a `git pull` between
    the two would be lost.
    """
    complete = {"$schema": SCHEMA, **values}

    def check() -> None:
        if read_values(file.path) != file.content:
            what = "another program has changed this file meanwhile, so nothing was changed"
            raise OperationError(Problem(file.path, what, "run the command again"))

    if values != file.content:
        _write(os.path.realpath(file.path), complete, check)
        values = complete

    last = file.last
    is_last = last is not None and {"$schema": SCHEMA, **last} == complete
    if not is_last:
        directory, name = os.path.split(file.path)
        with suppress(OSError):  # only a copy
            _write(os.path.join(directory, LAST[name]), complete)
            last = complete
    return RegistryFile(file.path, values, last), values


def _write(
    path: str, values: dict[str, Any], check: Callable[[], None] | None = None
) -> None:
    text = json.dumps(values, indent=2, ensure_ascii=False)
    # A value may have a lone surrogate, which UTF-8 does not have.
    content = f"{text}\n".encode("utf-8", "backslashreplace")
    atomic.write_file(path, content, check=check)
