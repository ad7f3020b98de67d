"""Write the registry: each of its two files, and the copy of its last intact state."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from builtin_plugins.library.files import atomic
from builtin_plugins.library.files.undo import signals_blocked
from builtin_plugins.plugins_folder.registry import (
    LAST,
    Registry,
    RegistryFile,
    read_values,
)
from host import OperationError, Problem

SCHEMA = "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/registry.schema.json"


def write_registry(
    registry: Registry, on_replaced: Callable[[], object] = lambda: None
) -> None:
    """Write the registry's files that have changed; the caller holds the lock on `plugins/`.

    A registry.json that is a symbolic link stays one, so that a team can share the target. A copy
    of each file is used if the file is damaged later. Raises OSError, and OperationError if an
    editor or git has changed a file since it was read; then neither file has changed.

    `on_replaced` is called as soon as a file has been replaced. No signal interrupts the process
    between the two, and an error after them leaves the new content in place.
    """
    written: list[tuple[RegistryFile, dict[str, Any]]] = []
    has_shared = registry.shared.usable is not None
    if has_shared or registry.values["plugins"]:
        complete = _complete(registry.shared, registry.values)
        written.append((registry.shared, complete))
    # The local registry comes last. If the process is killed between the two, an entry that moves
    # to the shared registry is in both. If the local entry is another version, it is complete and
    # stays the user's version; the repeated command removes it.
    if registry.local is not None:
        complete = _complete(registry.personal, registry.local)
        written.append((registry.personal, complete))

    _replace(written, on_replaced)

    for file, values in written:
        last = _copied(file, values)
        replaced = RegistryFile(file.path, values, last)
        if file is registry.shared:
            registry.shared = replaced
            registry.values = values
        else:
            registry.personal = replaced
            registry.local = values


def _complete(file: RegistryFile, values: dict[str, Any]) -> dict[str, Any]:
    """Return the content for a file of the registry; an unchanged file keeps its content."""
    if values == file.content:
        return values
    return {"$schema": SCHEMA, **values}


def _replace(
    written: list[tuple[RegistryFile, dict[str, Any]]],
    on_replaced: Callable[[], object],
) -> None:
    """Replace the files that have new values, after all of them have been stored and checked."""
    changed = []
    contents = {}
    for file, values in written:
        # Not even a run that builds the lock may write what it read before: an edit or a `git
        # pull` between the two would be lost.
        if values != file.content:
            changed.append(file)
            path = os.path.realpath(file.path)
            contents[path] = _text_of(values)

    # The checks come at the last moment, because the disk may have taken long to store the files.
    # Then only renames are left.
    with atomic.staged_files(contents) as replace, signals_blocked():
        for file in changed:
            if read_values(file.path) != file.content:
                what = "another program has changed this file meanwhile, so nothing was changed"
                raise OperationError(Problem(file.path, what, "run the command again"))
        for path in contents:
            replace(path)
            on_replaced()


def _copied(file: RegistryFile, values: dict[str, Any]) -> dict[str, Any] | None:
    """Copy the new content of a file, if it is not yet the copy of its last intact state.

    Returns the content of the copy.
    """
    complete = {"$schema": SCHEMA, **values}
    if file.last is not None:
        last = {"$schema": SCHEMA, **file.last}
        if last == complete:
            return file.last

    directory, name = os.path.split(file.path)
    with suppress(OSError):  # only a copy
        copy = os.path.join(directory, LAST[name])
        atomic.write_file(copy, _text_of(complete))
        return complete
    return file.last


def _text_of(values: dict[str, Any]) -> bytes:
    text = json.dumps(values, indent=2, ensure_ascii=False)
    # A value may have a lone surrogate, which UTF-8 does not have.
    return f"{text}\n".encode("utf-8", "backslashreplace")
