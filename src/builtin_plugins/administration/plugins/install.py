"""Installing and removing plugins of every kind."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from enum import Enum

from builtin_plugins.administration.plugins.change import (
    Change,
    locked_registry,
)
from builtin_plugins.administration.plugins.reconcile import Reconciled, now, set_aside
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.questions import ask_to_continue
from builtin_plugins.io.files.atomic import make_directory, mode_below, write_file
from builtin_plugins.plugins_folder.directory import ENTRY_FILE, store_of
from builtin_plugins.plugins_folder.entry import NAME_RULE, Entry, is_plugin_name
from builtin_plugins.plugins_folder.registry import Registry
from builtin_plugins.plugins_folder.version import PluginVersion
from host import HostError, PluginError
from host.cli.session import Session

_EARLIER_VERSIONS = 3  # number of versions kept besides the current one


def check_new_name(entry: Entry, entries: Iterable[str]) -> None:
    """Raise PluginError if the name of a new plugin is invalid or taken."""
    hint = make_source(entry).name_hint
    if not is_plugin_name(entry.name):
        raise PluginError(
            f"{entry.name!r} is not a valid plugin name; {NAME_RULE}{hint}"
        )
    if entry.name in entries:
        raise PluginError(f"{entry.name} is already the name of another plugin{hint}")


def ensure_built(staged: PluginVersion, change: Change, *, yes: bool) -> PluginVersion:
    """Return the staged version; build what has no wheel after the user agrees.

    Raises OperationError if the user does not agree, or if nobody can be asked.
    """
    agreed: list[str] = []
    while staged.unbuilt:
        names = " and ".join(
            f"{name} {version}" for name, version in staged.unbuilt.items()
        )
        change.session.show_lines(
            f"{names}: no wheel; building one runs the package's own code, and the new commands "
            "are shown after the build"
        )
        ask_to_continue(
            change.session, "Build it?", yes, "nothing was changed", required=True
        )
        agreed += staged.unbuilt
        staged = make_source(staged.entry).build(change, agreed)
    return staged


class Plan(Enum):
    """What a change does to the plugins of an installation."""

    NOTHING = "nothing"
    ADD = "added"
    UPDATE = "updated"
    RESTORE = "restored"


def plan_of(entry: Entry, registry: Registry, plugins_dir: str) -> Plan:
    """Return what making the version of `entry` the current one changes."""
    former = registry.entries.get(entry.name)
    if former is None:
        return Plan.ADD
    if not make_source(former).is_present(plugins_dir):
        return Plan.RESTORE
    recorded = (*former.source_and_ref, former.version_dir)
    is_recorded = recorded == (*entry.source_and_ref, entry.version_dir)
    return Plan.NOTHING if is_recorded else Plan.UPDATE


def install(
    entry: Entry, change: Change, *, new: bool = False, team: bool = False
) -> Plan:
    """Make the staged version of a plugin the current one; return what that changed.

    A new version is only a directory, which is complete before the link leads to it.

    With `team`, the entry goes into the registry that a team shares. Nothing changes if another
    process has just installed the same version. Raises PluginError if the name of a `new` plugin is
    taken. The caller has called `check_collisions`.
    """
    source = make_source(entry)
    with locked_registry(change) as locked:
        registry = locked.registry
        plan = plan_of(entry, registry, change.plugins_dir)
        if plan is Plan.NOTHING:
            return plan

        if new:
            check_new_name(entry, registry.entries)
            path = os.path.join(change.plugins_dir, entry.name)
            if os.path.lexists(path):
                raise PluginError(
                    f"{path} already exists", f"remove that path{source.name_hint}"
                )
        former = registry.entries.get(entry.name)
        enabled = former.enabled if former else entry.enabled
        entry = entry.replaced(installedAt=now(), enabled=enabled)
        if entry.version_dir:
            entry = entry.replaced(versions=_versions_to_keep(entry, former))
        _keep(change, entry, locked.undo)
        source.activate(change, locked.undo)
        if team or not (former and _restores(former, entry)):
            # The link to a user's directory gets its name later.
            link = os.path.join(change.plugins_dir, entry.name)
            root = entry.source if entry.is_users_directory else link
            words = source.contents(root).first_words
            registry.put(entry.replaced(words=words), team=team)
        # cli.lock needs no step here: the next run sees that `plugins/` has changed and builds it.
        done = locked.commit()

    if problem := done.unremoved.get(entry.name):
        change.session.messages.warn(str(problem))
    return plan


def _keep(change: Change, entry: Entry, undo: ExitStack) -> None:
    """Move the staged version, if any, into `.versions`, with a file that contains its entry."""
    if change.has_staged_version:
        store = store_of(change.plugins_dir, entry.name)
        staged = os.path.dirname(change.files)
        os.chmod(staged, mode_below(change.plugins_dir))
        write_file(
            os.path.join(staged, ENTRY_FILE), json.dumps(entry.fields(), indent=2)
        )
        make_directory(store.directory)
        store.commit(staged, entry.version_dir, undo)


def _restores(recorded: Entry, entry: Entry) -> bool:
    """Return whether only files were missing, so that the recorded entry is still right."""
    local = ("installedAt", "python", "words")
    return all(
        value == getattr(recorded, key)
        for key, value in entry.values().items()
        if key not in local
    )


def _versions_to_keep(entry: Entry, former: Entry | None) -> tuple[str, ...]:
    """Return the version directories to keep, oldest first: the new one and the latest old ones."""
    known = (*former.versions, former.version_dir) if former else ()
    versions = list(dict.fromkeys((*known, entry.version_dir)))
    earlier = [
        version for version in versions if version not in ("", entry.version_dir)
    ]
    kept = {*earlier[-_EARLIER_VERSIONS:], entry.version_dir}
    return tuple(version for version in versions if version in kept)


def remove(entry: Entry, change: Change) -> Reconciled:
    """Remove a plugin; return what was done with its files.

    Raises PluginError if a team shares the plugin.
    """
    if change.registry.is_shared(entry.name):
        what = f"{entry.name}: your team's registry.json lists it"
        raise PluginError(
            what, "disable the plugin, or remove it from registry.json for everybody"
        )
    with locked_registry(change) as locked:
        set_aside(change.plugins_dir, entry.name, locked.undo)
        locked.registry.drop(entry.name)
        return locked.commit()


def change_each(
    session: Session, plugins: Sequence[Entry], action: Callable[[Entry], object]
) -> list[str]:
    """Change plugins in turn; return the names of those that could not be changed.

    If one of several changes fails, its error is printed and the next plugin is changed; if there
    is only one plugin, its error is raised.
    """
    failed = []
    for entry in plugins:
        try:
            action(entry)
        except HostError as error:
            if len(plugins) == 1:
                raise
            failed.append(entry.name)
            session.messages.error(f"{entry.name}: {error}")
    return failed
