"""`self plugin enable` and `self plugin disable`."""

from builtin_plugins.plugins.collisions import (
    check_collisions,
    check_declared_commands,
)
from builtin_plugins.plugins.inventory import named_plugin
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.plugins.transaction import Transaction, begin
from builtin_plugins.registry.entry import Entry
from builtin_plugins.self_commands.decorator import PLUGIN, self_command
from host.session.session import Session


@self_command(
    "plugin enable",
    "Enable a plugin",
    PLUGIN,
)
def plugin_enable(session: Session, name: str) -> None:
    """Enable the plugin NAME."""
    _switch(session, name, on=True)


@self_command(
    "plugin disable",
    "Disable a plugin, but keep its files",
    PLUGIN,
)
def plugin_disable(session: Session, name: str) -> None:
    """Disable the plugin NAME: its files stay, but its Python code is not imported."""
    _switch(session, name, on=False)


def _switch(session: Session, name: str, *, on: bool) -> None:
    with begin(session) as transaction:
        entry = named_plugin(session, name).entry
        if on and not entry.enabled:
            _check_commands(entry.replaced(enabled=True), transaction)
        is_change = transaction.switch(entry, on=on)

    state = "enabled" if on else "disabled"
    line = f"{entry.name} is {state}"
    if not is_change:
        line += " already"
    session.show_lines(line)


def _check_commands(entry: Entry, transaction: Transaction) -> None:
    """Raise PluginError if a plugin would replace a command that was added while it was off."""
    plugins_dir = transaction.plugins_dir
    version = make_source(entry).current_version(plugins_dir)
    change = transaction.stage()
    check_collisions(version, change, force=True)
    root = entry.root(plugins_dir)
    check_declared_commands(version, change, force=True, root=root)
