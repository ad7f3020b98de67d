"""A plugin removed: set aside in `.removed` until the registry has forgotten it."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress

from builtin_plugins.administration.plugins.registry_file import write_registry
from builtin_plugins.io.files.atomic import make_directory
from builtin_plugins.plugins_folder.directory import names_in
from builtin_plugins.plugins_folder.registry import Registry, registry_path
from host.run.importing import complete_import_path

REMOVED = ".removed"
_PENDING = ".pending"  # ends the name of a directory while its removal is under way
_UNINSTALLED = "pip:"  # the target of a link of that name for a distribution


def now() -> str:
    """Return the time as the registry has it, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def set_aside(plugins_dir: str, name: str, undo: ExitStack) -> str:
    """Move the files of a plugin away until the registry has forgotten it.

    A link is removed then; a directory, which may be the only copy, is kept. Returns its path,
    "" for a link.
    """
    place = os.path.join(plugins_dir, name)
    if not os.path.lexists(place):
        return ""
    kept = _free_name(plugins_dir, name)
    is_link = os.path.islink(place)
    os.rename(place, kept + _PENDING)
    undo.callback(os.rename, kept + _PENDING, place)
    return "" if is_link else kept


def mark_uninstalled(plugins_dir: str, name: str, undo: ExitStack) -> None:
    """Record that a distribution is being uninstalled, until the registry has forgotten it."""
    mark = _free_name(plugins_dir, name) + _PENDING
    os.symlink(_UNINSTALLED, mark)
    undo.callback(os.unlink, mark)


def _free_name(plugins_dir: str, name: str) -> str:
    """Return an unused path for the files of a removed plugin, in an existing directory."""
    kept = os.path.join(plugins_dir, REMOVED, f"{name}-{now().replace(':', '')}")
    while os.path.lexists(kept) or os.path.lexists(kept + _PENDING):
        kept += "+"
    make_directory(os.path.dirname(kept))
    return kept


def pending_removals(plugins_dir: str) -> list[str]:
    return [file for file in own_names(plugins_dir, REMOVED) if file.endswith(_PENDING)]


def finish_removal(plugins_dir: str, registry: Registry, file: str) -> None:
    """Finish a killed removal, or undo it if the registry still has the plugin."""
    pending = os.path.join(plugins_dir, REMOVED, file)
    name = file.removesuffix(_PENDING).rstrip("+")[: -len("-2000-01-01T000000Z")]
    place = os.path.join(plugins_dir, name)
    if os.path.islink(pending) and os.readlink(pending) == _UNINSTALLED:
        if name in registry.entries and not _is_installed(name):
            registry.drop(name)
            write_registry(registry_path(plugins_dir), registry)
        os.unlink(pending)
    elif name in registry.names and not os.path.lexists(place):
        os.rename(pending, place)
    elif os.path.islink(pending):
        os.unlink(pending)
    else:
        os.rename(pending, pending.removesuffix(_PENDING))
    with suppress(OSError):
        os.rmdir(os.path.dirname(pending))


def _is_installed(name: str) -> bool:
    complete_import_path()
    import importlib_metadata  # only a killed removal of a package needs it

    return any(importlib_metadata.distributions(name=name))


def own_names(above: str, name: str) -> list[str]:
    """Return the names in the directory `name`, none if it is a link."""
    path = os.path.join(above, name)
    return [] if os.path.islink(path) else names_in(path)
