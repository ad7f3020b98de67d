"""Commands with `"output": "json"`: their output is data, in both protocols."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import MODES, Assistant, Cli, connected, made


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    found = made(tmp_path_factory.mktemp("structured"))
    found.command("json text", "echo text\n")
    shape = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
    }
    for name, script, schema in (
        ("object", 'echo "{\\"n\\": ${1-1}}"\n', shape),
        ("list", "echo '[1, 2]'\n", {"type": "array", "items": {"$ref": "#/$defs/n"},
                                     "$defs": {"n": {"type": "integer"}}}),
        ("free", 'printf "%s" "${1-[]}"\n', None),
        ("secret", """printf '{"n": "%s"}' 'a\\"b\\\\c'\n""", None),
    ):  # fmt: skip
        more = {"schema": "out.json"} if schema else {}
        envs = {"QUOTED_KEY": 'a"b\\\\c'} if name == "secret" else {}
        found.command(
            f"json {name}", script, effects="read", output="json", envs=envs, **more
        )
        folder = found.root / "commands/json" / name
        (folder / "out.json").write_text(json.dumps(schema or {}))
    return found


@pytest.fixture(scope="module", params=MODES)
def client(small: Cli, request: pytest.FixtureRequest) -> Any:
    with connected(small, request.param, "json") as found:
        yield found


def test_output_in_json_is_data(client: Assistant) -> None:
    tools = client.tools()
    assert tools["json__object"].output_schema["required"] == ["n"]
    assert tools["json__list"].output_schema["properties"]["result"]["type"] == "array"
    assert tools["json__free"].output_schema["required"] == ["result"]
    assert tools["json__text"].output_schema is None
    assert client.call("json__object").data == {"n": 1}
    assert client.call("json__list").data == {"result": [1, 2]}
    assert client.call("json__free", words=["null"]).data == {"result": None}


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("json__object", ['"x"'], "stdout does not have its schema, at n"),
        ("json__free", ["1 2"], "stdout is not one JSON value: Extra data"),
        ("json__free", [""], "stdout is not one JSON value: Expecting value"),
        (
            "json__free",
            ["1" * 70_000],
            "the output is too long to be data; see --max-output",
        ),
    ],
)
def test_output_that_is_not_as_declared_is_an_error(
    client: Assistant, name: str, words: list[str], said: str
) -> None:
    found = client.call(name, words=words)
    assert (found.failed, found.data, found.blocks[-1]) == (True, None, said)


def test_a_secret_is_masked_in_json_too(client: Assistant) -> None:
    assert client.call("json__secret").data == {"result": {"n": "********"}}
