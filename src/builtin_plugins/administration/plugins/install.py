"""How plugins are changed: fetched, built, put in place, taken away."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack

from builtin_plugins.administration.plugins.sources import archive, git, local, pip
from builtin_plugins.administration.plugins.sources.parse import Origin
from builtin_plugins.administration.plugins.sources.staged import Staged
from builtin_plugins.administration.plugins.transaction import Work, changing, keep
from builtin_plugins.administration.program.environment.copy import VenvCopy
from builtin_plugins.administration.program.environment.distributions import (
    installed_commit,
    installed_version,
)
from builtin_plugins.administration.questions import confirm
from builtin_plugins.io.files.atomic import discard, write_link
from builtin_plugins.plugins_folder.directory import kept_label
from builtin_plugins.plugins_folder.registry import (
    FRAMEWORK_WORDS,
    Entry,
    Registry,
    is_plugin_name,
)
from builtin_plugins.plugins_folder.repair import (
    check_gone,
    mark_uninstalled,
    now,
    relink,
    set_aside,
)
from host import HostError, OperationError, PluginError
from host.cli.session import Session

Change = Callable[[Entry, Entry | None], object]

_EARLIER_VERSIONS = 3  # that are kept beside the one that is on
_KINDS: dict[str, Callable[[Origin, Work], Staged]] = {
    "archive": archive.fetch,
    "git": git.fetch,
    "local": local.fetch,
    "pip": pip.fetch,
}


def fetch(origin: Origin, work: Work) -> Staged:
    """Stage the version that `origin` names."""
    return _KINDS[origin.wanted.kind](origin, work)


def is_here(plugins_dir: str, entry: Entry) -> bool:
    """Tell whether the version that an entry records is the one that is on here."""
    if entry.kind == "pip":
        there = installed_version(entry.name)
        is_version = there is not None and there == (entry.version or there)
        return is_version and entry.commit in ("", installed_commit(entry.name))
    is_on = not entry.managed or kept_label(plugins_dir, entry.name) == entry.label
    return is_on and os.path.isdir(os.path.join(plugins_dir, entry.name))


def check_new_name(entry: Entry, entries: Iterable[str]) -> None:
    """Raise PluginError when a new plugin cannot have its name."""
    name = entry.name
    if name in FRAMEWORK_WORDS:
        raise PluginError(f"{name} is a word of this program itself{or_name(entry)}")
    if not is_plugin_name(name):
        given = " with a-z, 0-9 and ._-" if or_name(entry) else ""
        raise PluginError(f"{name!r} cannot name a plugin{or_name(entry)}{given}")
    if name in entries:
        raise PluginError(f"{name} is the name of another plugin{or_name(entry)}")


def or_name(entry: Entry) -> str:
    """Return what to add to a complaint about a name: a distribution cannot have another."""
    return "" if entry.kind == "pip" else "; or use --name"


def built(session: Session, staged: Staged, work: Work, *, yes: bool) -> Staged:
    """Return what is staged as a wheel; where it is to be built, only if the user agrees."""
    if not staged.unbuilt:
        return staged
    entry = staged.entry
    version = entry.version or f"at commit {entry.commit[:12]}"
    session.show_lines(
        f"{entry.name} {version} has no wheel. Building one runs the package's own code; what the "
        "package adds is shown after that"
    )
    confirm("Build it?", yes, "nothing was changed")
    return pip.build_wheel(staged, work)


def put(
    session: Session, entry: Entry, former: Entry | None, work: Work, *, force: bool = True
) -> bool:
    """Make the staged version of a plugin the one that is on.

    Returns False, and changes nothing, if another process has just added the same version.

    `former` is the entry that the change started from, None for a new plugin. A package is
    asked first, in a copy of the environment, what it declares. Raises HostError where it
    breaks this program, takes words of others, or another process changed the plugin meanwhile.
    """
    if entry.kind == "pip":  # takes long, so it is done before anybody holds the registry
        pip.install(session, entry, work, force=force)
    with changing(work) as (registry, undo):
        there = registry.entries.get(entry.name)
        if former is None and there and there.same_as(entry):
            return False
        if former is None:
            check_new_name(entry, registry.entries)
            place = os.path.join(work.plugins_dir, entry.name)
            if os.path.lexists(place):
                raise PluginError(f"{place} is in the way", f"remove it{or_name(entry)}")
        else:
            entry = _unchanged(entry, former, registry)
        entry = entry.replaced(installed_at=now())
        if entry.label:
            entry = entry.replaced(versions=_versions_to_keep(entry, former))
        _put_in_place(entry, work, undo)
        registry.put(entry)
    try:
        check_gone(work.plugins_dir, entry.name)
    except OperationError as error:  # a former version, which stops nobody
        session.messages.warn(str(error))
    return True


def _unchanged(entry: Entry, former: Entry, registry: Registry) -> Entry:
    """Return `entry` as it goes on from `former`; raises PluginError when that is not there now."""
    there = registry.entries.get(entry.name)
    if there is None:
        raise PluginError(f"{entry.name} was removed meanwhile; nothing was changed")
    if there != former.replaced(enabled=there.enabled):
        raise PluginError(f"{entry.name} was changed by somebody else meanwhile", "try again")
    # Switched on or off meanwhile, which stays.
    return entry if there == former else entry.replaced(enabled=there.enabled)


def _versions_to_keep(entry: Entry, former: Entry | None) -> tuple[str, ...]:
    """Return the labels to keep, oldest first: the new one and the latest others."""
    known = (*former.versions, former.label) if former else ()
    labels = list(dict.fromkeys(one for one in (*known, entry.label) if one))
    others = [one for one in labels if one != entry.label][-_EARLIER_VERSIONS:]
    return tuple(one for one in labels if one in (*others, entry.label))


def _put_in_place(entry: Entry, work: Work, undo: ExitStack) -> None:
    if entry.kind != "local":
        keep(work, entry)
    if entry.kind == "pip":
        VenvCopy().swap(undo)
        return
    place = os.path.join(work.plugins_dir, entry.name)
    if os.path.islink(place):
        undo.callback(write_link, place, os.readlink(place))
    elif not os.path.lexists(place):
        undo.callback(discard, place)
    if entry.kind == "local":
        write_link(place, entry.source)
    else:
        relink(work.plugins_dir, entry)


def remove(entry: Entry, work: Work) -> str:
    """Take a plugin away; return where its only copy is kept, "" when there is another."""
    # First, as who adds a package holds the environment first, too.
    copy = pip.uninstall(entry, work) if entry.kind == "pip" else None
    with changing(work) as (registry, undo):
        kept = ""
        if entry.kind != "pip":
            kept = set_aside(work.plugins_dir, entry.name, undo)
        elif copy:
            mark_uninstalled(work.plugins_dir, entry.name, undo)
            copy.swap(undo)
        registry.drop(entry.name)
    return kept


def each(
    session: Session, plugins: Sequence[tuple[Entry, Entry | None]], change: Change
) -> list[str]:
    """Change plugins one after the other; return the names of those that could not be changed.

    `change` gets a plugin and its entry in the registry. The failure of one of several is
    told, that of a single one raised.
    """
    failed = []
    for entry, former in plugins:
        try:
            change(entry, former)
        except HostError as error:
            if len(plugins) == 1:
                raise
            failed.append(entry.name)
            session.messages.error(f"{entry.name}: {error}")
    return failed
