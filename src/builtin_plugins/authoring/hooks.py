"""The hook that declares the `self` commands which write commands."""

from collections.abc import Iterator

from builtin_plugins.self_commands.declarations import commands_of
from host import CategoryDeclaration, CommandDeclaration, hookimpl


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield from commands_of(
        "builtin_plugins.authoring",
        "edit",
        "import_",
        "new",
    )
    yield CategoryDeclaration(
        ("self", "new"), "new", "Make a command, a category or a plugin"
    )
