"""`self plugin enable` and `self plugin disable`."""

from builtin_plugins.plugins.inventory import named_plugin
from builtin_plugins.plugins.transaction import begin
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
        is_change = transaction.switch(entry, on=on)

    state = "enabled" if on else "disabled"
    line = f"{entry.name} is {state}"
    if not is_change:
        line += " already"
    session.show_lines(line)
