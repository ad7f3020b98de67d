"""A click command of a plugin declares itself: help, Tab, JSON and search need no click."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from testing.installation import IMPORTABLE, PROJECT, Made

MODULE = f"clicked_{os.getpid()}"  # each worker has its own
HOOKS = f"""
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    keys = {{"effects": "read", "envs": {{"REGION": "north"}}}}
    keys |= {{"name": "Cloud", "description": "Machines"}}
    module = "{IMPORTABLE.name}.{MODULE}"
    yield CommandDeclaration(("cloud",), {{**keys, "entrypoint": f"{{module}}:cloud"}})
    keys = {{"name": "P", "description": "No click"}}
    yield CommandDeclaration(("plain",), {{**keys, "entrypoint": f"{{module}}:plain"}})
"""
COMMANDS = '''
import os
from pathlib import Path
import click

if "IMPORT_LOG" in os.environ:
    Path(os.environ["IMPORT_LOG"]).touch()

@click.group(invoke_without_command=True)
@click.option("-v", "--verbose", count=True, help="Say more.")
@click.pass_context
def cloud(context, verbose):
    """Manage machines.

    A machine has a name.
    """
    context.obj = verbose
    if context.invoked_subcommand is None:
        click.echo(f"group {verbose}")

def machines(context, parameter, incomplete):
    with open(os.environ["HOME"] + "/completed", "a") as file:
        file.write(f"{parameter.name}\\n")
    region = context.params.get("region")
    return [name for name in (f"{region}-web", f"{region}-db") if name.startswith(incomplete)]

@cloud.command(epilog="The end.")
@click.argument("machine", shell_complete=machines)
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--region", "-r", type=click.Choice(["north", "south"]), default="north")
@click.option("--tag", "--label", "tags", multiple=True, envvar="CLOUD_TAGS", help="A tag.")
@click.option("--cache/--no-cache", default=True, help="Use the cache.")
@click.option("--loud/--quiet", "-l/-q", help="Noise.")
@click.option("--size", nargs=2, type=int, required=True)
@click.option("--place", "--site", nargs=2, required=True, default=("a", "b"), metavar="ON MAP X")
@click.option("--ratio", type=click.FloatRange(0, 1))
@click.option("--target", type=click.Path(file_okay=False))
@click.option("--token", hidden=True, hide_input=True)
@click.option("--now", default=lambda: 5)
@click.pass_obj
def create(verbose, **values):
    """Create a machine.

    The name is free.
    """
    names = ("COMMAND_CATEGORY", "COMMAND_NAME", "REGION")
    click.echo(" ".join(os.environ[name] for name in names))
    click.echo([name for name in os.environ if name.startswith("ARG_")])
    click.echo(sorted((name, str(value)) for name, value in values.items()))

@cloud.group(hidden=True)
def deep():
    """Deeper."""

@deep.command("er")
@click.argument("x", type=int)
def er(x):
    """Deepest."""
    click.echo(x + 1)

def words(context, parameter, incomplete):
    from host import Program
    program = Program.current()
    offered = program.candidates(context.params["words"] or (), incomplete)
    return [program.name, *(word for word, about in offered)]

@cloud.command(context_settings={"allow_interspersed_args": False})
@click.option("--on")
@click.argument("words", nargs=-1, shell_complete=words)
def each(**values):
    """Run words on each machine."""

def plain(args):
    print(args)
'''
LINE = ["--size", "1", "2", "web"]


@pytest.fixture(scope="module", autouse=True)
def _module() -> Iterator[None]:
    file = IMPORTABLE / f"{MODULE}.py"
    file.write_text(COMMANDS)
    yield
    file.unlink()


@pytest.fixture(scope="module")
def made(shared_install: Callable[..., Made]) -> Made:
    made = shared_install(
        {
            "plugins/cloudy/plugin.json": {"name": "cloudy", "hooks": "hooks.py"},
            "plugins/cloudy/hooks.py": HOOKS,
            "commands/other": "#!/bin/sh\necho other\n",
        }
    )
    assert made.run("other").all == (0, "other\n", "")
    return made


def listed(made: Made) -> dict[str, dict[str, Any]]:
    shown = made.run("self", "list", "--all", "--format", "json")
    assert (shown.status, shown.stderr) == (0, "")
    return {" ".join(one["path"]): one for one in json.loads(shown.stdout)["commands"]}


def completed(made: Made, *words: str) -> list[str]:
    _, *candidates = made.run("--complete", "zsh", *words).stdout.splitlines()
    return [line.partition("\t")[0] for line in candidates]


@pytest.mark.slow
def test_click_parses_and_runs(made: Made) -> None:
    assert made.run("cloud").all == (0, "group 0\n", "")
    assert made.run("cloud", "-vv").all == (0, "group 2\n", "")
    assert made.run("cloud", "deep", "er", "4").all == (0, "5\n", "")
    done = made.run(
        "cloud", "create", *LINE, "--no-cache", "--tag", "a", "--label", "b"
    )
    first, variables, values = done.stdout.splitlines()
    assert (first, variables) == ("cloud create north", "[]")
    assert "('cache', 'False')" in values
    assert "('tags', \"('a', 'b')\")" in values
    assert (
        made.run("cloud", "--verbose", "deep", "er", "4").stdout == "5\n"
    )  # through the group


def test_errors_and_help_are_clicks_own(made: Made) -> None:
    wrong = made.run("cloud", "create", "--size", "1")
    assert wrong.status == 2
    assert wrong.stderr == "Error: Option '--size' requires 2 arguments.\n"
    shown = made.run("cloud", "create", "--help")
    assert shown.status == 0
    assert shown.stdout.startswith("Usage: cli cloud create [OPTIONS]")
    assert "The end." in shown.stdout


def test_the_help_page(made: Made) -> None:
    page = made.run("help", "cloud", "create").stdout
    assert page.startswith("create\nCreate a machine.\n")
    assert "The name is free." in page
    for text in (
        "<machine>",
        "[files...]",
        "-r, --region CHOICE",
        "one of north, south; default: north",
        "--tag TEXT",
        "A tag. (may be repeated; env: CLOUD_TAGS)",
        "--label TEXT",
        "--[no-]cache",
        "--size INTEGER INTEGER",
        "required",
        "--quiet",
    ):
        assert text in page, text
    assert "--token" not in page
    group = made.run("help", "cloud").stdout
    assert "A machine has a name." in group
    assert "create  Create a machine." in group
    assert "deep" not in group


def test_json(made: Made) -> None:
    commands = listed(made)
    assert {name for name in commands if name.startswith("cloud")} == {
        "cloud",
        "cloud create",
        "cloud deep",
        "cloud deep er",
        "cloud each",
    }
    create = commands["cloud create"]
    assert (create["effects"], create["origin"], create["plugin"]) == (
        "read",
        "python",
        "cloudy",
    )
    arguments = {one["name"]: one for one in create["args"]}
    assert arguments["machine"]["required"] is True
    assert (arguments["files..."]["type"], arguments["files..."]["repeats"]) == (
        "file",
        True,
    )
    assert arguments["--region"]["choices"] == ["north", "south"]
    assert (arguments["--size"]["type"], arguments["--size"]["required"]) == (
        "integer",
        True,
    )
    assert arguments["--ratio"]["type"] == "number"
    assert arguments["--target"]["type"] == "directory"
    assert (arguments["--token"]["hidden"], arguments["--token"]["secret"]) == (
        True,
        True,
    )
    assert arguments["--now"]["default"] is None
    assert arguments["--tag"]["env"] == "CLOUD_TAGS"
    # One name of a required option is enough, and its placeholder has a word for each value.
    assert [arguments[name]["required"] for name in ("--place", "--site")] == [
        True,
        False,
    ]
    assert arguments["--place"]["value"] == "ON-MAP-X ON-MAP-X"
    assert commands["cloud deep"]["hidden"] is True
    assert commands["plain"]["args"] == []


@pytest.mark.slow
def test_tab(made: Made) -> None:
    assert completed(made, "cloud", "") == ["create", "each"]
    options = completed(made, "cloud", "create", "--")
    assert {"--region", "--tag", "--cache", "--no-cache", "--size", "--quiet"} <= set(
        options
    )
    assert "--token" not in options
    assert completed(made, "cloud", "create", "--region", "") == ["north", "south"]
    assert completed(made, "cloud", "create", "--region=so") == ["--region=south"]
    assert completed(made, "cloud", "deep", "") == ["er"]
    assert not (made.home / "completed").exists()  # for one parameter only
    assert completed(made, "cloud", "create", "-r", "south", "") == [
        "south-web",
        "south-db",
    ]
    assert completed(made, "cloud", "create", "north-w") == ["north-web"]
    assert (made.home / "completed").read_text() == "machine\n" * 2
    # A command that runs others: the first word ends its options, and `Program.current` works.
    assert completed(made, "cloud", "each", "--") == ["--on", "--help"]
    assert completed(made, "cloud", "each", "--on", "x", "clo") == ["cloud"]
    assert completed(made, "cloud", "each", "c") == ["cli", "cloud"]
    assert completed(made, "cloud", "each", "cloud", "create", "--cac") == ["--cache"]
    directories = made.run(
        "--complete", "zsh", "cloud", "create", "--target", ""
    ).stdout
    assert directories == "directories\n"


def test_search(made: Made) -> None:
    assert "cloud create" in made.run("self", "search", "tag").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("other",),
        ("self", "list"),
        ("--complete", "zsh", "ot"),
        ("help", "cloud", "create"),
    ],
    ids=["a run", "a listing", "Tab", "help"],
)
def test_nothing_imports_the_plugin(made: Made, words: tuple[str, ...]) -> None:
    log = made.home / "imported"
    assert made.run(*words, env={"IMPORT_LOG": str(log)}).status == 0
    assert not log.exists()
    made.run("cloud", env={"IMPORT_LOG": str(log)})
    assert log.exists()
    log.unlink()


def test_a_reference_that_cannot_be_imported(install: Callable[..., Made]) -> None:
    made = install(
        {
            "plugins/x/plugin.json": {"name": "x", "hooks": "hooks.py"},
            "plugins/x/hooks.py": HOOKS.replace(MODULE, "missing_module"),
            "commands/other": "#!/bin/sh\necho other\n",
        }
    )
    done = made.run("other")
    assert done.all[:2] == (0, "other\n")
    assert "plugin x is broken" in done.stderr
    assert "missing_module:cloud: cannot be loaded" in done.stderr
    assert made.run("cloud").status == 1


@pytest.mark.parametrize("module", ["hooks", "__name__"])
def test_a_function_in_the_hooks_file_cannot_be_a_command(
    install: Callable[..., Made], module: str
) -> None:
    hooks = (
        "from host import CommandDeclaration, hookimpl\n"
        "module = __name__ if {module!r} == '__name__' else {module!r}\n"
        "@hookimpl\n"
        "def discover_commands():\n"
        "    for word, more in (('it', {{}}), ('all', {{'args': []}})):\n"
        "        definition = {{'name': word, 'description': 'd'}}\n"
        "        definition['entrypoint'] = f'{{module}}:main'\n"
        "        yield CommandDeclaration(('ship', word), {{**definition, **more}})\n"
        "    definition['entrypoint'] = 'os:getcwd'\n"
        "    yield CommandDeclaration(('cwd',), definition)\n"
        "def main(arguments):\n"
        "    return 0\n"
    )
    made = install(
        {
            "plugins/x/plugin.json": {"name": "x", "hooks": "hooks.py"},
            "plugins/x/hooks.py": hooks.format(module=module),
        }
    )
    done = made.run("ship", "it")
    assert done.status == 2
    reason = "is in the hooks file, which a run cannot import; put it into a package"
    assert "cli: unknown command ship; the plugin x has it: " in done.stderr
    assert reason in done.stderr
    assert "cwd" in made.run().stdout  # its other commands work


def test_args_of_the_plugin_are_kept(install: Callable[..., Made]) -> None:
    hooks = HOOKS.replace('"effects": "read"', '"args": [{"name": "only"}]')
    made = install(
        {
            "plugins/x/plugin.json": {"name": "x", "hooks": "hooks.py"},
            "plugins/x/hooks.py": hooks,
        }
    )
    commands = listed(made)
    assert [one["name"] for one in commands["cloud"]["args"]] == ["only"]
    assert "cloud create" not in commands


@pytest.mark.slow
def test_the_example_of_the_guide(install: Callable[..., Made]) -> None:
    guide = (PROJECT / "docs/writing-plugins.md").read_text()
    blocks = re.findall(r"```python\n# [^\n]*\n(.*?)```", guide, re.DOTALL)
    hook, commands = [block for block in blocks if "machines" in block]
    module = IMPORTABLE / f"machines_{os.getpid()}.py"
    module.write_text(commands)
    hook = hook.replace("greet.machines", f"{IMPORTABLE.name}.{module.stem}")
    made = install(
        {
            "plugins/greet/plugin.json": {"name": "greet", "hooks": "hooks.py"},
            "plugins/greet/hooks.py": f"from host import CommandDeclaration, hookimpl\n{hook}",
        }
    )
    try:
        done = made.run("machines", "restart", "web-1", "--region", "south")
        assert done.all == (0, "restarting web-1 in south\n", "")
        assert completed(made, "machines", "restart", "web") == ["web-1", "web-2"]
        assert "--[no-]wait" in made.run("help", "machines", "restart").stdout
    finally:
        module.unlink()
