"""The hook of the history: it declares the commands that show it."""

from collections.abc import Iterator

from builtin_plugins.administration.self_commands import commands_in
from builtin_plugins.history import commands
from host import CommandDeclaration, hookimpl


@hookimpl
def discover_commands() -> Iterator[CommandDeclaration]:
    return commands_in(commands)
