"""Listings as JSON."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from host import Command, Listing


def json_text(listing: Listing) -> str:
    """Return an object of two arrays, each of their rows on a line.

    One call writes them all, as thousands of calls take their time. What parts two rows
    stands in no text: a quotation mark in there has a backslash before it.
    """
    import json

    categories = [
        {"path": one.words, "name": one.name, "description": one.description}
        for one in listing.categories
    ]
    commands = [_json_command(one) for one in listing.commands]
    text = json.dumps({"categories": categories, "commands": commands})
    for before in ("[", ", "):
        text = text.replace(f'{before}{{"path": ', f'{before.rstrip()}\n  {{"path": ')
    return f"{text}\n"


def _json_command(command: Command) -> dict[str, Any]:
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
        "args": [_json_argument(one) for one in definition.args],
        "examples": [
            {"command": one["command"], "description": one.get("description")}
            for one in definition.examples
        ],
        "effects": definition.effects,
    }


def _json_argument(argument: Any) -> dict[str, Any]:
    """Return a declared argument with all its keys; those that it has not are null."""
    return {
        "name": argument.name,
        "short": argument.short or None,
        "value": argument.value or None,
        "type": argument.type or None,
        "choices": list(argument.choices) or None,
        "default": argument.default,
        "required": argument.required,
        "description": argument.description or None,
        "complete": argument.complete or None,
    }
