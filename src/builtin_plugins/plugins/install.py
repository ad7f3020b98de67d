"""Installing and removing plugins of every kind."""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from enum import Enum
from typing import NamedTuple

from builtin_plugins.library.files.atomic import make_directory, mode_below, write_file
from builtin_plugins.plugins.change import (
    Change,
    LockedRegistry,
    locked_registry,
)
from builtin_plugins.plugins.collisions import (
    check_collisions,
    check_declared_commands,
)
from builtin_plugins.plugins.reconcile import Reconciled, now, set_aside
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins_folder.directory import ENTRY_FILE, store_of
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import Registry
from builtin_plugins.plugins_folder.version import PluginVersion
from builtin_plugins.self_commands.questions import ask_to_continue
from host import HostError, OperationError, PluginError
from host.pages.session import Session

_EARLIER_VERSIONS = 3  # number of versions kept besides the current one


class Choices(NamedTuple):
    """What the user decided before a change.

    yes       do not ask
    force     add a command even if an existing one of these words runs instead; only `add` can be
              refused, because a plugin that is listed or installed already must stay usable
    dry_run   only show what would change
    team      record the plugin in the registry that a team shares
    """

    yes: bool
    force: bool
    dry_run: bool = False
    team: bool = False


def ensure_built(staged: PluginVersion, change: Change, *, yes: bool) -> PluginVersion:
    """Return the staged version; build what has no wheel after the user agrees.

    Raises OperationError if the user does not agree, or if nobody can be asked.
    """
    session = change.session
    agreed: list[str] = []
    # A build shows what the package requires, and some of that may have no wheel either.
    while staged.unbuilt:
        session.show_lines(
            f"{unbuilt_text(staged)}: no wheel; building one runs the package's own code, and "
            "the new commands are shown after the build"
        )

        otherwise = "nothing was changed"
        ask_to_continue(session, "Build it?", yes, otherwise, required=True)
        agreed += staged.unbuilt
        staged = make_source(staged.entry).build(change, agreed)
    return staged


def unbuilt_text(staged: PluginVersion) -> str:
    """Return the names and versions of the packages that must be built."""
    packages = [f"{name} {version}" for name, version in staged.unbuilt.items()]
    return " and ".join(packages)


def install_staged(
    staged: PluginVersion,
    change: Change,
    choices: Choices,
    show: Callable[[PluginVersion], object],
    question: str = "",
) -> bool:
    """Show a staged version, check its commands, ask, and make it the current one.

    `show` gets the version. Without a `question`, nobody is asked. Returns False if nothing
    changed: only the preview was to be made, or another process has just installed this version.
    """
    show(staged)
    check_collisions(staged, change, force=choices.force)
    if choices.dry_run:
        return False

    if question:
        otherwise = "nothing was changed"
        if _is_new(staged.entry, change):
            otherwise = "nothing was added"
        ask_to_continue(change.session, question, choices.yes, otherwise)
    # This runs the code of a package, so it comes after the question.
    check_declared_commands(staged, change, force=choices.force)
    return install(staged.entry, change, team=choices.team)


def has_version(entry: Entry, registry: Registry, plugins_dir: str) -> bool:
    """Return whether the version that `entry` names is recorded and current, and its files work."""
    recorded = registry.entries.get(entry.name)
    if recorded is None:
        return False
    if recorded.version_dir != entry.version_dir:
        return False
    return make_source(recorded).is_present(plugins_dir)


class Step(Enum):
    """What a change has to do so that an entry's version is the current one."""

    INSTALL = "install the version"
    RECORD = "write the entry into the registry; the version is the current one"
    NOTHING = "nothing"


def next_step(
    entry: Entry, registry: Registry, plugins_dir: str, *, team: bool = False
) -> Step:
    """Return what is to be done for `entry`, whether or not its version has been fetched.

    The user may have chosen other words for the commands of an installed version (`scripts`), or
    other folders for PATH (`path`): these are only recorded. With `team`, the entry is always
    recorded, because it may be in the personal registry only.
    """
    if not has_version(entry, registry, plugins_dir):
        return Step.INSTALL

    recorded = registry.entries[entry.name]
    if recorded.source_and_ref != entry.source_and_ref:
        return Step.INSTALL
    if team or has_other_choices(entry, recorded):
        return Step.RECORD
    return Step.NOTHING


def has_other_choices(entry: Entry, former: Entry) -> bool:
    """Return whether the user has chosen other command words or PATH folders than before."""
    return (entry.scripts, entry.path) != (former.scripts, former.path)


def install(entry: Entry, change: Change, *, team: bool = False) -> bool:
    """Make the staged or kept version of a plugin the current one, or record its new entry.

    A new version is only a directory, which is complete before the link leads to it.

    With `team`, the entry goes into the registry that a team shares. Returns False, and changes
    nothing, if another process has just installed the same version. Raises PluginError if the name
    of a new plugin is invalid or taken, and OperationError if a kept version has just been removed.
    The caller has called `check_collisions`.
    """
    with locked_registry(change) as locked:
        step = next_step(entry, locked.registry, change.plugins_dir, team=team)
        if step is Step.NOTHING:
            return False

        if step is Step.RECORD:
            _record(entry, change, locked, team=team)
        else:
            _activate(entry, change, locked, team=team)
        # cli.lock needs no step here: the next run sees that `plugins/` has changed and builds it.
        reconciled = locked.save()

    problem = reconciled.unremoved.get(entry.name)
    if problem is not None:
        change.messages.warn(str(problem))
    return True


def _record(
    entry: Entry, change: Change, locked: LockedRegistry, *, team: bool
) -> None:
    """Replace the entry of an installed version; the version stays as it is."""
    former = locked.registry.entries[entry.name]
    root = os.path.join(change.plugins_dir, entry.name)
    entry = entry.replaced(
        installedAt=former.installedAt,
        enabled=former.enabled,
        versions=former.versions,
        words=make_source(entry).contents(root).first_words,
    )

    # A rollback to this version takes the entry that is beside its files.
    if entry.version_dir and has_other_choices(entry, former):
        version = store_of(change.plugins_dir, entry.name).path(entry.version_dir)
        _write_entry(entry, version)
        locked.undo.callback(_write_entry, former, version)

    locked.registry.put(entry, team=team)


def _activate(
    entry: Entry, change: Change, locked: LockedRegistry, *, team: bool
) -> None:
    """Store the staged version, if any; point the link to the version, and record it."""
    registry = locked.registry
    if _is_new(entry, change):
        _check_new_name(entry, registry, change.plugins_dir)
    former = registry.entries.get(entry.name)
    if former:
        entry = entry.replaced(enabled=former.enabled)
    entry = entry.replaced(installedAt=now())
    if entry.version_dir:
        entry = entry.replaced(versions=_versions_to_keep(entry, former))

    # The registry comes last: until then, the old state is the right one.
    if change.has_staged_version:
        _store_staged(change, entry, locked.undo)
    else:
        _check_kept(entry, change.plugins_dir)
    source = make_source(entry)
    source.activate(change, locked.undo)

    if team or not _restores(former, entry):
        # The link to a user's directory gets its name later.
        root = os.path.join(change.plugins_dir, entry.name)
        if entry.is_users_directory:
            root = entry.source
        words = source.contents(root).first_words
        registry.put(entry.replaced(words=words), team=team)


def _is_new(entry: Entry, change: Change) -> bool:
    """Return whether there was no plugin of this name when the change began."""
    return entry.name not in change.registry.entries


def _check_new_name(entry: Entry, registry: Registry, plugins_dir: str) -> None:
    """Raise PluginError if the name of a new plugin is taken."""
    hint = make_source(entry).name_hint
    if entry.name in registry.entries:
        raise PluginError(f"{entry.name} is already the name of another plugin{hint}")

    path = os.path.join(plugins_dir, entry.name)
    if os.path.lexists(path):
        raise PluginError(f"{path} already exists", f"remove that path{hint}")


def _check_kept(entry: Entry, plugins_dir: str) -> None:
    """Raise OperationError if another process has removed a kept version since it was read."""
    if not entry.version_dir:
        return
    store = store_of(plugins_dir, entry.name)
    if entry.version_dir not in store.versions():
        what = f"{entry.name}: another process has removed this version"
        raise OperationError(what, "run the command again")


def _store_staged(change: Change, entry: Entry, undo: ExitStack) -> None:
    """Move the staged version into `.versions`, with a file that contains its entry."""
    staged = os.path.dirname(change.files)
    os.chmod(staged, mode_below(change.plugins_dir))
    _write_entry(entry, staged)

    store = store_of(change.plugins_dir, entry.name)
    make_directory(store.directory)
    store.add(staged, entry.version_dir, undo)


def _write_entry(entry: Entry, version: str) -> None:
    """Write the file with its entry into the directory of a version."""
    content = json.dumps(entry.fields(), indent=2)
    write_file(os.path.join(version, ENTRY_FILE), content)


def _restores(recorded: Entry | None, entry: Entry) -> bool:
    """Return whether only files were missing, so that the recorded entry is still right."""
    if recorded is None:
        return False
    # These values differ between machines, and change with each installation.
    restored = entry.replaced(
        installedAt=recorded.installedAt,
        python=recorded.python,
        words=recorded.words,
    )
    return restored == recorded


def _versions_to_keep(entry: Entry, former: Entry | None) -> tuple[str, ...]:
    """Return the version directories to keep, oldest first: the new one and the latest old ones."""
    versions: list[str] = []
    if former:
        versions += former.versions
        if former.version_dir not in ("", *versions):
            versions.append(former.version_dir)
    # A version that becomes current again keeps its place.
    if entry.version_dir not in versions:
        versions.append(entry.version_dir)

    earlier = [version for version in versions if version != entry.version_dir]
    for version in earlier[:-_EARLIER_VERSIONS]:
        versions.remove(version)
    return tuple(versions)


def remove(entry: Entry, change: Change) -> Reconciled:
    """Remove a plugin; return what was done with its files.

    Raises PluginError if a team shares the plugin.
    """
    if change.registry.is_shared(entry.name):
        what = f"{entry.name}: your team's registry.json lists it"
        remedy = "disable the plugin, or remove it from registry.json for everybody"
        raise PluginError(what, remedy)

    with locked_registry(change) as locked:
        set_aside(change.plugins_dir, entry.name, locked.undo)
        locked.registry.drop(entry.name)
        return locked.save()


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
