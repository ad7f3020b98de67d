"""Checks of plugins and of what the program records about them."""

import os
import shlex
from collections.abc import Iterator
from functools import partial

from builtin_plugins.diagnosis.doctor.subject import Subject, finding
from builtin_plugins.library.files.atomic import remove_path
from builtin_plugins.library.versioned_directory import abandoned
from builtin_plugins.plugins.commands.sync import fetch_plugins, install_plugins
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins.transaction import begin
from builtin_plugins.program.shipped_files import has_repository
from builtin_plugins.registry.directory import (
    ENTRY_FILE,
    read_kept_entry,
    store_of,
)
from builtin_plugins.registry.entry import VERSIONS, Entry
from builtin_plugins.self_commands.findings import Finding
from builtin_plugins.setup.hooks import ENTRYPOINT, tool_settings_of
from builtin_plugins.team.sync import restore_lost_files
from host import HostError
from host.projects.trust import read_trusted, trusted_file
from host.session.session import Session


def plugins(subject: Subject) -> Iterator[Finding]:
    """Yield the plugins that are broken or whose files are missing."""
    unusable: dict[str, Entry] = {}
    for entry in subject.registry.entries.values():
        if not entry.enabled:
            continue
        if not make_source(entry).is_present(subject.plugins_dir):
            unusable[entry.name] = entry

    for plugin in subject.lock.plugins.values():
        if not plugin.broken:
            continue
        if not plugin.name:  # the registry cannot be read
            restore = None
            if has_repository(subject.layout.root):
                restore = partial(restore_lost_files, subject.session)
            yield finding(plugin.broken, "fix this file", restore)
        # Each plugin has one finding; those about the unusable ones follow.
        elif plugin.name not in unusable:
            text = f"plugin {plugin.full_name} is broken: {plugin.broken}"
            disable = f"{subject.call} self plugin disable {plugin.name}"
            yield finding(text, f"fix the plugin, or: {disable}")

    for entry in unusable.values():
        yield _unusable(subject, entry)


def _unusable(subject: Subject, entry: Entry) -> Finding:
    """Return the finding about a plugin whose current version cannot be used."""
    call = f"{subject.call} self plugin"
    text = f"the files of plugin {entry.name} are missing"
    known = subject.lock.plugins.get(entry.name)
    if known and not known.missing:
        text = f"plugin {entry.name} is broken: {known.broken}"

    # Only the user has the files of a linked directory.
    if entry.is_linked:
        return finding(text, f"put them back, or: {call} remove {entry.name}")

    fix = partial(_sync, subject.session, entry)
    return finding(text, f"{call} sync, or: {call} remove {entry.name}", fix)


def _sync(session: Session, entry: Entry) -> None:
    with begin(session) as transaction:
        fetched = fetch_plugins(transaction, [entry], shows=False)
        install_plugins(transaction, fetched, yes=False)


def _tidy(session: Session) -> None:
    with begin(session):
        pass  # the end of each change removes what interrupted ones left


def records(subject: Subject) -> Iterator[Finding]:
    """Yield the damaged files in which the program records trust and versions."""
    try:
        read_trusted(subject.environ)
    except HostError as error:
        path = trusted_file(subject.environ)
        remedy = error.remedy or f"rm {shlex.quote(path)}"
        yield finding(error.what, remedy)

    for entry in subject.registry.entries.values():
        yield from _damaged_versions(subject, entry)


def _damaged_versions(subject: Subject, entry: Entry) -> Iterator[Finding]:
    """Yield the current version of a plugin if it lacks its record of the registry's entry."""
    store = store_of(subject.plugins_dir, entry.name)
    path = store.path(entry.version_dir)
    if not entry.version_dir or not os.path.isdir(path):
        return
    if read_kept_entry(path) is None:
        remedy = f"rm -r {shlex.quote(path)} && {subject.call} self plugin sync"
        yield finding(f"{path}/{ENTRY_FILE}: is damaged or missing", remedy)


def leftovers(subject: Subject) -> Iterator[Finding]:
    """Yield the leftovers of interrupted changes, but nothing that a running change uses."""
    if abandoned(os.path.join(subject.plugins_dir, VERSIONS)):
        yield finding(
            f"{subject.plugins_dir}: a change to the plugins was interrupted",
            f"{subject.call} self plugin update",
            partial(_tidy, subject.session),
        )

    for command in subject.commands:
        if command.definition.entrypoint != ENTRYPOINT:
            continue

        settings = tool_settings_of(command, subject.environ)
        for path in abandoned(settings.paths.install_dir):
            yield finding(
                f"{path} is left over from an interrupted change",
                f"rm -r {shlex.quote(path)}",
                partial(remove_path, path),
            )
