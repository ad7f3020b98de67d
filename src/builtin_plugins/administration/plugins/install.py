"""Installing and removing plugins of every kind."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack

from builtin_plugins.administration.plugins.plugin_contents import PluginContents
from builtin_plugins.administration.plugins.reconcile import (
    keep_former_registry,
    now,
    write_registry,
)
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.plugins.transaction import Transaction, locked_registry
from builtin_plugins.administration.questions import ask_to_continue
from builtin_plugins.io.files.atomic import make_directory, mode_below, write_file
from builtin_plugins.plugins_folder.directory import ENTRY_FILE, store_of
from builtin_plugins.plugins_folder.registry import (
    NAME_RULE,
    Entry,
    is_plugin_name,
    read_registry,
)
from host import HostError, PluginError
from host.cli.session import Session

_EARLIER_VERSIONS = 3  # number of versions kept besides the current one


def check_new_name(entry: Entry, entries: Iterable[str]) -> None:
    """Raise PluginError if the name of a new plugin is invalid or taken."""
    hint = make_source(entry).name_hint
    if not is_plugin_name(entry.name):
        raise PluginError(f"{entry.name!r} is not a valid plugin name; {NAME_RULE}{hint}")
    if entry.name in entries:
        raise PluginError(f"{entry.name} is already the name of another plugin{hint}")


def ensure_built(staged: PluginContents, tx: Transaction, *, yes: bool) -> PluginContents:
    """Return the staged version; build what has no wheel after the user agrees.

    Raises OperationError if the user does not agree, or if nobody can be asked.
    """
    agreed: list[str] = []
    while staged.unbuilt:
        names = " and ".join(f"{name} {version}" for name, version in staged.unbuilt.items())
        tx.session.show_lines(
            f"{names}: no wheel; building one runs the package's own code, and the new commands "
            "are shown after the build"
        )
        ask_to_continue(tx.session, "Build it?", yes, "nothing was changed", required=True)
        agreed += staged.unbuilt
        staged = make_source(staged.entry).build(tx, agreed)
    return staged


def install(entry: Entry, tx: Transaction, *, new: bool = False, team: bool = False) -> bool:
    """Make the staged version of a plugin the current one.

    A new version is only a directory, which is complete before the link leads to it. Only the entry
    of a new linked directory is first marked with `unfinished`, so that the next change can repair
    an interrupted installation.

    With `team`, the entry goes into the registry that a team shares. Returns False, and changes
    nothing, if another process has just installed the same version. Raises PluginError if the name
    of a `new` plugin is taken. The caller has called `check_collisions`.
    """
    source, wanted = make_source(entry), (*entry.source_and_ref, entry.version_dir)
    with locked_registry(tx) as (registry, undo):
        there = registry.entries.get(entry.name)
        same = there and (*there.source_and_ref, there.version_dir) == wanted
        if same and source.is_present(tx.plugins_dir):
            return False
        if new:
            check_new_name(entry, registry.entries)
            path = os.path.join(tx.plugins_dir, entry.name)
            if os.path.lexists(path):
                raise PluginError(f"{path} already exists", f"remove that path{source.name_hint}")
        enabled = there.enabled if there else entry.enabled
        entry = entry.replaced(installedAt=now(), enabled=enabled)
        if entry.version_dir:
            entry = entry.replaced(versions=_versions_to_keep(entry, there))
        if there is None and entry.is_users_directory:
            registry.put(entry.replaced(unfinished=True), team=team)
            write_registry(tx.plugins_dir, registry)
        _keep(tx, entry, undo)
        source.install(tx, undo)
        if team or not (there and _restores(there, entry)):
            words = source.current_version(tx.plugins_dir).first_words
            registry.put(entry.replaced(words=words), team=team)
    if problem := tx.unremoved.get(entry.name):
        tx.session.messages.warn(str(problem))
    return True


def _keep(tx: Transaction, entry: Entry, undo: ExitStack) -> None:
    """Move the staged version, if any, into `.versions`, with a file that contains its entry."""
    if os.path.isdir(tx.files):
        store = store_of(tx.plugins_dir, entry.name)
        staged = os.path.dirname(tx.files)
        os.chmod(staged, mode_below(tx.plugins_dir))
        write_file(os.path.join(staged, ENTRY_FILE), json.dumps(entry.fields(), indent=2))
        make_directory(store.directory)
        store.commit(staged, entry.version_dir, undo)


def _restores(recorded: Entry, entry: Entry) -> bool:
    """Return whether only files were missing, so that the recorded entry is still right."""
    local = ("installedAt", "python", "words")
    return all(
        value == getattr(recorded, key) for key, value in entry.values().items() if key not in local
    )


def _versions_to_keep(entry: Entry, former: Entry | None) -> tuple[str, ...]:
    """Return the version directories to keep, oldest first: the new one and the latest old ones."""
    known = (*former.versions, former.version_dir) if former else ()
    others = [one for one in dict.fromkeys(known) if one not in ("", entry.version_dir)]
    kept = {*others[-_EARLIER_VERSIONS:], entry.version_dir}
    return tuple(one for one in dict.fromkeys((*known, entry.version_dir)) if one in kept)


def remove(entry: Entry, tx: Transaction) -> str:
    """Remove a plugin; return the path to which its directory was moved, or "" if it was not moved.

    The entry is first marked with `unfinished`, so that the next change can finish an interrupted
    removal.
    """
    if read_registry(tx.plugins_dir).is_shared(entry.name):
        what = f"{entry.name}: your team's registry.json lists it"
        raise PluginError(what, "disable the plugin, or remove it from registry.json for everybody")
    source = make_source(entry)
    with locked_registry(tx) as (registry, undo):
        if there := registry.entries.get(entry.name):
            keep_former_registry(tx.plugins_dir, undo)
            registry.put(there.replaced(unfinished=True))
            write_registry(tx.plugins_dir, registry)
        kept = source.remove(tx, undo)
        registry.drop(entry.name)
    return kept


def for_each(
    session: Session, plugins: Sequence[Entry], change: Callable[[Entry], object]
) -> list[str]:
    """Change plugins in turn; return the names of those that could not be changed.

    If one of several changes fails, its error is printed and the next plugin is changed; if there
    is only one plugin, its error is raised.
    """
    failed = []
    for entry in plugins:
        try:
            change(entry)
        except HostError as error:
            if len(plugins) == 1:
                raise
            failed.append(entry.name)
            session.messages.error(f"{entry.name}: {error}")
    return failed
