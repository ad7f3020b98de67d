"""`plugins/` and its registry brought to agree: dropped-in directories, traces of killed changes.

The registry decides. What a killed change left is undone where the registry does not
have it yet, and finished where it has.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from builtin_plugins.administration.plugins.kept_versions import kept_tree, record, recorded
from builtin_plugins.administration.plugins.registry_file import exclusive, is_kept, write_registry
from builtin_plugins.administration.plugins.removal import (
    finish_removal,
    now,
    own_names,
    pending_removals,
)
from builtin_plugins.io.files.atomic import write_link
from builtin_plugins.io.files.flock import locked
from builtin_plugins.plugins_folder.directory import (
    VERSIONS,
    find_directory_plugins,
    linked_version_dir,
    names_in,
)
from builtin_plugins.plugins_folder.registry import (
    FILE_NAME,
    LAST,
    Entry,
    Registry,
    is_plugin_name,
    last_intact,
    read_registry,
    registry_path,
)
from host import HostError, OperationError

TYPE_CHECKING = False

Repair = Callable[[], object]

AREA = ".cli-change-"  # how the names of staging areas in `plugins/` begin


def reconcile_if_needed(plugins_dir: str) -> None:
    """Do what `reconcile` does if there is something to do and no other process is changing it.

    Called before the lock is built. A registry that cannot be read or written stays as it is;
    plugins work without it.
    """
    try:
        registry = read_registry(registry_path(plugins_dir))
        kept = not registry.exists or is_kept(plugins_dir, registry)
        if kept and next(_repairs(plugins_dir, registry), None) is None:
            return
        with exclusive(plugins_dir, patient=False):
            reconcile(plugins_dir)
    except (HostError, OSError):
        return


def reconcile(plugins_dir: str) -> Registry:
    """Make `plugins/` and the registry agree, and return the registry.

    New directories get an entry; the remains of killed changes are finished or undone. The
    caller holds `exclusive`. Raises PluginError if the registry cannot be read, OSError if it
    cannot be written.
    """
    registry = read_registry(registry_path(plugins_dir))
    if not registry.exists:  # made again of its last intact state, and of the kept records
        registry = last_intact(plugins_dir)
        for entry in filter(None, (recorded(plugins_dir, name) for name in names_in(plugins_dir))):
            if entry.name not in registry.names:
                registry.put(entry)
    for repair in _repairs(plugins_dir, registry):
        repair()
    write_registry(registry_path(plugins_dir), registry)
    return registry


def was_interrupted(plugins_dir: str) -> bool:
    """Report whether a change in `plugins/` was killed, or is under way."""
    return next(_clearings(plugins_dir), None) is not None or bool(pending_removals(plugins_dir))


def _repairs(plugins_dir: str, registry: Registry) -> Iterator[Repair]:
    """Yield the steps that make `plugins/` and the registry agree, none if they do.

    The caller runs each step before it asks for the next one.
    """
    yield from _clearings(plugins_dir)
    for file in pending_removals(plugins_dir):
        yield partial(finish_removal, plugins_dir, registry, file)
    for entry in registry.entries.values():
        if _leads_astray(plugins_dir, entry):
            yield partial(relink, plugins_dir, entry)
    for name in names_in(plugins_dir):
        link = os.path.join(plugins_dir, name)
        is_known = name in registry.names and os.path.exists(link)
        if not is_known and linked_version_dir(plugins_dir, name) is not None:
            yield partial(os.unlink, link)
    for name in own_names(plugins_dir, VERSIONS):
        yield from _clearings_of_versions(plugins_dir, registry, name)
    for plugin in find_directory_plugins(plugins_dir, registry):
        if plugin.name not in registry.names and is_plugin_name(plugin.name):
            yield partial(registry.put, plugin.new_entry.replaced(installed_at=now()))


def _clearings(plugins_dir: str) -> Iterator[Repair]:
    """Yield the steps that remove unfinished files of killed changes."""
    for name in names_in(plugins_dir):
        path = os.path.join(plugins_dir, name)
        if name.startswith(AREA) and not os.path.islink(path):
            yield partial(_clear_area, path)
        elif _is_temporary(plugins_dir, name):
            yield partial(os.unlink, path)


def _clearings_of_versions(plugins_dir: str, registry: Registry, name: str) -> Iterator[Repair]:
    """Yield the steps that remove the kept versions of `name` that no entry lists."""
    entry = registry.entries.get(name)
    wanted = {entry.version_dir, *entry.versions} if entry else set()
    versions = os.path.join(plugins_dir, VERSIONS)
    version_dirs = own_names(versions, name)
    for version_dir in version_dirs:
        is_known = version_dir in wanted or name in registry.refused
        if not is_known and record(plugins_dir, name, version_dir) is not None:
            yield partial(take_away, plugins_dir, name, version_dir)
    if not version_dirs:
        yield partial(_remove, versions, name)


def take_away(plugins_dir: str, name: str, version_dir: str) -> None:
    """Remove a kept version if possible; after a kill it is whole or gone."""
    version = os.path.join(plugins_dir, VERSIONS, name, version_dir)
    area = os.path.join(plugins_dir, f"{AREA}{name}@{version_dir}")
    while os.path.lexists(area):
        area += "+"
    with suppress(OSError):
        os.rename(version, area)
        os.rmdir(os.path.dirname(version))
    _remove(area)


def check_gone(plugins_dir: str, name: str) -> None:
    """Raise OperationError if files of former versions of plugin `name` cannot be removed."""
    import shlex
    import shutil

    entry = read_registry(registry_path(plugins_dir)).entries.get(name)
    wanted = {entry.version_dir, *entry.versions} if entry else set()
    versions = os.path.join(plugins_dir, VERSIONS)
    version_dirs = [one for one in own_names(versions, name) if one not in wanted]
    left = [
        os.path.join(versions, name, one) for one in version_dirs if record(plugins_dir, name, one)
    ]
    for one in names_in(plugins_dir):
        if one.startswith(f"{AREA}{name}@"):
            gone = os.path.join(plugins_dir, one)
            shutil.rmtree(gone, onerror=lambda _, path, __: left.append(path))
    if left:
        directory = shlex.quote(os.path.dirname(left[0]))
        raise OperationError(
            f"{left[0]}: cannot be removed, a file of {name}",
            f"allow it with: chmod -R u+w {directory}; the next change of plugins removes it",
        )


def relink(plugins_dir: str, entry: Entry) -> None:
    """Point `plugins/<name>` to the version that `entry` records, if that is here."""
    if _leads_astray(plugins_dir, entry):
        write_link(os.path.join(plugins_dir, entry.name), kept_tree("", entry))


def _leads_astray(plugins_dir: str, entry: Entry) -> bool:
    """Report whether the link must change; a directory in its place stays."""
    if entry.is_package or not entry.version_dir:
        return False
    place = os.path.join(plugins_dir, entry.name)
    is_ours = os.path.islink(place) or not os.path.lexists(place)
    is_here = os.path.isdir(kept_tree(plugins_dir, entry))
    return is_ours and is_here and linked_version_dir(plugins_dir, entry.name) != entry.version_dir


def _clear_area(area: str) -> None:
    """Remove the staging area of a dead process; a live one holds its lock."""
    with suppress(OperationError), locked(area):
        _remove(area)


def _remove(above: str, *names: str) -> None:
    """Remove a directory, and those between it and `above` that are empty then, that one last."""
    import shutil  # most healings have nothing to remove

    path = os.path.join(above, *names)
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        while path != above:
            path = os.path.dirname(path)
            os.rmdir(path)


def _is_temporary(plugins_dir: str, name: str) -> bool:
    """Tell whether a killed change left that in `plugins/`: half a registry, or a link's successor.

    They are made under the lock only.
    """
    own = name.removeprefix(".").removesuffix(".tmp")
    if name != f".{own}.tmp":
        return False
    if own in (FILE_NAME, LAST):
        return True
    return linked_version_dir(plugins_dir, name, own) is not None
