"""The hook that declares the `self` commands; each is declared beside its function."""

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType

from builtin_plugins.administration.declared import DECLARATION, SelfCommand
from host import CategoryDeclaration, CommandDeclaration, hookimpl
from host.run.words import SELF

_HERE = "builtin_plugins.administration"
_MODULES = (  # those with `self` commands, in the order of the man page
    "commands.completion",
    "commands.doctor",
    "commands.edit",
    "commands.env",
    "commands.import_",
    "commands.info",
    "commands.init",
    "commands.lint",
    "commands.list",
    "commands.lock",
    "commands.new",
    "commands.pick",
    "commands.publish_installer",
    "commands.search",
    "commands.sync",
    "commands.trust",
    "commands.uninstall",
    "commands.update",
    "commands.version",
    "commands.which",
    "plugins.commands.add",
    "plugins.commands.enable_disable",
    "plugins.commands.list",
    "plugins.commands.remove",
    "plugins.commands.rollback",
    "plugins.commands.search",
    "plugins.commands.show",
    "plugins.commands.sync",
    "plugins.commands.update",
    "program.launcher",
    "program.news",
)


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield CategoryDeclaration(("self",), "self", "Manage this program and its plugins")
    yield CategoryDeclaration(
        ("self", "new"), "new", "Make a command, a category or a plugin"
    )
    yield CategoryDeclaration(
        ("self", "plugin"), "plugin", "Add, list, update and remove plugins"
    )

    for name in _MODULES:
        yield from commands_in(importlib.import_module(f"{_HERE}.{name}"))


def commands_in(module: ModuleType) -> Iterator[CommandDeclaration]:
    """Yield the commands whose functions stand in `module`, in their order."""
    for function in vars(module).values():
        declared = getattr(function, DECLARATION, None)
        if not isinstance(declared, SelfCommand):
            continue

        # A module may also import a command's function from another one.
        if function.__module__ != module.__name__:
            continue

        definition = {
            "name": declared.name,
            "description": declared.description,
            "hidden": declared.hidden,
            "entrypoint": f"{module.__name__}:{function.__name__}",
            "args": [*declared.arguments],
            "text": inspect.getdoc(function) or "",
            "x-synonyms": declared.synonyms,
        }
        yield CommandDeclaration((SELF, *declared.name.split()), definition)
