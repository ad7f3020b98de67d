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

    Quoted = Callable[[str], str]  # writes a text as JSON

_ARGUMENT = (
    *("name", "short", "value", "type", "choices", "default", "required"),
    *("description", "complete"),
)
_WORDS = {True: "true", False: "false", None: "null"}


def json_text(listing: Listing) -> str:
    """Return an object of two arrays, each of their rows on a line."""
    quoted = _quoting()
    categories = [_category(one, quoted) for one in listing.categories]
    commands = [_command(one, quoted) for one in listing.commands]
    return f'{{"categories": [{_lines(categories)}], "commands": [{_lines(commands)}]}}\n'


def _lines(rows: Sequence[str]) -> str:
    return ",".join([f"\n  {row}" for row in rows])


def _quoting() -> Quoted:
    """Return the function behind `json`, or that module's own."""
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import py_encode_basestring_ascii as encode_basestring_ascii
    return encode_basestring_ascii


def _category(category: Category, quoted: Quoted) -> str:
    return (
        f'{{"path": {_texts(category.words, quoted)}, "name": {quoted(category.name)}, '
        f'"description": {quoted(category.description)}}}'
    )


def _command(command: Command, quoted: Quoted) -> str:
    definition = command.definition
    return (
        f'{{"path": {_texts(command.words, quoted)}, '
        f'"name": {quoted(definition.name)}, '
        f'"description": {quoted(definition.description)}, '
        f'"group": {quoted(definition.group) if definition.group else "null"}, '
        f'"sudo": {_WORDS[definition.sudo]}, '
        f'"os": {_texts(definition.os, quoted)}, '
        f'"compatible": {_WORDS[definition.compatible]}, '
        f'"installed": {_WORDS[command.installed]}, '
        f'"origin": {quoted(command.origin)}, '
        f'"plugin": {quoted(command.plugin) if command.plugin else "null"}, '
        f'"dev": {_WORDS[command.dev]}, '
        f'"entrypoint": {quoted(definition.entrypoint)}, '
        f'"aliases": {_texts(definition.aliases, quoted)}, '
        f'"hidden": {_WORDS[definition.hidden]}, '
        f'"args": {_objects([_argument(one) for one in definition.args])}, '
        f'"examples": {_objects([_example(one) for one in definition.examples])}, '
        f'"effects": {quoted(definition.effects)}, '
        f'"starts_commands": {_WORDS[definition.starts_commands]}}}'
    )


def _texts(texts: Sequence[str], quoted: Quoted) -> str:
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
    kept = {"default": argument.default, "required": argument.required}
    return {key: getattr(argument, key) or None for key in _ARGUMENT} | kept
