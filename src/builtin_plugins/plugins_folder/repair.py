"""`plugins/` and its registry brought to agree: dropped-in directories, traces of killed changes.

The registry decides. What a killed change left is undone where the registry does not
have it yet, and finished where it has.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from builtin_plugins.io.files.atomic import make_directory, write_link
from builtin_plugins.io.files.flock import locked
from builtin_plugins.plugins_folder.directory import (
    REMOVED,
    VERSIONS,
    find_directory_plugins,
    kept_tree,
    linked_version_dir,
    names_in,
    record,
    recorded,
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
from builtin_plugins.plugins_folder.registry_file import exclusive, is_kept, write_registry
from host import HostError, OperationError
from host.run.importing import complete_import_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import ExitStack

Repair = Callable[[], object]

_PENDING = ".pending"  # what a directory is called while its removal is under way
_UNINSTALLED = "pip:"  # where a link of that name leads for a distribution
AREA = ".cli-change-"  # how the names of staging areas in `plugins/` begin


def reconcile_if_needed(plugins_dir: str) -> None:
    """Enter new directories into the registry and heal, when there is need and nothing in the way.

    Called before the lock is built. A registry that cannot be read or written, or that
    another process is changing, stays as it is: plugins work without.
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
    """Do what `reconcile_if_needed` does, and return the registry; the caller holds `exclusive`.

    Raises PluginError when the registry cannot be read, OSError when it cannot be written.
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
    """Tell whether a killed change left something in `plugins/`, or one is under way."""
    return next(_clearings(plugins_dir), None) is not None or bool(_pending(plugins_dir))


def _repairs(plugins_dir: str, registry: Registry) -> Iterator[Repair]:
    """Yield what brings `plugins/` and the registry to agree, nothing where they do.

    Each one is to be made before the next is asked for.
    """
    yield from _clearings(plugins_dir)
    for file in _pending(plugins_dir):
        yield partial(_settle_removal, plugins_dir, registry, file)
    for entry in registry.entries.values():
        if _leads_astray(plugins_dir, entry):
            yield partial(relink, plugins_dir, entry)
    for name in names_in(plugins_dir):
        link = os.path.join(plugins_dir, name)
        is_known = name in registry.names and os.path.exists(link)
        if not is_known and linked_version_dir(plugins_dir, name) is not None:
            yield partial(os.unlink, link)
    for name in _own(plugins_dir, VERSIONS):
        yield from _clearings_of_versions(plugins_dir, registry, name)
    for plugin in find_directory_plugins(plugins_dir, registry):
        if plugin.name not in registry.names and is_plugin_name(plugin.name):
            yield partial(registry.put, plugin.new_entry.replaced(installed_at=now()))


def _clearings(plugins_dir: str) -> Iterator[Repair]:
    """Yield what takes away what a killed change was making."""
    for name in names_in(plugins_dir):
        path = os.path.join(plugins_dir, name)
        if name.startswith(AREA) and not os.path.islink(path):
            yield partial(_clear_area, path)
        elif _is_temporary(plugins_dir, name):
            yield partial(os.unlink, path)


def _clearings_of_versions(plugins_dir: str, registry: Registry, name: str) -> Iterator[Repair]:
    """Yield what removes the kept versions of `name` that no entry speaks of."""
    entry = registry.entries.get(name)
    wanted = {entry.version_dir, *entry.versions} if entry else set()
    versions = os.path.join(plugins_dir, VERSIONS)
    version_dirs = _own(versions, name)
    for version_dir in version_dirs:
        is_known = version_dir in wanted or name in registry.refused
        if not is_known and record(plugins_dir, name, version_dir) is not None:
            yield partial(take_away, plugins_dir, name, version_dir)
    if not version_dirs:
        yield partial(_remove, versions, name)


def take_away(plugins_dir: str, name: str, version_dir: str) -> None:
    """Remove a kept version of a plugin, if possible; a kill leaves it whole or not kept."""
    version = os.path.join(plugins_dir, VERSIONS, name, version_dir)
    area = os.path.join(plugins_dir, f"{AREA}{name}@{version_dir}")
    while os.path.lexists(area):
        area += "+"
    with suppress(OSError):
        os.rename(version, area)
        os.rmdir(os.path.dirname(version))
    _remove(area)


def check_gone(plugins_dir: str, name: str) -> None:
    """Raise OperationError for files of plugin `name` that cannot be removed, though they should.

    These are in versions that are not kept any more.
    """
    import shlex
    import shutil

    entry = read_registry(registry_path(plugins_dir)).entries.get(name)
    wanted = {entry.version_dir, *entry.versions} if entry else set()
    versions = os.path.join(plugins_dir, VERSIONS)
    version_dirs = [one for one in _own(versions, name) if one not in wanted]
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
    """Make `plugins/<name>` lead to the version that `entry` records, when that is here."""
    if _leads_astray(plugins_dir, entry):
        write_link(os.path.join(plugins_dir, entry.name), kept_tree("", entry))


def _leads_astray(plugins_dir: str, entry: Entry) -> bool:
    """Tell whether another version is on; a directory that somebody put there stays."""
    if entry.is_package or not entry.version_dir:
        return False
    place = os.path.join(plugins_dir, entry.name)
    is_ours = os.path.islink(place) or not os.path.lexists(place)
    is_here = os.path.isdir(kept_tree(plugins_dir, entry))
    return is_ours and is_here and linked_version_dir(plugins_dir, entry.name) != entry.version_dir


def now() -> str:
    """Return the time as the registry has it, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def set_aside(plugins_dir: str, name: str, undo: ExitStack) -> str:
    """Move what is in the place of a plugin away, until the registry has forgotten it.

    What may be the only copy, that is all but a link, is kept then; returns where, else "".
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
    """Note that a distribution is being uninstalled, until the registry has forgotten it."""
    mark = _free_name(plugins_dir, name) + _PENDING
    os.symlink(_UNINSTALLED, mark)
    undo.callback(os.unlink, mark)


def _free_name(plugins_dir: str, name: str) -> str:
    """Return a path for what is removed of a plugin; its directory is there then."""
    kept = os.path.join(plugins_dir, REMOVED, f"{name}-{now().replace(':', '')}")
    while os.path.lexists(kept) or os.path.lexists(kept + _PENDING):
        kept += "+"
    make_directory(os.path.dirname(kept))
    return kept


def _pending(plugins_dir: str) -> list[str]:
    return [file for file in _own(plugins_dir, REMOVED) if file.endswith(_PENDING)]


def _settle_removal(plugins_dir: str, registry: Registry, file: str) -> None:
    """End a removal; one that was killed is undone where the registry still has the plugin."""
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


def _clear_area(area: str) -> None:
    """Remove the staging area of a dead process; whoever works in one has its lock."""
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


def _own(above: str, name: str) -> list[str]:
    """Return what is in the directory `name`, nothing where a link is in its place."""
    path = os.path.join(above, name)
    return [] if os.path.islink(path) else names_in(path)
