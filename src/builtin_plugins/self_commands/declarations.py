"""How a plugin declares its `self` commands; each is declared beside its function."""

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType

from builtin_plugins.self_commands.decorator import DECLARATION, SelfCommand
from host import CategoryDeclaration, CommandDeclaration
from host.words import SELF


def commands_of(
    package: str, *modules: str
) -> Iterator[CategoryDeclaration | CommandDeclaration]:
    """Yield the category `self`, and the commands of these modules of `package`, in their order.

    Each plugin with `self` commands declares the category, because any of them may come first.
    """
    yield CategoryDeclaration((SELF,), SELF, "Manage this program and its plugins")
    for module in modules:
        yield from commands_in(importlib.import_module(f"{package}.{module}"))


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
        if declared.short:
            hidden = {**definition, "hidden": True}
            yield CommandDeclaration((SELF, *declared.short.split()), hidden)
