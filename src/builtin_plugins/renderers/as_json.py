"""Listings as JSON."""

from __future__ import annotations

try:
    from _json import encode_basestring_ascii as quoted
except ImportError:  # an interpreter without it
    from json.encoder import encode_basestring_ascii as quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from host import Category, Command, Listing

_WORDS = {True: "true", False: "false", None: "null"}


def json_text(listing: Listing) -> str:
    """Return an object of two arrays, each of their rows on a line.

    Most of ten thousand rows are texts and words, so they are written without `json`, whose
    import alone takes as long as a thousand of them.
    """
    categories = _rows(_category(one) for one in listing.categories)
    commands = _rows(_command(one) for one in listing.commands)
    return f'{{"categories": [{categories}], "commands": [{commands}]}}\n'


def _rows(rows: Iterable[str]) -> str:
    return ",".join([f"\n  {row}" for row in rows])


def _category(category: Category) -> str:
    return (
        f'{{"path": {_texts(category.words)}, "name": {quoted(category.name)}, '
        f'"description": {quoted(category.description)}}}'
    )


def _command(command: Command) -> str:
    definition = command.definition
    return (
        f'{{"path": {_texts(command.words)}, '
        f'"name": {quoted(definition.name)}, '
        f'"description": {quoted(definition.description)}, '
        f'"group": {_filled(definition.group)}, '
        f'"sudo": {_WORDS[definition.sudo]}, '
        f'"os": {_texts(definition.os)}, '
        f'"compatible": {_WORDS[definition.compatible]}, '
        f'"installed": {_WORDS[command.installed]}, '
        f'"origin": {quoted(command.origin)}, '
        f'"plugin": {_filled(command.plugin)}, '
        f'"dev": {_WORDS[command.dev]}, '
        f'"entrypoint": {quoted(definition.entrypoint)}, '
        f'"aliases": {_texts(definition.aliases)}, '
        f'"hidden": {_WORDS[definition.hidden]}, '
        f'"args": {_objects([_argument(one) for one in definition.args])}, '
        f'"examples": {_objects([_example(one) for one in definition.examples])}, '
        f'"effects": {quoted(definition.effects)}}}'
    )


def _filled(text: str) -> str:
    return quoted(text) if text else "null"


def _texts(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, texts))}]" if texts else "[]"


def _objects(values: Sequence[dict[str, Any]]) -> str:
    if not values:
        return "[]"
    import json

    return json.dumps(values)


def _example(example: dict[str, Any]) -> dict[str, Any]:
    return {"command": example["command"], "description": example.get("description")}


def _argument(argument: Any) -> dict[str, Any]:
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
