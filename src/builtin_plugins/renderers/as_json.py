"""Listings as JSON.

Most of what ten thousand rows hold are texts and words, so they are written without `json`,
whose import alone takes as long as a thousand of them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from host import Category, Command, Listing

_WORDS = {True: "true", False: "false", None: "null"}


def json_text(listing: Listing) -> str:
    """Return an object of two arrays, each of their rows on a line."""
    rows = _Rows(_quoting())
    categories = [rows.category(one) for one in listing.categories]
    commands = [rows.command(one) for one in listing.commands]
    return f'{{"categories": [{_lines(categories)}], "commands": [{_lines(commands)}]}}\n'


def _lines(rows: Sequence[str]) -> str:
    return ",".join([f"\n  {row}" for row in rows])


def _quoting() -> Callable[[str], str]:
    """Return what writes a text as JSON: the function behind `json`, or that module's own."""
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import py_encode_basestring_ascii as encode_basestring_ascii
    return encode_basestring_ascii


class _Rows:
    """The rows of listings as objects; `quoted` writes a text."""

    __slots__ = ("quoted",)

    def __init__(self, quoted: Callable[[str], str]) -> None:
        self.quoted = quoted

    def category(self, category: Category) -> str:
        return (
            f'{{"path": {self.texts(category.words)}, "name": {self.quoted(category.name)}, '
            f'"description": {self.quoted(category.description)}}}'
        )

    def command(self, command: Command) -> str:
        quoted, definition = self.quoted, command.definition
        return (
            f'{{"path": {self.texts(command.words)}, '
            f'"name": {quoted(definition.name)}, '
            f'"description": {quoted(definition.description)}, '
            f'"group": {quoted(definition.group) if definition.group else "null"}, '
            f'"sudo": {_WORDS[definition.sudo]}, '
            f'"os": {self.texts(definition.os)}, '
            f'"compatible": {_WORDS[definition.compatible]}, '
            f'"installed": {_WORDS[command.installed]}, '
            f'"origin": {quoted(command.origin)}, '
            f'"plugin": {quoted(command.plugin) if command.plugin else "null"}, '
            f'"dev": {_WORDS[command.dev]}, '
            f'"entrypoint": {quoted(definition.entrypoint)}, '
            f'"aliases": {self.texts(definition.aliases)}, '
            f'"hidden": {_WORDS[definition.hidden]}, '
            f'"args": {_objects([_argument(one) for one in definition.args])}, '
            f'"examples": {_objects([_example(one) for one in definition.examples])}, '
            f'"effects": {quoted(definition.effects)}}}'
        )

    def texts(self, texts: Sequence[str]) -> str:
        return f"[{', '.join(map(self.quoted, texts))}]" if texts else "[]"


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
