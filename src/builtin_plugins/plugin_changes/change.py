"""What the commands that change plugins share: set-up, questions, words for the user."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

import click

from builtin_plugins.fetch.progress import Reporter
from builtin_plugins.plugin_changes.kinds.kind import Kind, Work
from builtin_plugins.plugin_changes.staging import changing, staging, trimmed
from builtin_plugins.plugin_directories.directory import STAGING
from builtin_plugins.plugin_directories.registry import FRAMEWORK_WORDS, Entry, is_plugin_name
from builtin_plugins.plugin_directories.repair import now
from builtin_plugins.venv.copy import drop_abandoned_copy
from host import OperationError, PluginError
from host.cli.session import Session


@contextmanager
def working(session: Session, seconds: float) -> Iterator[Work]:
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


def put(entry: Entry, former: Entry | None, work: Work) -> Entry:
    """Make the staged version of a plugin the one that is on; return the entry as recorded.

    `former` is the entry that the change started from, None for a new plugin. Raises
    PluginError when another process changed the plugin meanwhile.
    """
    plugins_dir = work.stage.plugins_dir
    with changing(work.stage) as (registry, undo):
        there = registry.entries.get(entry.name)
        if former is None:
            check_new_name(entry, registry.entries)
            _check_place(plugins_dir, entry)
        elif there is None:
            raise PluginError(f"{entry.name} was removed meanwhile; nothing was changed")
        elif there != former._replace(enabled=there.enabled):
            raise PluginError(f"{entry.name} was changed by somebody else meanwhile", "try again")
        elif there != former:  # switched on or off meanwhile, which stays
            entry = entry._replace(enabled=there.enabled)
        entry = entry._replace(installed_at=now())
        if entry.label:
            entry = entry._replace(versions=trimmed(entry, former))
        kind_of(entry.kind).put(entry, work, undo)
        registry.put(entry)
    return entry


def _check_place(plugins_dir: str, entry: Entry) -> None:
    place = os.path.join(plugins_dir, entry.name)
    if os.path.lexists(place):
        raise PluginError(f"{place} is in the way", f"remove it{or_name(entry)}")


def confirmed(question: str, yes: bool) -> bool:
    """Ask on a terminal; without one, or with --yes, the command itself is the answer."""
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    return click.confirm(question, err=True)


def kind_of(name: str) -> Kind:
    """Return the kind called so; only its module is imported."""
    if name == "git":
        from builtin_plugins.plugin_changes.kinds.git import GitKind

        return GitKind()
    if name == "archive":
        from builtin_plugins.plugin_changes.kinds.archive import ArchiveKind

        return ArchiveKind()
    if name == "pip":
        from builtin_plugins.plugin_changes.kinds.pip import PipKind

        return PipKind()
    from builtin_plugins.plugin_changes.kinds.local import LocalKind

    return LocalKind()
