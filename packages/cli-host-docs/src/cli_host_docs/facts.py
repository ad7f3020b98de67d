"""Facts about a command for its documentation, from the records of the public API.

Keys that cli-host does not check are in `extra`; they are shown unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from host import Argument, Command, Definition, Program


def visible_commands(program: Program) -> list[Command]:
    """Return all commands except hidden ones, for every system, sorted by name.

    Commands of a project that contains the current directory are excluded.
    """
    return [one for one in own_commands(program) if not one.definition.hidden]


def own_commands(program: Program) -> list[Command]:
    """Return the commands of the installation and its plugins, but none of a project."""
    return [one for one in program.commands(everything=True) if one.origin != "project"]


def value_of(record: Any, key: str, default: Any) -> Any:
    """Return a definition's or argument's attribute `key`, or `extra[key]`, or else `default`."""
    missing = getattr(record, "extra", {}).get(key, default)
    value = getattr(record, key, missing)
    return default if value is None else value


def usage(program: str, command: Command) -> str:
    """Return a command's usage line, such as `acme deploy <env> [--force]`."""
    definition = command.definition
    behind = [one.usage for one in definition.shown_args]
    if not behind and not definition.parser:
        behind = [definition.words or "[args…]"]
    return " ".join([program, *command.words, *behind])


def label(argument: Argument) -> str:
    """Return an argument's notation, such as `-n, --count N`, `--[no-]cache` or `<files...>`."""
    if not argument.option:
        return argument.usage
    name = argument.name
    if value_of(argument, "negatable", False):
        name = f"--[no-]{name.removeprefix('--')}"
    return ", ".join(filter(None, [argument.short, f"{name} {argument.value}".rstrip()]))


def choices(argument: Argument) -> tuple[str, ...]:
    """Return an argument's fixed choices, or () if it has none or if a program lists them."""
    found = argument.choices
    return tuple(found) if isinstance(found, list | tuple) else ()


def default(argument: Argument) -> tuple[str, ...]:
    """Return the default of an argument, or () if there is none or the argument is secret."""
    hidden = argument.default is None or value_of(argument, "secret", False)
    return () if hidden else (str(argument.default),)


def explanation(argument: Argument) -> str:
    """Return an argument's description, with its constraints and its default."""
    variable, pattern = value_of(argument, "env", ""), value_of(argument, "pattern", "")
    conflicts = texts(value_of(argument, "conflicts", ()))
    notes = [
        argument.type if argument.type not in ("", "string") else "",
        f"one of {', '.join(choices(argument))}" if choices(argument) else "",
        f"matches {pattern}" if pattern else "",
        "required" if argument.required and argument.option else "",
        "may be repeated" if argument.repeats else "",
        f"not with {', '.join(conflicts)}" if conflicts else "",
        f"if omitted: the variable {variable}" if variable else "",
        *(f"default: {one}" for one in default(argument)),
        "not echoed" if value_of(argument, "secret", False) else "",
    ]
    described = argument.description.rstrip(".")
    shown = "; ".join(filter(None, notes))
    return f"{described} ({shown})" if described and shown else described or shown


def variables(definition: Definition) -> dict[str, str]:
    """Return the names of a command's variables, each with a note; never a value."""
    notes = dict.fromkeys(definition.envs, "")
    notes |= dict.fromkeys(secrets(definition), "secret")
    return notes | dict.fromkeys(definition.required_envs, "must be set")


def secrets(definition: Definition) -> tuple[str, ...]:
    """Return the names of a command's secrets, never their references."""
    declared = value_of(definition, "secrets", {})
    return tuple(declared) if isinstance(declared, Mapping) else ()


def requirements(definition: Definition) -> tuple[str, ...]:
    """Return the programs that a command needs, such as `jq>=1.6`."""
    return texts(value_of(definition, "requires", ()))


def examples(program: str, command: Command) -> list[tuple[str, str]]:
    """Return the command line and the description of each example.

    If a line begins with the command's last word, the program and the full command replace
    that word.
    """
    found = []
    for one in command.definition.examples:
        line = one["command"]
        if line.split(" ")[0] == command.words[-1]:
            line = " ".join([program, *command.words[:-1], line])
        found.append((line, one.get("description") or ""))
    return found


def notes(definition: Definition) -> list[str]:
    """Return sentences about the effects of a run and the supported systems."""
    found = {
        "Changes nothing.": definition.effects == "read",
        "May destroy something.": definition.destroys,
        f"Question before each run: {definition.confirm}": definition.confirm,
        f"Needs administrator rights (sudo) on {_joined(definition.sudo_systems)}.": (
            definition.sudo_systems
        ),
        f"Runs on {_joined(definition.os)}.": definition.os,
        f"Also called {_joined(definition.aliases)}.": definition.aliases,
        "Starts other commands.": definition.starts_commands,
    }
    return [note for note, holds in found.items() if holds]


def _joined(names: Iterable[str]) -> str:
    return " and ".join(names)


def texts(values: Any) -> tuple[str, ...]:
    """Return a string, or a list of strings or programs, as a tuple of strings."""
    if isinstance(values, str):
        return (values,)
    return tuple(_text(one) for one in values) if isinstance(values, Iterable) else ()


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{value.get('program', '')}{value.get('version', '')}"
    if hasattr(value, "program"):
        return f"{value.program}{getattr(value, 'version', '')}"
    return str(value)
