"""Write the page of the file formats from the schemas when the site is built."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_SCHEMAS = Path(__file__).parents[2] / "core" / "schema"
_ORDER = ("command", "category", "cli", "plugin", "project", "registry", "catalogue")
_HEAD = """# File formats

This page lists the keys of each JSON file. It is generated from the JSON Schemas that every
installation has in `core/schema/`. Files that the program writes name their schema in `$schema`, so
that editors can complete and check the keys. `cli self lint` checks the files, too. [The
reference](reference.md) explains the keys.
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of the file formats."""
    files.append(File.generated(config, "formats.md", content="".join(formats_page())))
    return files


def formats_page() -> Iterator[str]:
    """Yield a section for each file that the program reads, with a table of its keys."""
    schemas = {name: json.loads(_file(name).read_text(encoding="utf-8")) for name in _ORDER}
    yield _HEAD
    for name, schema in schemas.items():
        yield f"\n## `{schema['title']}`\n\n{schema['description']}\n\n"
        yield f"[{name}.schema.json]({schema['$id']})\n"
        # Schemas refer to each other's definitions: category.json shares keys with command.json.
        everywhere = (*schemas.values(), schema)
        shared = [one.get(key, {}) for key in ("properties", "$defs") for one in everywhere]
        definitions = {name: one for found in shared for name, one in found.items()}
        yield from _tables(_Schema(definitions), schema, "")


def _file(name: str) -> Path:
    return _SCHEMAS / f"{name}.schema.json"


class _Schema:
    """Resolves the references (`$ref`) of a schema with the given definitions."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions

    def whole(self, node: dict[str, Any]) -> dict[str, Any]:
        """Return a schema node merged with the definition that it refers to; its own keys win."""
        name = node.get("$ref", "").rpartition("/")[2]
        if not name:
            return node
        found = self.whole(self._definitions[name])
        properties = {**found.get("properties", {})}
        for key, one in node.get("properties", {}).items():
            properties[key] = {**properties.get(key, {}), **one}
        return {**found, **node, "properties": properties}

    def kind(self, node: dict[str, Any]) -> str:
        """Return in words the type of the value that a schema node describes."""
        node = self.whole(node)
        if "enum" in node:
            return ", ".join(f"`{one}`" for one in node["enum"] if one)
        if "anyOf" in node:
            return " or ".join(self.kind(one) for one in node["anyOf"])
        if "oneOf" in node:
            return "object"
        types = node.get("type", "")
        kinds = [one for one in ([types] if isinstance(types, str) else types) if one != "null"]
        if kinds == ["array"]:
            return f"array of {self.kind(node['items'])}s"
        return " or ".join(kinds)


def _tables(schema: _Schema, node: dict[str, Any], heading: str) -> Iterator[str]:
    """Yield a table of the keys of `node`, and a table for each key that is an array of objects."""
    whole = schema.whole(node)
    inner: list[tuple[str, dict[str, Any]]] = []
    if heading:
        yield f"\n### {heading}\n"
    yield "\n| key | type | meaning |\n|---|---|---|\n"
    for key, one in whole["properties"].items():
        found = schema.whole(one)
        needed = "Required. " if key in whole.get("required", ()) else ""
        meaning = found.get("description", "").replace("|", "\\|")
        yield f"| `{key}` | {schema.kind(one)} | {needed}{meaning} |\n"
        item = schema.whole(found.get("items", {}))
        if item.get("properties"):
            inner.append((f"Each of `{key}`", item))
    for title, item in inner:
        yield from _tables(schema, item, title)
