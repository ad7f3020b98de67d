"""Write the registry: those of its two files that have changed."""

import json
import os
from collections.abc import Callable
from typing import Any

from builtin_plugins.library.files import atomic
from builtin_plugins.library.files.undo import signals_blocked
from builtin_plugins.registry.registry import Registry, RegistryFile
from host import OperationError, Problem

SCHEMA = "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/registry.schema.json"


def write_registry(
    registry: Registry, area: str, on_replaced: Callable[[], object] = lambda: None
) -> None:
    """Write the registry's files that have changed; the caller holds the lock on `plugins/`.

    The new contents are first stored in the directory `area`. A registry.json that is a symbolic
    link stays one, so that a team can share the target; its new content is stored beside the
    target. Raises OSError, and OperationError if an editor or git has changed a file since it was
    read; then neither file has changed.

    `on_replaced` is called as soon as a file has been replaced. No signal interrupts the process
    between the two, and an error after them leaves the new content in place.
    """
    changed: list[tuple[RegistryFile, dict[str, Any] | None]] = []
    if _has_changed(registry.shared, registry.values):
        changed.append((registry.shared, registry.values))
    # The local file comes last. If the process is killed between the two, an entry that moves to
    # the shared registry is in both, and the repeated command removes it from this one.
    if _has_changed(registry.personal, registry.local):
        changed.append((registry.personal, registry.local))

    contents = {}
    for file, values in changed:
        contents[os.path.realpath(file.path)] = _text_of(values)
        if os.path.islink(file.path):
            area = ""
    # The checks come at the last moment, because the disk may have taken long to store the files.
    # Then only renames are left.
    with atomic.staged_files(contents, area=area) as replace, signals_blocked():
        for file, _ in changed:
            if not file.is_unchanged:
                what = "another program has changed this file meanwhile, so nothing was changed"
                raise OperationError(Problem(file.path, what, "run the command again"))
        for path in contents:
            replace(path)
            on_replaced()


def _has_changed(file: RegistryFile, values: dict[str, Any] | None) -> bool:
    if values is None or values == file.content:
        return False
    return file.content is not None or bool(values["plugins"])


def _text_of(values: dict[str, Any] | None) -> bytes:
    text = json.dumps(
        {"$schema": SCHEMA, **(values or {})}, indent=2, ensure_ascii=False
    )
    # A value may have a lone surrogate, which UTF-8 does not have.
    return f"{text}\n".encode("utf-8", "backslashreplace")
