"""Listings as JSON."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from host import Argument, Category, Command, Listing, RequiredVariable, Requirement

_ARGUMENT = (
    *("name", "short", "value", "type", "choices", "default", "required"),
    *("description", "complete", "repeats", "env", "negatable", "conflicts", "pattern"),
    *("secret", "effects"),
)
_FLAGS = ("required", "repeats", "negatable", "secret")


def json_text(listing: Listing) -> str:
    """Return an object of two arrays, each of their rows on a line."""
    categories = _lines(map(_category, listing.categories))
    commands = _lines(map(_command, listing.commands))
    return f'{{"categories": [{categories}], "commands": [{commands}]}}\n'


def _lines(rows: Iterable[dict[str, Any]]) -> str:
    encode = json.JSONEncoder(check_circular=False).encode
    return ",".join([f"\n  {encode(row)}" for row in rows])


def _category(category: Category) -> dict[str, Any]:
    name, description = category.name, category.description
    return {"path": category.words, "name": name, "description": description}


def _command(command: Command) -> dict[str, Any]:
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
        "args": [_argument(one) for one in definition.args],
        "examples": [_example(one) for one in definition.examples],
        "effects": definition.effects,
        "required_envs": [_required(one) for one in definition.required_envs],
        "requires": [_requirement(one) for one in definition.requires],
        "starts_commands": definition.starts_commands,
    }


def _example(example: dict[str, Any]) -> dict[str, Any]:
    return {"command": example["command"], "description": example.get("description")}


def _argument(argument: Argument) -> dict[str, Any]:
    """Return a declared argument with all its keys; absent ones are null."""
    kept: dict[str, Any] = {key: getattr(argument, key) for key in ("default", *_FLAGS)}
    if argument.choices_from:
        kept["choices"] = {"program": argument.choices_from}
    return {key: getattr(argument, key) or None for key in _ARGUMENT} | kept


def _requirement(one: Requirement) -> dict[str, Any]:
    return {"program": one.program, "version": one.version or None, "hint": one.hint or None}


def _required(name: RequiredVariable) -> dict[str, Any]:
    return {
        "name": name,
        "hint": name.hint or None,
        "type": name.type or None,
        "secret": name.secret,
    }
