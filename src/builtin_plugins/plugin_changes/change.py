"""How plugins are changed: set up, build, put in place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from builtin_plugins.asking import confirmed
from builtin_plugins.fetch.progress import Reporter
from builtin_plugins.fetch.timeout import USUAL_SECONDS
from builtin_plugins.plugin_changes.kinds.kind import Staged, Work, kind_of
from builtin_plugins.plugin_changes.staging import changing, staging, trimmed
from builtin_plugins.plugin_directories.directory import STAGING
from builtin_plugins.plugin_directories.registry import (
    FRAMEWORK_WORDS,
    Entry,
    Registry,
    is_plugin_name,
)
from builtin_plugins.plugin_directories.repair import now
from builtin_plugins.venv.copy import drop_abandoned_copy
from host import HostError, OperationError, PluginError
from host.cli.session import Session

Change = Callable[[Entry, Entry | None], object]


@contextmanager
def working(session: Session, seconds: float = USUAL_SECONDS) -> Iterator[Work]:
    """Give what a change works with; whatever the disk refuses becomes an OperationError."""
    plugins_dir = session.installation.plugins_dir
    messages = session.messages
    reporter = Reporter(messages.program, False, messages.debugging, session.environ)
    drop_abandoned_copy()
    try:
        with staging(plugins_dir, messages.line) as stage, ExitStack() as exits:
            yield Work(stage, session.environ, reporter, seconds, exits)
    except OSError as failure:
        where = os.fsdecode(failure.filename or plugins_dir)
        if where.startswith(os.path.join(plugins_dir, STAGING)):
            where = plugins_dir  # what was staged is gone
        raise OperationError(f"{where}: {failure.strerror}; nothing was changed") from None


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
    from builtin_plugins.plugin_changes.kinds.pip import build_wheel

    entry = staged.entry
    session.show_lines(
        f"{entry.name} {entry.version} has no wheel; what it adds shows when it is built, which "
        "runs code of its own"
    )
    if not confirmed("Build it?", yes):
        raise OperationError("nothing was changed")
    return build_wheel(staged, work)


def put(
    session: Session, entry: Entry, former: Entry | None, work: Work, *, force: bool = True
) -> Entry:
    """Make the staged version of a plugin the one that is on; return the entry as recorded.

    `former` is the entry that the change started from, None for a new plugin. A package is
    asked first, in a copy of the environment, what it declares. Raises HostError where it
    breaks this program, takes words of others, or another process changed the plugin meanwhile.
    """
    kind = kind_of(entry.kind)
    kind.install(session, entry, work, force=force)
    plugins_dir = work.stage.plugins_dir
    with changing(work.stage) as (registry, undo):
        if former is None:
            check_new_name(entry, registry.entries)
            place = os.path.join(plugins_dir, entry.name)
            if os.path.lexists(place):
                raise PluginError(f"{place} is in the way", f"remove it{or_name(entry)}")
        else:
            entry = _unchanged(entry, former, registry)
        entry = entry.replaced(installed_at=now())
        if entry.label:
            entry = entry.replaced(versions=trimmed(entry, former))
        kind.put(entry, work, undo)
        registry.put(entry)
    return entry


def _unchanged(entry: Entry, former: Entry, registry: Registry) -> Entry:
    """Return `entry` as it goes on from `former`; raises PluginError when that is not there now."""
    there = registry.entries.get(entry.name)
    if there is None:
        raise PluginError(f"{entry.name} was removed meanwhile; nothing was changed")
    if there != former.replaced(enabled=there.enabled):
        raise PluginError(f"{entry.name} was changed by somebody else meanwhile", "try again")
    # Switched on or off meanwhile, which stays.
    return entry if there == former else entry.replaced(enabled=there.enabled)


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
