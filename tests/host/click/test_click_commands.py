"""A click command of a plugin is one command; click itself parses, helps and completes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest

from host.click.click_commands import tree_of
from testing.installation import IMPORTABLE, PROJECT, Made

pytestmark = pytest.mark.usefixtures("command_forks")

SCAFFOLD = PROJECT / "src/builtin_plugins/self_commands/templates/package"
MODULE = f"clicked_{os.getpid()}"  # each worker has its own
HOOKS = f"""
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    module = "{IMPORTABLE.name}.{MODULE}"
    keys = {{"effects": "read", "envs": {{"REGION": "north"}}}}
    keys |= {{"name": "Cloud", "description": "Machines", "entrypoint": f"{{module}}:cloud"}}
    yield CommandDeclaration(("cloud",), keys)
    keys |= {{"confirm": "Really?", "secrets": {{"TOKEN": "run:false"}}, "exclusive": True}}
    yield CommandDeclaration(("careful",), {{**keys, "record": True}})
    keys = {{"name": "P", "description": "No click"}}
    yield CommandDeclaration(("plain",), {{**keys, "entrypoint": f"{{module}}:plain"}})
    yield CommandDeclaration(("careful", "own"), {{**keys, "entrypoint": f"{{module}}:plain"}})
"""
COMMANDS = '''
import os
import time
from pathlib import Path
import click

if "IMPORT_LOG" in os.environ:
    Path(os.environ["IMPORT_LOG"]).touch()
time.sleep(float(os.environ.get("IMPORT_SECONDS", 0)))

@click.group(invoke_without_command=True)
@click.option("-v", "--verbose", count=True, help="Say more.")
@click.option("--site", required=False, help="Where\\nit is.")
@click.pass_context
def cloud(context, verbose, site):
    """Manage machines."""
    if context.invoked_subcommand is None:
        click.echo(f"group {verbose}")

@cloud.command(epilog="The end.", deprecated=True)
@click.argument("machine")
@click.option("--password", help="The password.")
@click.option("--pair", nargs=2, hide_input=True)
def create(machine, password, pair):
    """Create a machine."""
    names = ("COMMAND_CATEGORY", "COMMAND_NAME", "REGION")
    click.echo(" ".join(os.environ[name] for name in names))
    click.echo([name for name in os.environ if name.startswith("ARG_")])
    click.echo(f"{machine} {password} {pair}")

@cloud.command()
@click.argument("path")
def hold(path):
    """Hold the lock until PATH is gone."""
    Path(path).touch()
    while Path(path).exists():
        time.sleep(0.01)

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


def completed(made: Made, *words: str, env: dict[str, str] | None = None) -> list[str]:
    done = made.run("--complete", "zsh", *words, env=env)
    return [line.partition("\t")[0] for line in done.stdout.splitlines()[1:]]


@pytest.mark.slow
def test_click_parses_and_runs(made: Made) -> None:
    assert made.run("cloud", "-vv").all == (0, "group 2\n", "")
    assert made.run("cloud", "--verbose", "deep", "er", "4").all == (0, "5\n", "")
    done = made.run("cloud", "-v", "create", "web", "--password", "x")
    # The name of the run is that of the declared command.
    assert done.stdout.splitlines() == [" cloud north", "[]", "web x None"]


def test_a_command_with_the_words_of_a_subcommand_wins(made: Made) -> None:
    assert made.run("careful", "own", "a").all == (0, "['a']\n", "")


@pytest.mark.slow
def test_the_pages_are_clicks_own(made: Made) -> None:
    page = made.run("help", "cloud", "create")
    assert page.status == 0
    assert page.stdout.startswith("Usage: cli cloud create [OPTIONS] MACHINE\n")
    assert "The end." in page.stdout
    assert "(DEPRECATED)" in page.stdout
    # The options of the levels above are needed, too.
    _, _, above = page.stdout.partition(
        "Options of cli cloud, before the subcommand:\n"
    )
    assert "--verbose" in above
    assert "Where it is." in above

    whole = made.run("help", "cloud").stdout
    assert whole.startswith("Usage: cli cloud [OPTIONS] [COMMAND] [ARGS]...\n")
    assert "REGION  north  ← envs" in whole
    unknown = made.run("help", "cloud", "creat")
    assert unknown.all == (
        2,
        "",
        "cli: cloud has no subcommand creat; did you mean cli help cloud create?\n",
    )


@pytest.mark.slow
def test_help_asks_for_nothing(made: Made) -> None:
    """--help as the last word shows help without the question, the secrets and the history."""
    before = made.run("self", "history").stdout
    shown = made.run("careful", "-v", "create", "--help")
    assert (shown.status, shown.stderr) == (0, "")
    assert shown.stdout.startswith("Usage: cli careful create")
    assert made.run("careful", "--help").stdout.startswith(
        "Usage: cli careful [OPTIONS]"
    )
    assert made.run("self", "history").stdout == before
    # Here it is no request for help.
    assert made.run("careful", "create", "--", "--help").status == 1


def test_listings(made: Made) -> None:
    listing = made.run().stdout
    _, _, below = listing.partition("\n  cloud ")
    rows = [line.split(maxsplit=1) for line in below.splitlines()[:5]]
    assert rows == [
        ["Machines", "[plugin]"],
        ["create", "Create a machine. (DEPRECATED)"],
        ["each", "Run words on each machine."],
        ["hold", "Hold the lock until PATH is gone."],
        ["other"],
    ]
    tree = made.run("--format", "tree").stdout
    assert "├── cloud  Machines [plugin]\n│   ├── create  Create" in tree
    assert "cloud create" in made.run("self", "search", "deprecated").stdout
    commands = listed(made)
    assert commands.keys() == {"other", "plain", "cloud", "careful", "careful own"}
    cloud = commands["cloud"]
    assert (cloud["effects"], cloud["origin"], cloud["plugin"], cloud["args"]) == (
        "read",
        "python",
        "cloudy",
        [],
    )
    rows = {" ".join(one["words"]): one for one in cloud["subcommands"]}
    assert rows.keys() == {"create", "deep", "deep er", "each", "hold"}
    assert rows["deep er"] == {
        "words": ["deep", "er"],
        "description": "Deepest.",
        "hidden": True,
    }
    assert commands["plain"]["subcommands"] == []


@pytest.mark.slow
def test_program_asks_click(made: Made) -> None:
    program = made.program
    cloud = program.find(("cloud", "create"))
    assert cloud.words == ("cloud",)
    parts = {part.words: part for part in program.click_commands(cloud)}
    assert parts["create",].usage == "cli cloud create [OPTIONS] MACHINE"
    names = [parameter.name for parameter in parts["create",].parameters]
    assert names == ["verbose", "site", "machine", "password", "pair"]
    assert program.click_path(cloud, ["-v", "deep", "er", "1"]) == ("deep", "er")
    assert program.click_commands(program.find(("plain",))) == []


def test_the_lock_has_no_other_parameter(made: Made) -> None:
    lock = (made.root / "cli.lock").read_text()
    assert "--password" in lock
    assert "--site" not in lock
    assert "The password." not in lock


@pytest.mark.slow
def test_tab(made: Made) -> None:
    assert completed(made, "cloud", "") == ["create", "each", "hold"]
    assert completed(made, "cloud", "-v", "create", "--pa") == ["--password", "--pair"]
    assert completed(made, "cloud", "deep", "") == ["er"]
    assert completed(made, "help", "cloud", "") == ["create", "each", "hold"]
    # `Program.current` works, and the first word ends the options.
    assert completed(made, "cloud", "each", "--on", "x", "clo") == ["cli", "cloud"]
    assert completed(made, "cloud", "each", "cloud", "create", "--passw") == []
    limits = {"IMPORT_SECONDS": "5", "CLI_CLICK_TIMEOUT": "0.2"}
    assert completed(made, "cloud", "cr", env=limits) == []


def test_the_time_limit_of_a_page(made: Made) -> None:
    limits = {"IMPORT_SECONDS": "5", "CLI_CLICK_TIMEOUT": "0.2"}
    assert made.run("help", "cloud", "create", env=limits).all == (
        1,
        "",
        "cli: cloud: click did not answer within 0.2 s;"
        " to wait longer, set CLI_CLICK_TIMEOUT\n",
    )


@pytest.mark.slow
def test_secrets_are_masked(made: Made) -> None:
    line = [
        "cloud",
        "-v",
        "create",
        "web-hunter2",
        "--password",
        "hunter2",
        "--pair",
        "one1",
        "two2",
    ]
    assert made.run(*line, env={"CLI_RECORD": "1"}).status == 0
    misspelt = ["cloud", "create", "web", "--passwrod=hunter2"]
    assert made.run(*misspelt, env={"CLI_RECORD": "1"}).status == 2
    made.program.record(("cloud",), misspelt[1:], origin="mcp").finish(1)
    history = made.run("self", "history", "cloud", "--format", "json").stdout
    [called, refused, run] = json.loads(history)["runs"]
    assert called["arguments"] == refused["arguments"] == ["*" * 8] * 3
    assert run["words"] == ["cloud"]
    mask = "*" * 8
    assert run["arguments"] == [
        "-v",
        "create",
        f"web-{mask}",
        "--password",
        mask,
        "--pair",
        mask,
        mask,
    ]
    explained = made.run("--explain", "--format", "json", *line).stdout
    assert json.loads(explained)["arguments"] == run["arguments"]


def test_where_a_word_with_a_dash_may_be_secret() -> None:
    def masks(keys: dict[str, Any], *names: str) -> bool:
        parameters = []
        for name in names:
            kind = click.Option if name.startswith("-") else click.Argument
            parameters.append(kind([name]))
        command = click.Command("k", params=parameters, context_settings=keys)
        tree, faults = tree_of(click.Group("g", commands=[command]), "cli g")
        assert not faults
        return tree.masks_options

    assert not masks({}, "token", "--password")
    assert not masks({"token_normalize_func": str.lower}, "token", "--name")
    assert masks({"token_normalize_func": str.lower}, "--password")
    assert masks({"ignore_unknown_options": True}, "token")
    assert masks({"allow_interspersed_args": False}, "name", "token")
    assert not masks({"ignore_unknown_options": True}, "name", "--password")


@pytest.mark.slow
def test_one_lock_for_all_subcommands(made: Made) -> None:
    held = made.home / "held"
    env = {"PATH": os.environ["PATH"], "HOME": str(made.home), "TOKEN": "t"}
    first = subprocess.Popen(
        [made.launcher, "--yes", "careful", "hold", held],
        env=env,
        stdin=subprocess.DEVNULL,
    )
    try:
        while not held.exists():
            assert first.poll() is None
            time.sleep(0.02)
        second = made.run("--yes", "careful", "-v", "create", "x", env={"TOKEN": "t"})
        assert second.status == 75
    finally:
        held.unlink(missing_ok=True)
        assert first.wait() == 0


@pytest.mark.parametrize(
    "words",
    [("other",), ("self", "list"), ("--complete", "zsh", "ot"), ("help", "other")],
    ids=["a run", "a listing", "Tab", "help"],
)
def test_nothing_imports_the_plugin(made: Made, words: tuple[str, ...]) -> None:
    log = made.home / "imported"
    assert made.run(*words, env={"IMPORT_LOG": str(log)}).status == 0
    assert not log.exists()


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
    assert "cloud: cli_host_tests.missing_module:cloud: cannot be loaded" in done.stderr
    assert made.run("cloud").status == 1


def test_a_broken_subcommand_is_named(install: Callable[..., Made]) -> None:
    module = IMPORTABLE / f"lazy_{os.getpid()}.py"
    module.write_text(
        "import click\n"
        "class Lazy(click.Group):\n"
        "    def list_commands(self, ctx):\n"
        "        return ['good', 'old']\n"
        "    def get_command(self, ctx, name):\n"
        "        if name == 'old':\n"
        "            import removed_module\n"
        "        return click.Command(name, callback=lambda: click.echo('fine'))\n"
        "lazy = Lazy('lazy')\n"
    )
    reference = f"{IMPORTABLE.name}.{module.stem}:lazy"
    hooks = HOOKS.replace('f"{module}:cloud"', repr(reference))
    made = install(
        {
            "plugins/x/plugin.json": {"name": "x", "hooks": "hooks.py"},
            "plugins/x/hooks.py": hooks,
        }
    )
    try:
        done = made.run("cloud", "good", env={"CLI_RECORD": "1"})
        assert done.all[:2] == (0, "fine\n")
        reason = "ModuleNotFoundError: No module named 'removed_module'"
        assert "plugin x is broken" in done.stderr
        assert f": cloud old: cannot be loaded: {reason}; see" in done.stderr
        # What is secret is not known.
        history = made.run("self", "history", "--format", "json").stdout
        assert json.loads(history)["runs"][0]["arguments"] == ["*" * 8]
    finally:
        module.unlink()


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
    assert "cli: unknown command ship; the plugin x " in done.stderr
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
    assert commands["cloud"]["subcommands"] == []


@pytest.mark.slow
def test_the_example_of_the_guide_is_appended_to_the_scaffold(
    install: Callable[..., Made],
) -> None:
    guide = (PROJECT / "docs/writing-plugins.md").read_text()
    _, _, section = guide.partition("### Commands in click\n")
    texts = re.findall(r"cat >+ \S+\.py <<'PYTHON'\n(.*?)PYTHON\n", section, re.DOTALL)
    appended, commands = texts[:2]
    template = next(SCAFFOLD.glob("@PACKAGE@/plugin.py.txt")).read_text()
    module = IMPORTABLE / f"machines_{os.getpid()}.py"
    module.write_text(commands)
    hooks = (template + appended).replace(
        "greet.machines", f"{IMPORTABLE.name}.{module.stem}"
    )
    made = install(
        {
            "plugins/greet/plugin.json": {"name": "greet", "hooks": "hooks.py"},
            "plugins/greet/hooks.py": hooks.replace("@NAME@", "greet").replace(
                "@PACKAGE@", "greet"
            ),
        }
    )
    try:
        done = made.run("machines", "restart", "web-1", "--region", "south")
        assert done.all == (0, "restarting web-1 in south\n", "")
        assert completed(made, "machines", "restart", "web") == ["web-1", "web-2"]
        assert "--wait / --no-wait" in made.run("help", "machines", "restart").stdout
        # What the scaffold declares is still there.
        assert "greet count" in made.run("self", "list").stdout
    finally:
        module.unlink()
