"""Subcommands of click are tools with a schema, and click gets the words that the input means."""

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
from testing.installation import variables_of

# Where a run can import it; each worker has its own.
MODULES = Path(sysconfig.get_path("purelib"), "cli_host_mcp_tests")
MODULE = f"clicked_{os.getpid()}"
HOOKS = f"""
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    keys = {{"description": "Machines", "effects": "read"}}
    for word in ("cloud", "chain", "env"):
        entrypoint = f"{MODULES.name}.{MODULE}:{{word}}"
        definition = {{**keys, "name": word, "entrypoint": entrypoint}}
        yield CommandDeclaration((word,), definition)
"""
COMMANDS = '''
import enum
import click

class Color(enum.Enum):
    RED = "r"
    BLUE = "b"

@click.group(context_settings={"default_map": {"create": {"level": 7}}})
@click.option("--token", required=True, help="A token\\nof two lines.")
def cloud(token):
    """Manage machines."""

@cloud.command()
@click.argument("machine")
@click.argument("words", nargs=-1)
@click.option("--region", "-r", type=click.Choice(["north", "south"]), default="north")
@click.option("--color", type=click.Choice(Color), default=Color.RED)
@click.option("--tag", "--label", "tags", multiple=True, default=["a b"], help="A tag.")
@click.option("--cache/--no-cache", default=True)
@click.option("--size", nargs=2, type=int, default=(1, 2), metavar="SIDE")
@click.option("-n", type=float, default=float("inf"))
@click.option("--level", type=click.IntRange(1, 9))
@click.option("-v", "--verbose", count=True)
@click.option("--when", type=click.DateTime(), default=__import__("datetime").datetime(2026, 1, 2))
@click.option("--token", hide_input=True, prompt=True)
@click.option("--secret-of-us", hidden=True)
def create(**values):
    """Create a machine."""
    for name, value in values.items():
        click.echo(f"{name}: {value}")

@cloud.command(hidden=True)
def hidden():
    """Hide."""

@cloud.command()
def empty():
    """Take nothing."""
    click.echo("nothing")

@click.group()
@click.argument("stage")
@click.pass_context
def env(context, stage):
    context.obj = stage

@env.command()
@click.pass_obj
def deploy(stage):
    click.echo(f"deploy to {stage}")

@env.command()
@click.pass_obj
def status(stage):
    click.echo(f"status of {stage}")

@click.group(chain=True)
def chain():
    """Chain."""

@chain.command()
def one():
    click.echo("one")
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


@pytest.fixture(scope="module")
def current(clicked: Cli) -> Iterator[Program]:
    ours = variables_of(clicked.root, "mcp", "serve")
    with pytest.MonkeyPatch.context() as environment:
        for name, value in {**clicked.environ, **ours}.items():
            environment.setenv(name, value)
        yield Program.current()


def offer(program: Program, *patterns: str) -> Offer:
    choice = Choice(patterns=patterns)
    served = choice.served(program, all_commands(program))
    return Offer(choice, served, "cli", search=False)


@pytest.fixture(scope="module")
def cloud(current: Program) -> Offer:
    """The tools of `cloud`, which a process of the plugin describes."""
    return offer(current, "cloud")


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        # A bare group can only fail, and nobody knows what the words of a chain mean.
        (
            ("cloud", "env", "chain*"),
            ["cloud__create", "cloud__empty", "env__deploy", "env__status"],
        ),
        (("env/status",), ["env__status"]),
        (("cloud/hidden",), ["cloud__hidden"]),
        (("chain",), ["chain"]),
    ],
)
def test_the_tools(
    current: Program, patterns: tuple[str, ...], names: list[str]
) -> None:
    assert sorted(tool["name"] for tool in offer(current, *patterns).tools()) == names


def test_the_schema(cloud: Offer) -> None:
    schemas = {tool["name"]: tool["inputSchema"] for tool in cloud.tools()}
    create = schemas["cloud__create"]
    assert create["required"] == ["token", "machine", "create.token"]
    strings = {"type": "array", "items": {"type": "string"}}
    assert create["properties"] == {
        "token": {"type": "string", "description": "A token of two lines., secret"},
        "machine": {"type": "string"},
        "words": strings,
        "region": {"type": "string", "enum": ["north", "south"], "default": "north"},
        "color": {"type": "string", "enum": ["RED", "BLUE"], "default": "RED"},
        "tag": {**strings, "description": "A tag.", "default": ["a b"]},
        "cache": {"type": "boolean", "default": True},
        "size": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
            "default": [1, 2],
        },
        "n": {"type": "number"},
        "level": {"type": "integer", "minimum": 1, "maximum": 9, "default": 7},
        "verbose": {"type": "integer", "minimum": 0, "default": 0},
        "when": {"type": "string"},
        "create.token": {"type": "string", "description": "secret"},
    }
    assert schemas["cloud__empty"]["properties"].keys() == {"token"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tag": ["x", "-y"]}, "create --tag=x --tag=-y -- a"),
        ({"cache": False, "region": "south"}, "create --region=south --no-cache -- a"),
        ({"size": [-3, 4]}, "create --size=-3 4 -- a"),
        ({"n": -5, "verbose": 2}, "create -n-5 --verbose --verbose -- a"),
        ({"words": ["--region", "x"]}, "create -- a --region x"),
        ({"token": "-t", "create.token": "u"}, "--token=-t create --token=u -- a"),
    ],
    ids=["multiple", "flag", "two values", "short and count", "no option", "levels"],
)
def test_the_words(cloud: Offer, given: dict[str, Any], words: str) -> None:
    call = cloud.answer("cloud__create", {"machine": "a", **given})
    assert not isinstance(call, str)
    assert (call.command.words, list(call.args)) == (("cloud",), words.split())


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"size": [1]}, "size: expected 2 values; found 1"),
        ({"size": "1 2"}, "size: expected an array"),
        ({"secret-of-us": "x"}, "unknown argument secret-of-us"),
        ({"words": ["x"]}, "words cannot be given without machine"),
    ],
)
def test_what_does_not_fit(cloud: Offer, given: dict[str, Any], problem: str) -> None:
    with pytest.raises(CallError, match=problem):
        cloud.answer("cloud__create", given)


def test_no_value_leads_to_another_subcommand(current: Program) -> None:
    """ENV is `deploy`, and only `status` is allowed."""
    served = offer(current, "env/status")
    call = served.answer("env__status", {"stage": "deploy"})
    assert not isinstance(call, str)
    assert list(call.args) == ["--", "deploy", "status"]
    # Without ENV, click would take `status` for it.
    with pytest.raises(CallError, match="would run another subcommand"):
        served.answer("env__status", {})


def test_click_itself_parses(clicked: Cli) -> None:
    with connected(clicked, "2026-07-28") as assistant:
        given = {
            "token": "t",
            "create.token": "hunter2",
            "machine": "-m",
            "words": ["--tag", "z"],
            "tag": ["-x"],
            "size": [-3, 4],
            "n": -5,
        }
        called = assistant.call("cloud__create", **given)
        assert "machine: -m\nwords: ('--tag', 'z')" in called.text
        assert "tags: ('-x',)\n" in called.text
        assert "size: (-3, 4)\nn: -5.0\n" in called.text
        missing = assistant.call("cloud__create", token="t")
        assert missing.failed
        assert "Missing argument 'MACHINE'" in missing.text
    history = clicked.run("self", "history", "--format", "json").stdout
    assert "hunter2" not in history
    assert "--token=********" in history
