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
    texts = {}
    for name in FILES:
        texts[_SCHEMAS / f"{name}.schema.json"] = _written(schema(name))
    for name in _PAGES:
        page = _PROJECT / "docs" / name
        texts[page] = _with_tables(page)
    return texts


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
    if inner:
        whole["$defs"] = inner
    return whole


def _object(name: str, described: Object, inner: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object; `inner` gets the schemas of the objects in it."""
    keys = keys_of(name)
    result: dict[str, Any] = {"type": "object"}
    if described.required:
        result["required"] = list(described.required)

    properties = {}
    for key in keys.values():
        is_required = key.name in described.required
        properties[key.name] = _property(key, is_required, inner)
    result["properties"] = properties

    if name == "argument":
        result["allOf"] = _rules_of_arguments(keys)
    return result


def _property(key: Key, required: bool, inner: dict[str, Any]) -> dict[str, Any]:
    described = {"description": _plain(key.meaning)}
    if key.choices:
        choices: list[str | None] = list(key.choices)
        if not required:
            choices.append(None)
        return {**described, "enum": choices}

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
        kinds = [_kind(word, inner) for word in items]
        yield {"type": "array", "items": _any_of(kinds)}


def _kind(written: str, inner: dict[str, Any]) -> dict[str, Any]:
    if written in _SIMPLE:
        return _SIMPLE[written]
    if written in PATTERNS:
        return {"type": "string", "pattern": f"^({PATTERNS[written]})$"}
    if written in ALTERNATIVES:
        return _any_of([_kind(word, inner) for word in ALTERNATIVES[written]])

    if written.startswith("object of "):
        values = written.removeprefix("object of ").removesuffix("s")
        value = _kind(values, inner)
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
        if isinstance(kind["type"], str):
            types.append(kind["type"])
        else:
            types += kind["type"]

    # With two kinds of strings, a value may match either pattern.
    if len(types) > len(set(types)):
        return {"anyOf": kinds}
    return {**merged, "type": types}


def _rules_of_arguments(keys: dict[str, Key]) -> list[dict[str, Any]]:
    absent: dict[str, dict[str, Any]] = {"option": {}, "value": {}, "positional": {}}
    for key in keys.values():
        if key.only in absent:
            absent[key.only][key.name] = _ABSENT

    is_option = {"properties": {"name": _IS_OPTION}}
    is_flag = {"properties": {"name": _IS_OPTION, "value": _NULL}}
    return [
        {
            "if": is_option,
            "then": {"properties": absent["positional"]},
            "else": {"properties": absent["option"]},
        },
        {"if": is_flag, "then": {"properties": absent["value"]}},
    ]


def _written(described: dict[str, Any]) -> str:
    """Return a schema as JSON, with each array of strings on one line."""
    text = json.dumps(described, indent=2)
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

    # Keys that come from another file stand first, with their meaning in this one.
    rows = []
    for name, meaning in described.meanings:
        rows.append((name, f"as in {FILES[described.base].title}", meaning))
    for key in described.keys:
        meaning = key.meaning
        if key.name in described.required:
            meaning = f"required; {meaning}"
        rows.append((key.name, _shown(key.type), meaning))

    lines = ["| key | type | meaning |", "|---|---|---|"]
    for names, written, meaning in _merged(rows):
        line = f"| {names} | {written} | {meaning} |"
        if page != "reference.md":
            line = line.replace("](#", "](reference.md#")
        lines.append(line.replace("||", "\\|\\|"))
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
        is_last = [row[1:] for row in following] != [(written, meaning)]
        if is_last:
            yield ", ".join(names), written, meaning
            names = []


def _with_tables(page: Path) -> str:
    """Return the text of a page with its tables made anew."""

    def with_table(place: re.Match[str]) -> str:
        kind = place[1]
        return f"{kind} -->\n\n{table(kind, page.name)}\n"

    text = page.read_text(encoding="utf-8")
    return _TABLE.sub(with_table, text)


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
