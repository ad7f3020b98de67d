"""`self plugin remove`."""

import os
import shlex

from builtin_plugins.library.files.atomic import is_real_dir
from builtin_plugins.plugins.inventory import KnownPlugin, named_plugin
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins.transaction import Transaction, begin
from builtin_plugins.registry.directory import store_of
from builtin_plugins.registry.entry import Entry, is_plugin_name
from builtin_plugins.self_commands.decorator import PLUGIN, YES, self_command
from host import PluginError, UsageError
from host.session.session import Session


@self_command(
    "plugin remove",
    "Remove a plugin",
    PLUGIN,
    YES,
    synonyms=("rm", "plugin rm", "plugin uninstall"),
)
def plugin_remove(session: Session, name: str, yes: bool) -> None:
    """Remove the plugin NAME, even if some of its files are missing.

    The files of a linked directory are never touched. A directory that you put into plugins/
    is yours: delete or move it yourself.
    """
    with begin(session) as transaction:
        entry = _to_remove(session, name).entry
        _check_removal(entry, transaction)
        session.ask_to_continue(f"Remove {entry.name}?", yes, "nothing was removed")
        transaction.remove(entry)

    session.show_lines(f"removed {entry.name}")
    if entry.dev and entry.source:
        session.show_lines(f"the plugin's files are untouched: {entry.source}")
    # The plugin is removed, but some of its files are left.
    if entry.name in transaction.unremoved:
        raise transaction.unremoved[entry.name]


def _check_removal(entry: Entry, transaction: Transaction) -> None:
    """Raise PluginError if a plugin is not the program's to remove."""
    make_source(entry).check_change("remove")
    if transaction.registry.is_shared(entry.name):
        what = f"{entry.name}: your team's registry.json lists it"
        remedy = "disable the plugin, or remove it from registry.json for everybody"
        raise PluginError(what, remedy)

    if not entry.is_users_directory or entry.source:
        return
    root = entry.root(transaction.plugins_dir)
    if is_real_dir(root):
        program = transaction.session.program
        what = f"{entry.name}: {root} is your own directory"
        disable = f"{program} self plugin disable {entry.name}"
        remedy = f"remove it with: rm -r {shlex.quote(root)}, or: {disable}"
        raise PluginError(what, remedy)


def _to_remove(session: Session, name: str) -> KnownPlugin:
    """Return the plugin of that name, even if only some of its files are left."""
    try:
        return named_plugin(session, name)
    except UsageError:
        if not is_plugin_name(name):
            raise

        store = store_of(session.installation.plugins_dir, name)
        if os.path.lexists(store.link) or os.path.lexists(store.directory):
            return KnownPlugin(Entry(name, "git"), "broken")
        raise
