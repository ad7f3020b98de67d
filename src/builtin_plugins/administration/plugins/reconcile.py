"""Keep the links and versions in `plugins/` consistent with the registry.

If `plugins/` and the registry differ, the registry takes precedence. A change adds a version,
points the link to it and writes the registry last; a removal marks its entry first. So an
interrupted change leaves the old registry or the new one. `reconcile` then repairs links and
versions, removes staging directories, and adds entries for directories that the user put into
`plugins/`.
"""

import json
import os
import time
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any

from builtin_plugins.io.files import atomic
from builtin_plugins.io.files.file_lock import OnWait, file_lock
from builtin_plugins.plugins_folder.directory import (
    VERSIONS,
    DirectoryPlugin,
    find_directory_plugins,
    names_in,
    store_of,
)
from builtin_plugins.plugins_folder.json_object import read_object
from builtin_plugins.plugins_folder.registry import (
    LAST,
    LOCAL,
    REGISTRY,
    SCHEMA,
    Registry,
    as_text,
    is_plugin_name,
    local_path,
    read_registry,
    read_values,
    registry_path,
)
from builtin_plugins.store.versions import remove_abandoned
from host import HostError, OperationError, PluginError, Problem
from host.run.importing import complete_import_path, program_path

REMOVED = ".removed"  # the user's removed directories, perhaps the only copies


def exclusive(plugins_dir: str, on_wait: OnWait | None = None) -> AbstractContextManager[int]:
    """Hold the file lock on `plugins/`.

    Raises OperationError if another process holds the lock. With `on_wait`, the function first
    waits for the lock, and calls `on_wait` with a message.
    """
    return file_lock(os.path.realpath(plugins_dir), on_wait)


def reconcile_if_free(plugins_dir: str) -> None:
    """Reconcile `plugins/` before `cli.lock` is built, unless another process is changing plugins.

    A registry that cannot be read or written stays as it is; plugins work without it.
    """
    with suppress(HostError, OSError), exclusive(plugins_dir):
        reconcile(plugins_dir)


def reconcile(plugins_dir: str) -> dict[str, OperationError]:
    """Make `plugins/` agree with the registry; directories without an entry get one.

    Returns an error for each plugin with a former version that cannot be removed. The caller must
    hold the file lock on `plugins/`. Raises HostError if the registry cannot be read, and OSError
    if it cannot be written.
    """
    _clear(plugins_dir)
    registry = read_registry(plugins_dir)
    _record_kept_disabled(plugins_dir, registry)
    _settle_unfinished(plugins_dir, registry)
    left = {}
    for name in sorted({*names_in(plugins_dir), *names_in(os.path.join(plugins_dir, VERSIONS))}):
        # A damaged entry may be the one of the versions that no other entry names.
        is_unclear = name in registry.refused or (
            registry.problems and name not in registry.entries
        )
        if is_plugin_name(name) and not is_unclear:
            for problem in _repair(plugins_dir, name, registry):
                left[name] = problem
    for plugin in find_directory_plugins(plugins_dir, registry):
        name = plugin.entry.name
        if name not in {*registry.entries, *registry.refused} and is_plugin_name(name):
            registry.put(plugin.entry.replaced(installedAt=now(), words=_first_words(plugin)))
    write_registry(plugins_dir, registry)
    return left


def _first_words(plugin: DirectoryPlugin) -> tuple[str, ...]:
    """Return the first words of the plugin's commands, or () if they cannot be read."""
    # Imported here because a directory without an entry is rare.
    from builtin_plugins.administration.plugins.plugin_contents import read_contents

    try:
        return read_contents(plugin).first_words
    except (HostError, OSError):
        return ()


def _clear(plugins_dir: str) -> None:
    """Remove the temporary files and staging directories of interrupted changes.

    Raises PluginError if `.versions` or `.removed` is a link.
    """
    for name in (VERSIONS, REMOVED):
        if os.path.islink(os.path.join(plugins_dir, name)):
            raise PluginError(f"{plugins_dir}/{name}: must not be a link", "remove it")
    for name in (*LAST, *LAST.values()):
        path = os.path.join(plugins_dir, name)
        atomic.discard(atomic.temporary(path))
        atomic.discard(_former_file(os.path.realpath(path)))
    _discard_links(plugins_dir)
    remove_abandoned(plugins_dir)


def _discard_links(plugins_dir: str) -> None:
    """Remove the temporary links to plugins, and those of removed plugins."""
    for name in names_in(plugins_dir):
        path = os.path.join(plugins_dir, name)
        if name.endswith(".tmp") and os.path.islink(path):
            atomic.discard(path)


def _settle_unfinished(plugins_dir: str, registry: Registry) -> None:
    """Finish the interrupted removals, and undo the interrupted links to users' directories."""
    for entry in [one for one in registry.entries.values() if one.unfinished]:
        set_aside(plugins_dir, entry.name, ExitStack())
        registry.drop(entry.name)
    _discard_links(plugins_dir)


def _record_kept_disabled(plugins_dir: str, registry: Registry) -> None:
    """Write entries that disable what a damaged file no longer disables, if it is still there."""
    for name in registry.kept_disabled:
        entry = registry.entries[name]
        is_here = os.path.lexists(os.path.join(plugins_dir, name))
        if is_here or (entry.is_in_environment and _is_installed(name)):
            registry.put(entry)
        else:
            del registry.entries[name]


def _is_installed(name: str) -> bool:
    """Return whether the program's environment has the package `name`."""
    complete_import_path()
    import importlib_metadata  # imported here because only this function needs it

    return any(True for _ in importlib_metadata.distributions(name=name, path=program_path()))


def _repair(plugins_dir: str, name: str, registry: Registry) -> list[OperationError]:
    """Make the link and the versions of a plugin match its entry.

    Returns an error for each version that cannot be removed. A user's directory in place of the
    link is kept.
    """
    store, entry = store_of(plugins_dir, name), registry.entries.get(name)
    wanted = entry.version_dir if entry else ""
    is_here = not wanted or os.path.isdir(store.link_target(wanted))
    is_link = os.path.islink(store.link) or not os.path.lexists(store.link)
    if store.current != wanted and is_here and is_link:
        store.activate(wanted, ExitStack())
    problems = store.collect({entry.version_dir, *entry.versions} if entry else ())
    with suppress(OSError):
        os.rmdir(store.directory)
    return problems


def write_registry(plugins_dir: str, registry: Registry) -> None:
    """Write the registry's files that have changed; the caller holds the lock on `plugins/`.

    A registry.json that is a symbolic link stays one, so that a team can share the target. The
    local registry, if there is one, is written last: an entry that moves to the shared registry is
    then always in one of the two registries. A copy of each file is used if the file is damaged
    later. Raises OSError, and OperationError if an editor or git has changed a file since it was
    read.
    """
    if registry.exists or registry.values["plugins"]:
        _write_changed(registry, registry_path(plugins_dir), registry.values)
        with suppress(OSError):  # only a copy
            _write(os.path.join(plugins_dir, LAST[REGISTRY]), registry.values)
    if registry.local is not None:
        _write_changed(registry, local_path(plugins_dir), registry.local)
        with suppress(OSError):
            _write(os.path.join(plugins_dir, LAST[LOCAL]), registry.local)


def keep_former_registry(plugins_dir: str, undo: ExitStack) -> None:
    """Let `undo` restore the registry's files; a full disk does not prevent this.

    The caller holds the lock on `plugins/`, and has not changed the files yet. Each file gets a
    second hard link, which `undo` renames. `reconcile` removes the links.
    """
    for name in (REGISTRY, LOCAL):
        path = os.path.realpath(os.path.join(plugins_dir, name))
        former = _former_file(path)
        atomic.discard(former)
        if not os.path.lexists(path):
            continue
        try:
            os.link(path, former)
        except OSError:  # the file system has no hard links
            undo.callback(restore_registry, plugins_dir, read_registry(plugins_dir))
        else:
            undo.callback(os.rename, former, path)


def _former_file(path: str) -> str:
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.former")


def restore_registry(plugins_dir: str, registry: Registry) -> None:
    """Write an earlier state of the registry, to undo a change. Raises OSError and OperationError.

    The caller holds the lock on `plugins/`.
    """
    for path in (registry_path(plugins_dir), local_path(plugins_dir)):
        registry.on_disk[path] = as_text(read_values(path))
    write_registry(plugins_dir, registry)


def _write_changed(registry: Registry, path: str, values: dict[str, Any]) -> None:
    """Write a file of the registry if its content has changed since it was read.

    Not even a run that builds the lock may write what it read before: an edit or a `git pull`
    between the two would be lost.
    """
    new, old = as_text(values), registry.on_disk.get(path)
    if new == old:
        return
    if as_text(read_values(path)) != old:
        what = "another program has changed this file meanwhile, so nothing was changed"
        raise OperationError(Problem(path, what, "run the command again"))
    _write(os.path.realpath(path), values)
    registry.on_disk[path] = as_text(read_values(path))


def _write(path: str, values: dict[str, Any]) -> None:
    """Write `values` to a JSON file, unless the file already contains them."""
    values = {"$schema": SCHEMA, **values}
    with suppress(HostError, OSError):
        if {"$schema": SCHEMA, **read_object(path)} == values:
            return
    content = f"{json.dumps(values, indent=2, ensure_ascii=False)}\n"
    atomic.write_file(path, content.encode("utf-8", "backslashreplace"))  # a lone surrogate


def set_aside(plugins_dir: str, name: str, undo: ExitStack) -> str:
    """Remove the link of a plugin, or move its directory to `.removed`.

    Returns the new path of the directory, or "" if there was none. `undo` gets the reverse step.
    """
    path = os.path.join(plugins_dir, name)
    if os.path.islink(path):
        # Renamed, because a full disk could prevent that the link is made again. `reconcile`
        # removes links with such names.
        former = os.path.join(plugins_dir, f".{name}.former.tmp")
        os.rename(path, former)
        undo.callback(os.rename, former, path)
        return ""
    if not os.path.lexists(path):
        return ""
    kept = os.path.join(plugins_dir, REMOVED, f"{name}-{now().replace(':', '')}")
    while os.path.lexists(kept):
        kept += "+"
    atomic.make_directory(os.path.dirname(kept), undo=undo)
    os.rename(path, kept)
    undo.callback(os.rename, kept, path)
    return kept


def now() -> str:
    """Return the current time in UTC, in the registry's format."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
