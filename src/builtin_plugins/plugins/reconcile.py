"""Keep the links and versions in `plugins/` consistent with the registry.

If `plugins/` and the registry differ, the registry takes precedence. A change adds a version,
points the link to it and writes the registry last. Only a user's directory or a link to one, which
the registry does not bring back, gets a hidden name until the registry is written:

    .NAME.cli-next     a new link to a user's directory
    .NAME.cli-former   a link or directory that is being removed

So an interrupted change leaves the old registry or the new one. `reconcile` then gives these their
place, repairs links and versions, removes staging directories, and adds entries for directories
that the user put into `plugins/`.
"""

import os
import time
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import NamedTuple

from builtin_plugins.library.files import atomic
from builtin_plugins.library.files.file_lock import OnWait, file_lock
from builtin_plugins.library.files.undo import undoing
from builtin_plugins.plugins_folder.directory import (
    VERSIONS,
    find_directory_plugins,
    names_in,
    store_of,
)
from builtin_plugins.plugins_folder.entry import is_plugin_name
from builtin_plugins.plugins_folder.registry import LAST, Registry, read_registry
from builtin_plugins.plugins_folder.registry_writer import write_registry
from builtin_plugins.plugins_folder.version import PluginVersion
from builtin_plugins.store.versions import Store, remove_abandoned
from host import HostError, OperationError, PluginError
from host.processes.importing import complete_import_path, program_path

REMOVED = ".removed"  # the user's removed directories, perhaps the only copies
_NEXT = ".cli-next"
_FORMER = ".cli-former"


def exclusive(
    plugins_dir: str, on_wait: OnWait | None = None
) -> AbstractContextManager[int]:
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
        reconcile(plugins_dir, read_registry(plugins_dir))


class Reconciled(NamedTuple):
    """What `reconcile` could not remove, and where it put the users' directories that it removed.

    Both are by the name of the plugin: an error, and a path in `.removed`.
    """

    unremoved: dict[str, OperationError]
    set_aside: dict[str, str]


def reconcile(plugins_dir: str, registry: Registry) -> Reconciled:
    """Make `plugins/` agree with the registry; directories without an entry get one.

    The caller holds the file lock on `plugins/`, and has read or written `registry` under it.
    Raises HostError and OSError if a file cannot be changed.
    """
    _clear(plugins_dir)
    _record_kept_disabled(plugins_dir, registry)
    kept_paths = _settle(plugins_dir, registry)

    unremoved = {}
    versions_dir = os.path.join(plugins_dir, VERSIONS)
    names = {*names_in(plugins_dir), *names_in(versions_dir)}
    for name in sorted(filter(is_plugin_name, names)):
        if name in registry.refused:
            continue
        # A damaged entry may be the one of the versions that no other entry names.
        if registry.problems and name not in registry.entries:
            continue
        for problem in _repair(plugins_dir, name, registry):
            unremoved[name] = problem

    _record_new_directories(plugins_dir, registry)
    write_registry(registry)
    return Reconciled(unremoved, kept_paths)


def _record_new_directories(plugins_dir: str, registry: Registry) -> None:
    """Give the directories that the user put into `plugins/` an entry."""
    for plugin in find_directory_plugins(plugins_dir, registry):
        name = plugin.entry.name
        if name in registry.entries or name in registry.refused:
            continue
        if is_plugin_name(name):
            words = _first_words(plugin)
            entry = plugin.entry.replaced(installedAt=now(), words=words)
            registry.put(entry)


def _first_words(plugin: PluginVersion) -> tuple[str, ...]:
    """Return the first words of the plugin's commands, or () if they cannot be read."""
    # Imported here because a directory without an entry is rare.
    from builtin_plugins.plugins.directory_contents import read_contents

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

    for name in names_in(plugins_dir):
        # The dot comes from `temporary`; without it, this is the link of a plugin `NAME.tmp`.
        is_temporary = name.startswith(".") and name.endswith(".tmp")
        path = os.path.join(plugins_dir, name)
        if is_temporary and os.path.islink(path):
            atomic.discard(path)

    remove_abandoned(plugins_dir)


def _settle(plugins_dir: str, registry: Registry) -> dict[str, str]:
    """Finish or undo interrupted changes of users' directories, as the registry says.

    Returns the new path of each directory that is removed, by the plugin's name.
    """
    kept_paths = {}
    for suffix in (_NEXT, _FORMER):  # a new link takes the place of a former one
        for hidden in names_in(plugins_dir):
            name = hidden.removeprefix(".").removesuffix(suffix)
            if hidden != f".{name}{suffix}":
                continue
            if not is_plugin_name(name):
                continue

            beside = os.path.join(plugins_dir, hidden)
            path = os.path.join(plugins_dir, name)
            if name in registry.entries and not os.path.lexists(path):
                os.rename(beside, path)
            elif os.path.islink(beside):
                atomic.discard(beside)
            elif name not in registry.refused:
                kept_paths[name] = _keep_removed(plugins_dir, name, beside)
    return kept_paths


def _keep_removed(plugins_dir: str, name: str, former: str) -> str:
    """Move a user's removed directory into `.removed`; return its new path."""
    kept = os.path.join(plugins_dir, REMOVED, f"{name}-{now().replace(':', '')}")
    while os.path.lexists(kept):
        kept += "+"
    with undoing() as undo:
        atomic.make_directory(os.path.dirname(kept), undo=undo)
        os.rename(former, kept)
    return kept


def _record_kept_disabled(plugins_dir: str, registry: Registry) -> None:
    """Write entries that disable what a damaged file no longer disables, if it is still there."""
    for name in registry.kept_disabled:
        entry = registry.entries[name]
        is_here = os.path.lexists(os.path.join(plugins_dir, name))
        if entry.is_in_environment and not is_here:
            is_here = _is_installed(name)

        if is_here:
            registry.put(entry)
        else:
            del registry.entries[name]


def _is_installed(name: str) -> bool:
    """Return whether the program's environment has the package `name`."""
    complete_import_path()
    import importlib_metadata  # imported here because only this function needs it

    distributions = importlib_metadata.distributions(name=name, path=program_path())
    return any(True for _ in distributions)


def _repair(plugins_dir: str, name: str, registry: Registry) -> list[OperationError]:
    """Make the link and the versions of a plugin match its entry.

    Returns an error for each version that cannot be removed. A user's directory in place of the
    link is kept.
    """
    store = store_of(plugins_dir, name)
    version = ""
    keep: set[str] = set()
    entry = registry.entries.get(name)
    if entry:
        version = entry.version_dir
        keep = {version, *entry.versions}

    if store.current != version and _can_point(store, version):
        store.point_to(version)

    problems = store.collect(keep)
    with suppress(OSError):
        os.rmdir(store.directory)
    return problems


def _can_point(store: Store, version: str) -> bool:
    """Return whether the link may lead to `version`, or may be removed if that is ""."""
    is_link = os.path.islink(store.link)
    if os.path.lexists(store.link) and not is_link:
        return False
    if not version:
        return True
    # Without its directory, the version must be fetched again; a link to nothing would not help.
    return os.path.isdir(store.link_target(version))


def set_aside(plugins_dir: str, name: str, undo: ExitStack) -> None:
    """Hide the link or directory of a plugin until `reconcile` removes it.

    `undo` gets the reverse step. It is a rename, because a full disk could prevent that a link is
    made again.
    """
    path = os.path.join(plugins_dir, name)
    former = os.path.join(plugins_dir, f".{name}{_FORMER}")
    if os.path.lexists(path):
        os.rename(path, former)
        undo.callback(os.rename, former, path)


def link_next(plugins_dir: str, name: str, target: str, undo: ExitStack) -> None:
    """Make a hidden link to a user's directory, which `reconcile` gives its name."""
    link = os.path.join(plugins_dir, f".{name}{_NEXT}")
    atomic.write_link(link, target)
    undo.callback(os.unlink, link)


def now() -> str:
    """Return the current time in UTC, in the registry's format."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
