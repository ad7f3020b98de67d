"""`self plugin remove`."""

import os

from builtin_plugins.plugins.change import begin_change
from builtin_plugins.plugins.install import remove
from builtin_plugins.plugins.inventory import KnownPlugin, named_plugin
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins_folder.directory import store_of
from builtin_plugins.plugins_folder.entry import Entry, is_plugin_name
from builtin_plugins.self_commands.declared import PLUGIN, YES, self_command
from builtin_plugins.self_commands.questions import ask_to_continue
from host import UsageError
from host.pages.session import Session


@self_command(
    "plugin remove",
    "Remove a plugin",
    PLUGIN,
    YES,
    synonyms=("rm", "plugin rm", "plugin uninstall"),
)
def plugin_remove(session: Session, name: str, yes: bool) -> None:
    """Remove the plugin NAME, even if some of its files are missing.

    The files of a linked plugin are never touched. A directory that was dropped into
    plugins/ is moved to plugins/.removed.
    """
    with begin_change(session) as change:
        plugin = _to_remove(session, name)
        entry = plugin.entry
        make_source(entry).check_change("remove")
        ask_to_continue(session, f"Remove {entry.name}?", yes, "nothing was removed")
        reconciled = remove(entry, change)

    session.show_lines(f"removed {entry.name}")
    if entry.dev and entry.source:
        session.show_lines(f"the plugin's files are untouched: {entry.source}")
    elif entry.name in reconciled.set_aside:
        kept = reconciled.set_aside[entry.name]
        session.show_lines(f"the plugin's files are kept: {kept}")
    # The plugin is removed, but some of its files are left.
    if entry.name in reconciled.unremoved:
        raise reconciled.unremoved[entry.name]


def _to_remove(session: Session, name: str) -> KnownPlugin:
    """Return the plugin of that name, even if only some of its files are left."""
    try:
        return named_plugin(session, name)
    except UsageError:
        if not is_plugin_name(name):
            raise

        store = store_of(session.installation.plugins_dir, name)
        if os.path.lexists(store.link) or os.path.lexists(store.directory):
            return KnownPlugin(Entry(name, "local"), "broken")
        raise
