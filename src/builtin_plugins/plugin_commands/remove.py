"""`self plugin remove`."""

from __future__ import annotations

import os

import click

from builtin_plugins.fetch.timeout import SECONDS
from builtin_plugins.files.atomic import undoing
from builtin_plugins.plugin_changes.change import confirmed, kind_of, working
from builtin_plugins.plugin_changes.kinds.kind import Work
from builtin_plugins.plugin_changes.staging import changing, set_aside
from builtin_plugins.plugin_commands.inventory import Row, find_row, inventory, unknown_plugin
from builtin_plugins.plugin_directories.directory import VERSIONS
from builtin_plugins.plugin_directories.registry import Entry, is_plugin_name
from host import OperationError
from host.cli.session import Session


@click.command
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def command(session: Session, name: str, yes: bool) -> None:
    """Remove the plugin NAME, also one that is only half there.

    A linked plugin's own files are never touched. A directory that was dropped into
    plugins/ is kept in plugins/.removed. A distribution is uninstalled with pip.
    """
    with working(session, SECONDS) as work:
        rows = inventory(session)
        row = find_row(rows, name)
        entry = row.entry if row else _half_there(session, rows, name)
        if entry.kind == "pip" and (row is None or row.state != "missing"):
            session.messages.line(f"this uninstalls the distribution {entry.name}")
        if not confirmed(f"Remove {entry.name}?", yes):
            raise OperationError("nothing was removed")
        kept = remove(entry, work)
    session.show_lines(f"removed {entry.name}")
    if entry.dev and entry.source:
        session.show_lines(f"its files are untouched: {entry.source}")
    elif kept:
        session.show_lines(f"its files are kept: {kept}")


def remove(entry: Entry, work: Work) -> str:
    """Take a plugin away; return where its only copy is kept, "" when there is another."""
    plugins_dir = work.stage.plugins_dir
    kind = kind_of(entry.kind)
    kept = ""
    with undoing() as whole:
        if entry.kind == "pip":  # who adds holds the environment before the registry; so does this
            kind.take(entry, work, whole)
        with changing(work.stage) as (registry, undo):
            place = os.path.join(plugins_dir, entry.name)
            if entry.kind == "local" and os.path.isdir(place) and not os.path.islink(place):
                kept = set_aside(plugins_dir, entry.name, undo)
            elif entry.kind != "pip":
                kind.take(entry, work, undo)
            registry.drop(entry.name)
    return kept


def _half_there(session: Session, rows: list[Row], name: str) -> Entry:
    """Return an entry for what is left of a plugin that nobody lists."""
    plugins_dir = session.installation.plugins_dir
    places = (os.path.join(plugins_dir, name), os.path.join(plugins_dir, VERSIONS, name))
    if is_plugin_name(name) and any(os.path.lexists(place) for place in places):
        return Entry(name, "local")
    raise unknown_plugin(session, rows, name)
