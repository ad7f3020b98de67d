"""Listings as JSON."""

from __future__ import annotations

import json
import os
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from host import Argument, Command, Listing, RequiredVariable


def json_text(listing: Listing) -> str:
    """Return JSON text on one line: an object with the arrays `categories` and `commands`."""
    categories = [
        {"path": one.words, "name": one.name, "description": one.description}
        for one in listing.categories
    ]
    # All commands of a plugin have the same folders, and resolving the links of a path is slow.
    resolved = cache(os.path.realpath)
    commands = [_command(command, resolved) for command in listing.commands]
    listed = {"categories": categories, "commands": commands}
    return f"{json.dumps(listed, check_circular=False)}\n"


def _command(command: Command, resolved: Callable[[str], str]) -> dict[str, Any]:
    definition = command.definition
    return {
        "path": command.words,
        "name": definition.name,
        "description": definition.description,
        "group": definition.group or None,
        "sudo": definition.sudo,
        "os": definition.os,
        "compatible": definition.compatible,
        "installed": command.installed,
        "origin": command.origin,
        "plugin": command.plugin or None,
        "dev": command.dev,
        "entrypoint": definition.entrypoint,
        "aliases": definition.aliases,
        "hidden": definition.hidden,
        "args": tuple(map(_argument, definition.known_args)),
        "examples": tuple(map(_nulled, definition.examples)),
        "effects": definition.effects,
        "required_envs": tuple(map(_required, definition.required_envs)),
        "requires": [_nulled(one.values()) for one in definition.requires],
        "starts_commands": definition.starts_commands,
        "deprecated": definition.deprecated or None,
        "moved_to": definition.moved_to or None,
        "shell": definition.shell,
        "output": definition.output or None,
        "schema": definition.schema or None,
        "path_folders": [resolved(folder) for folder in definition.path_folders],
        **_supervision(command),
    }


def _supervision(command: Command) -> dict[str, Any]:
    """Return how the command's definitions record and limit its runs; null if none sets a key."""
    if not command.definition.supervisions:
        return {"record": None, "timeout": None, "exclusive": None}
    values: dict[str, Any] = command.definition.supervision.values()
    return values


def _argument(argument: Argument) -> dict[str, Any]:
    """Return a declared argument with all its keys; absent ones are null."""
    values = _nulled(argument.values()) | {"default": argument.default}
    program = values.pop("choices_from")
    return values | {"choices": {"program": program}} if program else values


def _required(name: RequiredVariable) -> dict[str, Any]:
    facts = {"name": name, "hint": name.hint, "type": name.type}
    return _nulled(facts) | {"secret": name.secret}


def _nulled(values: dict[str, Any]) -> dict[str, Any]:
    return {key: None if one in ("", ()) else one for key, one in values.items()}
