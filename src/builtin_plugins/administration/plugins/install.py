"""Installing and removing plugins of every kind."""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from builtin_plugins.administration.plugins.change import (
    Change,
    locked_registry,
)
from builtin_plugins.administration.plugins.collisions import (
    check_collisions,
    check_declared_commands,
)
from builtin_plugins.administration.plugins.reconcile import Reconciled, now, set_aside
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.questions import ask_to_continue
from builtin_plugins.io.files.atomic import make_directory, mode_below, write_file
from builtin_plugins.plugins_folder.directory import ENTRY_FILE, store_of
from builtin_plugins.plugins_folder.entry import Entry
from builtin_plugins.plugins_folder.registry import Registry
from builtin_plugins.plugins_folder.version import PluginVersion
from host import HostError, PluginError
from host.cli.session import Session

_EARLIER_VERSIONS = 3  # number of versions kept besides the current one


class Choices(NamedTuple):
    """What the user decided before a change.

    yes       do not ask
    force     add a command even if an existing one of these words runs instead
    dry_run   only show what would change
    team      record the plugin in the registry that a team shares
    """

    yes: bool = False
    force: bool = True
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
    """Return whether the version that `entry` records is the current one, and its files work."""
    recorded = registry.entries.get(entry.name)
    if recorded is None or recorded.version_dir != entry.version_dir:
        return False
    return make_source(recorded).is_present(plugins_dir)


def is_installed(entry: Entry, registry: Registry, plugins_dir: str) -> bool:
    """Return whether `entry` has nothing new: neither another version nor another source or ref."""
    if not has_version(entry, registry, plugins_dir):
        return False
    return registry.entries[entry.name].source_and_ref == entry.source_and_ref


def install(entry: Entry, change: Change, *, team: bool = False) -> bool:
    """Make the staged or kept version of a plugin the current one.

    A new version is only a directory, which is complete before the link leads to it.

    With `team`, the entry goes into the registry that a team shares. Returns False, and changes
    nothing, if another process has just installed the same version. Raises PluginError if the name
    of a new plugin is invalid or taken. The caller has called `check_collisions`.
    """
    source = make_source(entry)
    with locked_registry(change) as locked:
        registry = locked.registry
        if is_installed(entry, registry, change.plugins_dir):
            return False

        if _is_new(entry, change):
            _check_new_name(entry, registry, change.plugins_dir)
        former = registry.entries.get(entry.name)
        enabled = former.enabled if former else entry.enabled
        entry = entry.replaced(installedAt=now(), enabled=enabled)
        if entry.version_dir:
            entry = entry.replaced(versions=_versions_to_keep(entry, former))

        # The registry comes last: until then, the old state is the right one.
        _keep(change, entry, locked.undo)
        source.activate(change, locked.undo)
        is_restored = former is not None and _restores(former, entry)
        if team or not is_restored:
            # The link to a user's directory gets its name later.
            root = os.path.join(change.plugins_dir, entry.name)
            if entry.is_users_directory:
                root = entry.source
            words = source.contents(root).first_words
            registry.put(entry.replaced(words=words), team=team)
        # cli.lock needs no step here: the next run sees that `plugins/` has changed and builds it.
        reconciled = locked.commit()

    problem = reconciled.unremoved.get(entry.name)
    if problem is not None:
        change.messages.warn(str(problem))
    return True


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


def _keep(change: Change, entry: Entry, undo: ExitStack) -> None:
    """Move the staged version, if any, into `.versions`, with a file that contains its entry."""
    if not change.has_staged_version:
        return
    staged = os.path.dirname(change.files)
    os.chmod(staged, mode_below(change.plugins_dir))
    content = json.dumps(entry.fields(), indent=2)
    write_file(os.path.join(staged, ENTRY_FILE), content)

    store = store_of(change.plugins_dir, entry.name)
    make_directory(store.directory)
    store.commit(staged, entry.version_dir, undo)


def _restores(recorded: Entry, entry: Entry) -> bool:
    """Return whether only files were missing, so that the recorded entry is still right."""
    # These values differ between machines, and change with each installation.
    local = {key: getattr(recorded, key) for key in ("installedAt", "python", "words")}
    return entry.replaced(**local) == recorded


def _versions_to_keep(entry: Entry, former: Entry | None) -> tuple[str, ...]:
    """Return the version directories to keep, oldest first: the new one and the latest old ones."""
    versions = [entry.version_dir]
    if former:
        versions = [*former.versions, former.version_dir, entry.version_dir]
    # A version that becomes current again keeps its place.
    versions = list(dict.fromkeys(filter(None, versions)))
    earlier = [version for version in versions if version != entry.version_dir]
    keep = {*earlier[-_EARLIER_VERSIONS:], entry.version_dir}
    return tuple(version for version in versions if version in keep)


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
