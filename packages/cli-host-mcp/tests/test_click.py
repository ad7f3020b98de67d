"""Commands in click are tools with a schema, and click gets the words that the input means."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli_host_mcp.choice import Choice, all_commands
from cli_host_mcp.offer import Offer
from cli_host_mcp.problem import CallError
from conftest import Cli, connected, made
from host import Program

# Where a run can import it; each worker has its own.
MODULES = Path(sysconfig.get_path("purelib"), "cli_host_mcp_tests")
MODULE = f"clicked_{os.getpid()}"
HOOKS = f"""
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    keys = {{"name": "Cloud", "description": "Machines", "effects": "read"}}
    entrypoint = "{MODULES.name}.{MODULE}:cloud"
    yield CommandDeclaration(("cloud",), {{**keys, "entrypoint": entrypoint}})
"""
COMMANDS = '''
import click

@click.group()
def cloud():
    """Manage machines."""

@cloud.command()
@click.argument("machine")
@click.argument("words", nargs=-1)
@click.option("--region", "-r", type=click.Choice(["north", "south"]), default="north")
@click.option("--tag", "--label", "tags", multiple=True, required=True, help="A tag.")
@click.option("--cache/--no-cache", default=True)
@click.option("--size", nargs=2, type=int, default=(1, 2), metavar="SIDE")
@click.option("-n", type=float, default=float("inf"))
@click.option("--token", hidden=True)
def create(**values):
    """Create a machine."""
    for name, value in values.items():
        click.echo(f"{name}: {value}")

@cloud.command()
def empty():
    """Take nothing."""
    click.echo("nothing")
'''


@pytest.fixture(scope="module")
def clicked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    cli = made(tmp_path_factory.mktemp("click"))
    plugin = cli.root / "plugins/cloudy"
    plugin.mkdir(parents=True)
    (plugin / "plugin.json").write_text('{"name": "cloudy", "hooks": "hooks.py"}')
    (plugin / "hooks.py").write_text(HOOKS)
    MODULES.mkdir(exist_ok=True)
    module = MODULES / f"{MODULE}.py"
    module.write_text(COMMANDS)
    yield cli
    module.unlink()


@pytest.fixture
def served(clicked: Cli, monkeypatch: pytest.MonkeyPatch) -> Offer:
    ours = {
        "CLI_DIR": str(clicked.root),
        "COMMAND_NAME": "serve",
        "COMMAND_CATEGORY": "mcp",
    }
    for name, value in {**clicked.environ, **ours}.items():
        monkeypatch.setenv(name, value)
    choice = Choice(patterns=("cloud/*",))
    return Offer(
        choice, choice.served(all_commands(Program.current())), "cli", search=False
    )


def test_the_schema(served: Offer) -> None:
    schemas = {tool["name"]: tool["inputSchema"] for tool in served.tools()}
    create = schemas["cloud__create"]
    assert create["required"] == [
        "machine",
        "tag",
    ]  # its other name, `label`, is as good
    assert create["properties"] == {
        "machine": {"type": "string"},
        "words": {"type": "array", "items": {"type": "string"}},
        "region": {"type": "string", "enum": ["north", "south"], "default": "north"},
        "tag": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "description": "A tag.",
        },
        "label": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The same as --tag.",
        },
        "cache": {"type": "boolean", "default": True},
        "size": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
        },
        "-n": {"type": "number"},
    }
    assert schemas["cloud__empty"]["properties"] == {}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"machine": "a", "tag": ["x", "y"]}, ["--tag", "x", "--tag", "y", "a"]),
        (
            {"machine": "a", "cache": False, "region": "south"},
            ["--region", "south", "--no-cache", "a"],
        ),
        ({"machine": "a", "size": [-3, 4]}, ["--size", "-3", "4", "a"]),
        ({"machine": "a", "tag": ["--x"], "-n": -5}, ["--tag=--x", "-n-5", "a"]),
        ({"machine": "a", "words": ["--region", "x"]}, ["--", "a", "--region", "x"]),
    ],
    ids=[
        "multiple",
        "flag",
        "two values",
        "values that look like options",
        "no option",
    ],
)
def test_the_words(served: Offer, given: dict[str, Any], words: list[str]) -> None:
    assert served.answer("cloud__create", given).args == words


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"size": [1]}, "size: expected 2 values; found 1"),
        ({"size": "1 2"}, "size: expected an array"),
        ({"token": "x"}, "unknown argument token"),
    ],
)
def test_what_does_not_fit(served: Offer, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(CallError, match=problem):
        served.answer("cloud__create", given)
    with pytest.raises(CallError, match="unknown argument words; known: none"):
        served.answer("cloud__empty", {"words": []})


def test_click_itself_parses(clicked: Cli) -> None:
    with connected(clicked, "2026-07-28") as assistant:
        given = {
            "machine": "-m",
            "words": ["--tag", "z"],
            "tag": ["-x"],
            "size": [-3, 4],
            "-n": -5,
        }
        called = assistant.call("cloud__create", **given)
        assert called.text.splitlines() == [
            "tags: ('-x',)",
            "size: (-3, 4)",
            "n: -5.0",
            "machine: -m",
            "words: ('--tag', 'z')",
            "region: north",
            "cache: True",
            "token: None",
        ]
        missing = assistant.call("cloud__create", machine="a")
        assert missing.failed
        assert "Missing option '--tag' / '--label'" in missing.text
