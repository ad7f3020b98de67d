"""The hook that declares the `self` commands which manage the program and its installation."""

from collections.abc import Iterator

from builtin_plugins.self_commands.declarations import commands_of
from host import CategoryDeclaration, CommandDeclaration, hookimpl


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield from commands_of(
        "builtin_plugins.program",
        "completion_code",
        "uninstall",
        "update",
        "version",
        "launcher",
        "news",
    )
