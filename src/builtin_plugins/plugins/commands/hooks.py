"""The hook that declares the commands of `self plugin`."""

from collections.abc import Iterator

from builtin_plugins.self_commands.declarations import commands_of
from host import CategoryDeclaration, CommandDeclaration, hookimpl


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield from commands_of(
        "builtin_plugins.plugins.commands",
        "add",
        "enable_disable",
        "list",
        "remove",
        "rollback",
        "search",
        "show",
        "sync",
        "update",
    )
    yield CategoryDeclaration(
        ("self", "plugin"), "plugin", "Add, list, update and remove plugins"
    )
