"""`plugins/` and its registry brought to agree: dropped-in directories, traces of killed changes.

The registry decides. What a killed change left is undone where the registry does not
have it yet, and finished where it has.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from builtin_plugins.files.atomic import write_link
from builtin_plugins.files.locks import locked
from builtin_plugins.plugin_directories.directory import (
    REMOVED,
    STAGING,
    TREE,
    VERSIONS,
    DirectoryPlugin,
    find_directory_plugins,
    kept_label,
)
from builtin_plugins.plugin_directories.registry import (
    FILE_NAME,
    LAST,
    Entry,
    Registry,
    exclusive,
    is_kept,
    is_plugin_name,
    last_intact,
    read_entry,
    read_registry,
    registry_path,
    write_registry,
)
from host import DefinitionError, HostError, OperationError, PluginError
from host.run.json_files import read_json

_PENDING = ".pending"  # what a directory is called while its removal is under way
AREA = "change-"  # how the names of staging areas begin
RECORD = "entry.json"  # beside each kept tree: its entry, should the registry get lost


def settle(plugins_dir: str) -> None:
    """Enter new directories into the registry and heal, when there is need and nothing in the way.

    Called before the lock is built. A registry that cannot be read or written, or that
    another process is changing, stays as it is: plugins work without.
    """
    try:
        if _is_settled(plugins_dir):
            return
        with exclusive(plugins_dir, patient=False):
            heal(plugins_dir)
    except (HostError, OSError):
        return


def heal(plugins_dir: str) -> Registry:
    """Do what `settle` does, and return the registry; the caller holds `exclusive`.

    Raises PluginError when the registry cannot be read, OSError when it cannot be written.
    """
    registry = read_registry(registry_path(plugins_dir))
    if not registry.exists:
        registry = last_intact(plugins_dir)
        _recover(plugins_dir, registry)
    _clear_staging(plugins_dir, registry)
    _settle_removals(plugins_dir, registry)
    for entry in registry.entries.values():
        if entry.managed:
            relink(plugins_dir, entry)
    _clear_versions(plugins_dir, registry)
    for plugin in find_directory_plugins(plugins_dir, registry)[0]:
        if plugin.name not in registry.names and is_plugin_name(plugin.name):
            registry.put(_adopted(plugin))
    write_registry(registry_path(plugins_dir), registry)
    return registry


def relink(plugins_dir: str, entry: Entry) -> None:
    """Make `plugins/<name>` lead to the version that `entry` records, when that is here."""
    place = os.path.join(plugins_dir, entry.name)
    wanted = os.path.join(VERSIONS, entry.name, entry.label, TREE)
    if not os.path.isdir(os.path.join(plugins_dir, wanted)):
        return
    if kept_label(plugins_dir, entry.name) == entry.label:
        return
    if os.path.lexists(place) and not os.path.islink(place):
        return  # somebody put a directory of their own there
    write_link(place, wanted)


def now() -> str:
    """Return the time as the registry has it, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def removal(plugins_dir: str, name: str) -> tuple[str, str]:
    """Return where a removed directory lies while the registry has to forget it, and then."""
    place = os.path.join(plugins_dir, REMOVED, f"{name}-{now().replace(':', '')}")
    while os.path.lexists(place):
        place += "+"
    return place + _PENDING, place


def _settle_removals(plugins_dir: str, registry: Registry) -> None:
    """Put back what a killed removal set aside, where the registry still has it."""
    removed = os.path.join(plugins_dir, REMOVED)
    for file in _own(plugins_dir, REMOVED):
        if not file.endswith(_PENDING):
            continue
        name = file.removesuffix(_PENDING).rstrip("+")[: -len("-2000-01-01T000000Z")]
        place = os.path.join(plugins_dir, name)
        if name not in registry.names or os.path.lexists(place):
            place = os.path.join(removed, file.removesuffix(_PENDING))
        os.rename(os.path.join(removed, file), place)


def was_interrupted(plugins_dir: str) -> bool:
    """Tell whether a killed change left something in `plugins/`, or one is under way."""
    names = _names(plugins_dir)
    if any(name == STAGING or _is_temporary(plugins_dir, name) for name in names):
        return True
    return any(file.endswith(_PENDING) for file in _own(plugins_dir, REMOVED))


def _is_settled(plugins_dir: str) -> bool:
    if was_interrupted(plugins_dir):
        return False
    registry = read_registry(registry_path(plugins_dir))
    if registry.exists and not is_kept(plugins_dir, registry):
        return False
    if any(
        entry.managed and kept_label(plugins_dir, entry.name) != entry.label
        for entry in registry.entries.values()
    ):
        return False
    return set(_own(plugins_dir, VERSIONS)) <= registry.names and all(
        plugin.name in registry.names
        for plugin in find_directory_plugins(plugins_dir, registry)[0]
        if is_plugin_name(plugin.name)
    )


def _adopted(plugin: DirectoryPlugin) -> Entry:
    manifest = plugin.manifest
    source = os.path.realpath(plugin.root) if plugin.dev else ""
    return Entry(
        name=plugin.name,
        kind="local",
        source=source,
        version=manifest.version if manifest else "",
        description=manifest.description if manifest else "",
        directory=manifest.directory if manifest else "",
        hooks=manifest.hooks if manifest else "",
        installed_at=now(),
        dev=plugin.dev,
    )


def _recover(plugins_dir: str, registry: Registry) -> None:
    """Make a lost registry again of its last intact state, and of the records beside versions."""
    registry.changed = registry.exists
    for name in _names(plugins_dir):
        entry = recorded(plugins_dir, name)
        if entry is not None and name not in registry.names:
            registry.put(entry)


def recorded(plugins_dir: str, name: str) -> Entry | None:
    """Return what the record beside the kept version of a plugin says, None where it has none."""
    label = kept_label(plugins_dir, name)
    return None if label is None else record(plugins_dir, name, label)


def record(plugins_dir: str, name: str, label: str) -> Entry | None:
    """Return the record of a kept version: the proof that this program made its directory."""
    try:
        entry = read_entry(read_json(os.path.join(plugins_dir, VERSIONS, name, label, RECORD)))
    except (OSError, DefinitionError, PluginError, AttributeError):
        return None
    return entry if (entry.name, entry.label) == (name, label) else None


def _clear_staging(plugins_dir: str, registry: Registry) -> None:
    """Remove the staging areas of dead processes; what they were removing goes back or away."""
    staging = os.path.join(plugins_dir, STAGING)
    for name in _own(plugins_dir, STAGING):
        area = os.path.join(staging, name)
        with suppress(OperationError), locked(area):  # nobody works in it any more
            if name.startswith(AREA):
                _clear_area(plugins_dir, area, registry)
    for name in _names(plugins_dir):
        if _is_temporary(plugins_dir, name):
            os.unlink(os.path.join(plugins_dir, name))
    with suppress(OSError):  # others are at work there
        os.rmdir(staging)


def _clear_area(plugins_dir: str, area: str, registry: Registry) -> None:
    removed = os.path.join(area, "removed")
    for name in _own(area, "removed"):
        place = os.path.join(plugins_dir, name)
        if name in registry.names and not os.path.lexists(place):
            os.rename(os.path.join(removed, name), place)
    _remove(area)


def _clear_versions(plugins_dir: str, registry: Registry) -> None:
    """Remove kept versions that no entry speaks of, and links that lead to one."""
    versions = os.path.join(plugins_dir, VERSIONS)
    for name in _names(plugins_dir):
        if kept_label(plugins_dir, name) is not None and name not in registry.names:
            os.unlink(os.path.join(plugins_dir, name))
    for name in _own(plugins_dir, VERSIONS):
        if name in registry.refused:
            continue
        entry = registry.entries.get(name)
        wanted = {entry.label, *entry.versions} if entry else set()
        for label in _own(versions, name):
            if label not in wanted and record(plugins_dir, name, label) is not None:
                _remove(os.path.join(versions, name, label))
        with suppress(OSError):
            os.rmdir(os.path.join(versions, name))
    with suppress(OSError):
        os.rmdir(versions)


def _remove(directory: str) -> None:
    import shutil  # most healings have nothing to remove

    shutil.rmtree(directory, ignore_errors=True)


def _is_temporary(plugins_dir: str, name: str) -> bool:
    """Tell whether a killed change left that in `plugins/`: half a registry, or a link's successor.

    They are made under the lock only.
    """
    own = name.removeprefix(".").removesuffix(".tmp")
    if name != f".{own}.tmp":
        return False
    if own in (FILE_NAME, LAST):
        return True
    return kept_label(plugins_dir, name, own) is not None


def _own(above: str, name: str) -> list[str]:
    """Return what is in the directory `name`, nothing where a link is in its place."""
    path = os.path.join(above, name)
    return [] if os.path.islink(path) else _names(path)


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
