"""`self plugin rollback`."""

from __future__ import annotations

import os

import click

from builtin_plugins.fetch.timeout import SECONDS
from builtin_plugins.plugin_changes.change import put, working
from builtin_plugins.plugin_commands.inventory import find_row, inventory
from builtin_plugins.plugin_commands.show import unknown_plugin
from builtin_plugins.plugin_commands.wording import version_text
from builtin_plugins.plugin_directories.directory import VERSIONS
from builtin_plugins.plugin_directories.registry import (
    Entry,
    read_entry,
    read_registry,
    registry_path,
)
from builtin_plugins.plugin_directories.repair import RECORD
from host.cli.session import Session
from host.errors import DefinitionError, OperationError, PluginError
from host.run.json_files import read_json
from host.run.text import printable


@click.command
@click.argument("name")
@click.argument("version", required=False, default="")
@click.pass_obj
def command(session: Session, name: str, version: str) -> None:
    """Go back to an earlier VERSION of the plugin NAME, or to the one before.

    The last three are kept. VERSION is a version, or the beginning of a commit or
    checksum; `self plugin show NAME` names them.
    """
    row = find_row(inventory(session), name)
    if row is None:
        raise unknown_plugin(session, name)
    plugins_dir = session.places.plugins_dir
    entry = read_registry(registry_path(plugins_dir)).entries.get(row.entry.name, row.entry)
    kept = _kept(plugins_dir, entry)
    chosen = _chosen(entry, kept, version)
    target = chosen._replace(enabled=entry.enabled, source=entry.source, versions=entry.versions)
    with working(session, SECONDS) as work:
        if entry.kind == "pip":
            from builtin_plugins.plugin_changes.packages import install_checked

            install_checked(session, target, work)
        put(target, entry, work)
    session.show(f"{printable(entry.name)}: {version_text(entry)} → {version_text(target)}\n")


def _kept(plugins_dir: str, entry: Entry) -> list[Entry]:
    """Return the kept versions, oldest first, the current one among them."""
    found = []
    for label in entry.versions:
        path = os.path.join(plugins_dir, VERSIONS, entry.name, label, RECORD)
        try:
            kept = read_entry(read_json(path))
        except (FileNotFoundError, DefinitionError, PluginError, AttributeError):
            continue
        if kept.label == label and kept.kind == entry.kind:
            found.append(kept._replace(name=entry.name))
    return found


def _chosen(entry: Entry, kept: list[Entry], version: str) -> Entry:
    labels = [one.label for one in kept]
    if not version:
        at = labels.index(entry.label) if entry.label in labels else len(labels)
        if at == 0:
            raise OperationError(f"{entry.name}: no earlier version is kept")
        return kept[at - 1]
    for one in reversed(kept):
        if version in (one.version, one.label):
            return one
    for one in reversed(kept):
        if len(version) >= 4 and (one.commit.startswith(version) or one.sha256.startswith(version)):
            return one
    there = ", ".join(version_text(one) for one in kept) or "none"
    raise OperationError(f"{entry.name}: no version {version} is kept; there are: {there}")
