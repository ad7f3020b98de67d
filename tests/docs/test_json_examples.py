"""The examples of JSON in reference.md are what the program prints and writes today."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from testing.installation import PROJECT, builder, command
from testing.plugin_sources import Repository, plugin_files

_REFERENCE = (PROJECT / "docs/reference.md").read_text()
_EXAMPLE = re.compile(r"```json\n(\{.*?\})\n```", re.DOTALL)
_KEY = re.compile(r'"(\w+)"')


def example_with(key: str) -> dict[str, Any]:
    """Return the example whose object has `key`, with its keys in the order of the page."""
    for text in _EXAMPLE.findall(_REFERENCE):
        example: dict[str, Any] = json.loads(text)
        if key in example:
            return example
    raise AssertionError(f"reference.md has no example with the key {key}")


def keys_at(beginning: str) -> list[str]:
    """Return the keys, in their order, of the JSON in the page that begins so."""
    text = _REFERENCE[_REFERENCE.index(f"`{beginning}") + 1 :]
    return _KEY.findall(text[: text.index("`")])


def in_order(value: object) -> str:
    """Return a text that differs for objects whose keys are in another order."""
    return json.dumps(value, indent=1, ensure_ascii=False)


def test_the_listing(tmp_path: Path) -> None:
    example = example_with("commands")
    argument = {"name": "--count", "short": "-n", "value": "N", "type": "integer"}
    hello = command(
        name="Hello",
        description="…",
        args=[{**argument, "default": "1"}],
        examples=[{"command": "hello Ada", "description": "greet Ada"}],
    )
    made = builder(tmp_path)(
        {
            "commands/demo/category.json": {"name": "Demo", "description": "…"},
            "commands/demo/hello/command.json": hello,
            "commands/demo/hello/main.sh": "#!/bin/sh\n",
        }
    )
    printed = made.run("self", "list", "--format", "json")
    assert in_order(json.loads(printed.stdout)) == in_order(example)


def test_the_registry(tmp_path: Path) -> None:
    made = builder(tmp_path / "made")({})
    repository = Repository(tmp_path / "deploy", plugin_files(name="deploy"))
    added = made.run("self", "plugin", "add", "--yes", repository.url)
    assert added.status == 0, added.stderr

    written = json.loads((made.root / "plugins/registry.json").read_text())
    assert list(written) == ["$schema", "version", "plugins"]
    table = _REFERENCE.partition("<!-- keys: registry/registered-plugin -->\n\n")[2]
    keys = re.findall(r"^\| `(\w+)` \|", table.partition("\n\n")[0], re.MULTILINE)
    assert set(written["plugins"][0]) <= set(keys)


def test_the_findings_of_doctor_and_lint(tmp_path: Path) -> None:
    missing = {"commands/demo/hello/command.json": command(entrypoint="gone.sh")}
    made = builder(tmp_path)(missing)

    doctor = json.loads(made.run("self", "doctor", "--format", "json").stdout)
    assert keys_at('{"checks"') == [*doctor, *doctor["findings"][0]]

    lint = json.loads(made.run("self", "lint", "--format", "json").stdout)
    shown = keys_at('{"findings": [{"file"')
    assert [key for key in shown if key in lint] == list(lint)
    first = shown.index("findings") + 1
    keys = list(lint["findings"][0])
    assert shown[first : first + len(keys)] == keys
    assert set(lint["descriptions"]) < set(shown)
