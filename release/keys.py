"""Write what the table of keys in src/host/keys.py says into core/schema and the tables of docs.

After a change to the table, run: python release/keys.py

A table in a page stands below a comment that names its object: `<!-- keys: argument -->`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from host.keys import (
    ALTERNATIVES,
    FILES,
    OBJECTS,
    PATTERNS,
    Key,
    Object,
    keys_of,
    words_of,
)

_PROJECT = Path(__file__).parents[1]
_SCHEMAS = _PROJECT / "core" / "schema"
_PAGES = ("reference.md", "writing-plugins.md")
_ADDRESS = "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema"
_TABLE = re.compile(r"(?<=^<!-- keys: )([a-z ]+) -->\n\n(?:\|.*\n)*\n*", re.MULTILINE)
_FLAT_ARRAY = re.compile(r"(?<=: \[)\s+\"[^][{}]*(?=\])")
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")

_SIMPLE = {
    "string": {"type": "string"},
    "non-empty string": {"type": "string", "minLength": 1},
    "boolean": {"type": "boolean"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "value": {"type": ["string", "number", "boolean"]},
}
_NULL = {"type": "null"}
_ABSENT = {"enum": [None, False, []]}
_IS_OPTION = {"pattern": "^-"}


def files() -> dict[Path, str]:
    """Return the text of each generated file by its path: schemas, and pages with tables."""
    made = {}
    for name in FILES:
        made[_SCHEMAS / f"{name}.schema.json"] = _written(schema(name))
    for name in _PAGES:
        page = _PROJECT / "docs" / name
        made[page] = _with_tables(page)
    return made


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a file; it refers to no other schema."""
    file = FILES[name]
    inner: dict[str, Any] = {}
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{_ADDRESS}/{name}.schema.json",
        "title": file.title,
        "description": _plain(file.meaning),
        **_object(name, file, inner),
    }
    address = {"description": "The address of this schema, for editors."}
    whole["properties"] = {"$schema": address, **whole["properties"]}
    return {**whole, "$defs": inner} if inner else whole


def _object(name: str, described: Object, inner: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object; `inner` gets the schemas of the objects in it."""
    keys = keys_of(name)
    made: dict[str, Any] = {"type": "object"}
    if described.required:
        made["required"] = list(described.required)
    made["properties"] = {
        key.name: _property(key, key.name in described.required, inner)
        for key in keys.values()
    }
    if name == "argument":
        made["allOf"] = _rules_of_arguments(keys)
    return made


def _property(key: Key, required: bool, inner: dict[str, Any]) -> dict[str, Any]:
    described = {"description": _plain(key.meaning)}
    if key.choices:
        return {
            **described,
            "enum": [*key.choices] if required else [*key.choices, None],
        }
    kinds = list(_kinds(key.type, inner))
    if not required:
        kinds.append(_NULL)
    return {**described, **_any_of(kinds)}


def _kinds(written: str, inner: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema for each alternative in a written type."""
    alone, items = words_of(written)
    for word in alone:
        yield _kind(word, inner)
    if items:
        yield {
            "type": "array",
            "items": _any_of([_kind(word, inner) for word in items]),
        }


def _kind(written: str, inner: dict[str, Any]) -> dict[str, Any]:
    if written in _SIMPLE:
        return _SIMPLE[written]
    if written in PATTERNS:
        return {"type": "string", "pattern": f"^({PATTERNS[written]})$"}
    if written in ALTERNATIVES:
        return _any_of([_kind(word, inner) for word in ALTERNATIVES[written]])
    if written.startswith("object of "):
        value = _kind(written.removeprefix("object of ").removesuffix("s"), inner)
        return {
            "type": "object",
            "propertyNames": _kind("variable", inner),
            "additionalProperties": _any_of([value, _NULL]),
        }
    name = written.replace(" ", "-")
    if name not in inner:
        inner[name] = {}  # its place: an object comes before those in it
        inner[name].update(_object(written, OBJECTS[written], inner))
    return {"$ref": f"#/$defs/{name}"}


def _any_of(kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a schema that accepts what one of these schemas accepts."""
    if len(kinds) == 1:
        return kinds[0]
    types: list[str] = []
    merged: dict[str, Any] = {}
    for kind in kinds:
        if "type" not in kind:
            return {"anyOf": kinds}
        merged.update(kind)  # words such as "pattern" concern values of one type only
        types += [kind["type"]] if isinstance(kind["type"], str) else kind["type"]
    if len(types) > len(
        set(types)
    ):  # two kinds of strings: a value may match either pattern
        return {"anyOf": kinds}
    return {**merged, "type": types}


def _rules_of_arguments(keys: dict[str, Key]) -> list[dict[str, Any]]:
    of_options = {key.name: _ABSENT for key in keys.values() if key.only == "option"}
    of_values = {key.name: _ABSENT for key in keys.values() if key.only == "value"}
    of_positional = {
        key.name: _ABSENT for key in keys.values() if key.only == "positional"
    }
    is_flag = {"name": _IS_OPTION, "value": _NULL}
    is_option = {"properties": {"name": _IS_OPTION}}
    return [
        {
            "if": is_option,
            "then": {"properties": of_positional},
            "else": {"properties": of_options},
        },
        {"if": {"properties": is_flag}, "then": {"properties": of_values}},
    ]


def _written(made: dict[str, Any]) -> str:
    """Return a schema as JSON, with each array of strings on one line."""
    text = json.dumps(made, indent=2)
    return _FLAT_ARRAY.sub(lambda array: " ".join(array[0].split()), text) + "\n"


def _plain(markdown: str) -> str:
    """Return a meaning as a sentence without markup."""
    text = _LINK.sub(r"\1", markdown).replace("`", "")
    if not markdown.startswith("`"):
        text = text[0].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


def table(kind: str, page: str = "reference.md") -> str:
    """Return the Markdown table of the keys of a file or object, for a page in docs."""
    described = FILES[kind] if kind in FILES else OBJECTS[kind]
    rows = [
        (name, f"as in {FILES[described.base].title}", meaning)
        for name, meaning in described.meanings
    ]
    for key in described.keys:
        needed = "required; " if key.name in described.required else ""
        rows.append((key.name, _shown(key.type), needed + key.meaning))
    lines = ["| key | type | meaning |", "|---|---|---|"]
    for names, written, meaning in _merged(rows):
        if page != "reference.md":
            meaning = meaning.replace("](#", "](reference.md#")  # noqa: PLW2901
        lines.append(f"| {names} | {written} | {meaning} |".replace("||", "\\|\\|"))
    return "".join(f"{line}\n" for line in lines)


def _shown(written: str) -> str:
    """Return a written type in words for users, who need no names for kinds of objects."""
    for kind in sorted(OBJECTS, key=len, reverse=True):
        written = re.sub(rf"\b{kind}(s?)\b", r"object\1", written)
    return written


def _merged(rows: list[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the rows with formatted names; neighbours that differ only in their names are one."""
    names: list[str] = []
    for index, (name, written, meaning) in enumerate(rows):
        names.append(f"`{name}`")
        following = rows[index + 1 : index + 2]
        if [row[1:] for row in following] != [(written, meaning)]:
            yield ", ".join(names), written, meaning
            names = []


def _with_tables(page: Path) -> str:
    """Return the text of a page with its tables made anew."""

    def made(place: re.Match[str]) -> str:
        return f"{place[1]} -->\n\n{table(place[1], page.name)}\n"

    return _TABLE.sub(made, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
