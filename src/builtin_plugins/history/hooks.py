"""The hook of the history: it declares the commands that show it."""

from collections.abc import Iterator

from builtin_plugins.history import commands
from builtin_plugins.self_commands.declarations import commands_in
from host import CommandDeclaration, hookimpl


@hookimpl
def discover_commands() -> Iterator[CommandDeclaration]:
    return commands_in(commands)
