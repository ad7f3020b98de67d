"""Write the tables of keys in the pages of docs from the JSON Schemas in core/schema.

A table stands below a comment that names its schema, or an object in a schema's `$defs`:
`<!-- keys: command -->`, `<!-- keys: command/argument -->`. After a change to a schema, run:
python docs/site/keys.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PROJECT = Path(__file__).parents[2]
_SCHEMAS = _PROJECT / "core" / "schema"
_PAGES = ("reference.md", "writing-plugins.md")
_TABLE = re.compile(r"(?<=^<!-- keys: )(\S+) -->\n\n(?:\|.*\n)*\n*", re.MULTILINE)


def pages() -> dict[Path, str]:
    """Return the text of each page with tables by its path."""
    texts = {}
    for name in _PAGES:
        page = _PROJECT / "docs" / name
        text = page.read_text(encoding="utf-8")
        texts[page] = _TABLE.sub(_with_table, text)
    return texts


def _with_table(place: re.Match[str]) -> str:
    schema, _, inner = place[1].partition("/")
    return f"{place[1]} -->\n\n{table(schema, inner)}\n"


def table(schema: str, inner: str = "") -> str:
    """Return the Markdown table of the keys of a file, or of an object in it.

    A key that only refers to the key of another file is left out, because it means the same there.
    """
    place = f"{schema}.schema.json#"
    if inner:
        place += f"/$defs/{inner}"
    described = _at(place, place)[1]
    required = described.get("required", ())

    lines = ["| key | type | meaning |\n", "|---|---|---|\n"]
    for names, written, meaning in _merged(described["properties"], place):
        note = "Required. " if names[0] in required else ""
        keys = ", ".join(f"`{name}`" for name in names)
        lines.append(f"| {keys} | {written} | {note}{meaning} |\n")
    return "".join(lines)


def _merged(
    properties: dict[str, Any], place: str
) -> Iterator[tuple[list[str], str, str]]:
    """Yield the names of keys with their type and meaning; neighbours with one meaning are one."""
    rows: list[tuple[list[str], str, str]] = []
    for name, described in properties.items():
        if [*described] == ["$ref"] and "/properties/" in described["$ref"]:
            continue
        meaning = described["description"]
        if rows and rows[-1][2] == meaning:
            rows[-1][0].append(name)
        else:
            rows.append(([name], " or ".join(_types(described, place)), meaning))
    yield from rows


def _types(described: dict[str, Any], place: str) -> list[str]:
    """Return the types of a value in words, such as ["boolean", "array of strings"]."""
    if "$ref" in described:
        if described["$ref"].startswith("command.schema.json#/properties/"):
            return ["as in command.json"]
        return _types(*_at(described["$ref"], place)[::-1])
    if "enum" in described:
        return ["string"]
    if "anyOf" in described:
        return [word for kind in described["anyOf"] for word in _types(kind, place)]

    kinds = described["type"]
    words = []
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind == "array":
            items = [f"{word}s" for word in _types(described["items"], place)]
            words.append(f"array of {' or '.join(items)}")
        elif kind != "null":
            words.append(kind)
    return [*dict.fromkeys(words)]


def _at(reference: str, place: str) -> tuple[str, dict[str, Any]]:
    """Return what `reference` in the file of `place` refers to, with its own place."""
    file, _, path = reference.partition("#")
    file = file or place.partition("#")[0]
    described = json.loads((_SCHEMAS / file).read_text(encoding="utf-8"))
    for name in path.split("/")[1:]:
        described = described[name]
    return f"{file}#{path}", described


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
