"""Pages that no definition makes: of `self`, topics, and where there is no installation."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from host.words import TOPICS
from testing.installation import Made, command

Install = Callable[..., Made]


_ALONE = ([], ["--safe"], ["--yes"], ["--color", "never"])
_HELP = (["--help"], ["-h"], ["help"], ["self", "--help"], ["self", "plugin", "-h"])


@pytest.mark.parametrize(
    "words", [*_HELP, ["help", "self", "new"], *_ALONE], ids=" ".join
)
@pytest.mark.sampled
def test_help_without_an_installation(
    install: Install, tmp_path: Path, words: list[str]
) -> None:
    made = install()
    nowhere = {"CLI_DIR": str(tmp_path / "nowhere")}
    shown = made.run(*words, env=nowhere)
    assert (shown.status, shown.stderr) == (0, "")
    missing = f"{tmp_path}/nowhere/core/cli.json"
    assert f"There is no installation yet: {missing} does not exist.\n" in shown.stdout
    assert "\nUsage: cli self init [DIRECTORY] [--name NAME]\n" in shown.stdout
    made.write({"core/cli.json": "{"})
    assert made.run(*words).status == 1


@pytest.mark.slow
def test_what_is_no_help_needs_an_installation(
    install: Install, tmp_path: Path
) -> None:
    made, nowhere = install(), {"CLI_DIR": str(tmp_path / "nowhere")}
    for words in (["--all"], ["--format", "json"], ["demo"], ["self", "plugin"]):
        assert made.run(*words, env=nowhere).status == 1, words
    assert made.run("help", "self", "plugim", env=nowhere).status == 2


@pytest.mark.parametrize("name", TOPICS)
@pytest.mark.sampled
def test_topics(install: Install, name: str) -> None:
    made = install()
    shown = made.run("help", name)
    assert (shown.status, shown.stderr) == (0, "")
    assert len(shown.stdout) > 200
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert name in made.run().stdout
    assert made.run(name).status == 2
    slip = made.run("help", f"{name}x")
    assert (slip.status, slip.stdout) == (2, "")
    assert f" cli help {name}" in slip.stderr
    made.write({f"commands/{name}/x/command.json": command(description="own")})
    assert "own" in made.run("help", name).stdout


def test_pages_of_self_look_like_those_of_commands(install: Install) -> None:
    made = install()
    shown = made.run("self", "list", "--help")
    assert (shown.status, shown.stderr) == (0, "")
    assert (
        shown.stdout
        == """\
cli self list
List all commands, or those in the category WORDS.

Usage: cli self list [words...] [--all] [--format FORMAT]

Arguments:
  words...

Options:
  --all            Also list hidden commands and those for other systems.
  --format FORMAT  text, json, tree or a plugin's format. (default: text)
"""
    )
    assert made.run("help", "self", "list").all == shown.all
    group = made.run("self", "plugin").stdout
    assert group.startswith("plugin\nAdd, list, update and remove plugins\n\nUsage: ")
    assert "\nCommands:\n  add       Add a plugin from" in group
    coloured = made.run("--color=always", "self", "list", "--help").stdout
    assert "\x1b[1mUsage:\x1b[0m cli self" in coloured
    assert "  \x1b[36m--all\x1b[0m            Also list" in coloured


DEPLOY = command(
    envs={"URL": "https://me:pw@$HOST/$REGION", "MODE": "fast", "EMPTY": ""},
    env_files=[".env", "more.env"],
    required_envs=["TOKEN", "REGION", "GONE"],
)
ENV = 'TOKEN="abcdefgh"\nLINK=x-abcdefgh\nTIMEOUT=40\nHOST=fromfile\n'


def variables(page: str) -> list[str]:
    return page.partition("\nVariables:\n")[2].partition("\n\n")[0].splitlines()


def test_a_help_page_has_the_values_that_a_run_would_have(install: Install) -> None:
    made = install(
        {
            "commands/a/deploy/command.json": DEPLOY,
            "commands/a/deploy/main.sh": "#!/bin/bash\nenv\n",
            "commands/a/deploy/.env": ENV,
            "config/settings.conf": "# plain\nexport TIMEOUT=30 # s\nREGION='eu 1'\nUNUSED=1\n",
        }
    )
    shown = made.run("help", "a", "deploy", env={"MODE": "slow"})
    assert (shown.status, shown.stderr) == (0, "")
    assert variables(shown.stdout) == [
        "  TOKEN    ********  ← .env:1, required",
        "  REGION   …  ← config/settings.conf:3, required",
        "  GONE     missing, required",
        '  EMPTY    ""  ← command.json: envs.EMPTY',
        "  HOST     fromfile  ← .env:4",
        "  LINK     x-********  ← .env:2",
        "  MODE     slow  ← your environment",
        "  TIMEOUT  …  ← config/settings.conf:2",
        "  URL      …  ← command.json: envs.URL",
    ]
    assert "Environment files:\n  .env\n  more.env\n" in shown.stdout
    run = dict(
        line.split("=", 1)
        for line in made.run(
            "a", "deploy", env={"MODE": "slow", "GONE": "x"}
        ).stdout.splitlines()
    )
    assert (run["URL"], run["TIMEOUT"], run["MODE"]) == (
        "https://me:pw@fromfile/eu 1",
        "30",
        "slow",
    )


def test_a_help_page_runs_nothing_and_says_what_only_a_run_knows(
    install: Install,
) -> None:
    made = install(
        {
            "commands/a/deploy/command.json": DEPLOY,
            "commands/a/deploy/main.sh": "#!/bin/bash\n",
            "config/settings.conf": "touch $CLI_DIR/ran\nsleep 60\nREGION=$(hostname)\nHOST=b\n",
        }
    )
    shown = made.run("a", "deploy", "--help")
    assert (shown.status, shown.stderr) == (0, "")
    assert variables(shown.stdout) == [
        "  TOKEN   missing, required",
        "  REGION  …  ← config/settings.conf:3, required",
        "  GONE    missing, required",
        '  EMPTY   ""  ← command.json: envs.EMPTY',
        "  MODE    fast  ← command.json: envs.MODE",
        "  URL     …  ← command.json: envs.URL",
    ]
    assert "  To see the values of a run: cli self env a deploy\n" in shown.stdout
    assert not (made.root / "ran").exists()


DECLARED = """from host import CommandDeclaration, EnvSource, hookimpl
@hookimpl
def discover_commands():
    said = {"name": "Say", "description": "Say it", "entrypoint": "json:dumps"}
    yield CommandDeclaration(("team", "say"), said)
@hookimpl
def env_sources():
    yield EnvSource("team", rank=4, files=("FILE",))
"""


def test_the_page_of_a_command_that_python_declares_has_whole_paths(
    install: Install, tmp_path: Path
) -> None:
    file = tmp_path / "team.env"
    file.write_text("REGION=eu\n")
    hooks = DECLARED.replace("FILE", str(file))
    made = install(
        {"plugins/p/plugin.json": {"hooks": "hooks.py"}, "plugins/p/hooks.py": hooks}
    )
    assert variables(made.run("help", "team", "say").stdout) == [
        f"  REGION  eu  ← {file}:1"
    ]


def test_what_cannot_be_read_is_told_beside_the_page(install: Install) -> None:
    files = {"commands/a/deploy/command.json": DEPLOY, "commands/a/deploy/main.sh": ""}
    made = install({**files, "commands/a/deploy/.env": b"A=\0\n"})
    (made.root / "config").mkdir()
    os.mkfifo(made.root / "config/settings.conf")
    shown = made.run("help", "a", "deploy")
    assert shown.status == 0
    assert shown.stderr.startswith(f"cli: warning: {made.root}/commands/a/deploy/.env")
    assert variables(shown.stdout)[0] == "  TOKEN   missing, required"


def test_a_page_inside_a_run_leaves_out_what_that_run_was_given(
    install: Install,
) -> None:
    made = install(
        {
            "commands/a/b/command.json": command(
                envs={"MODE": "fast"}, env_files=[".env"]
            ),
            "commands/a/b/main.sh": '#!/bin/sh\nOWN=2 exec "$CLI_DIR/core/cli" help a b\n',
            "commands/a/b/.env": "TIMEOUT=40\nOWN=1\n",
            "config/settings.conf": "TIMEOUT=$(echo 30)\n",
        }
    )
    expected = [
        "  MODE     fast  ← command.json: envs.MODE",
        "  OWN      2  ← your environment",
        "  TIMEOUT  …  ← config/settings.conf:1",
    ]
    assert variables(made.run("a", "b").stdout) == expected


EXAMPLES = """#!/bin/bash
# Ship the release.
#
# Examples:
#   ./ship.sh prod
#   $ bin/ship.sh dev --force
#   other.sh ship.sh
#
# ship.sh needs a network.
# /// command
# {"examples": [{"command": "ship all"}, {"command": "./ship.sh all"},
#               {"command": "tool up ship x"}, {"command": "make ship"}]}
# ///
"""


@pytest.mark.slow
def test_examples_begin_with_the_words_that_work_here(install: Install) -> None:
    made = install({"commands/up/ship.sh": EXAMPLES})
    page = made.run("help", "up", "ship").stdout
    assert (
        "  cli up ship prod\n  $ cli up ship dev --force\n"
        "  other.sh ship.sh\n\nship.sh needs a network.\n"
    ) in page
    examples = page.rpartition("\nExamples:\n")[2].partition("\n\n")[0]
    assert examples.splitlines() == [
        "  cli up ship all",
        "  cli up ship all",
        "  cli up ship x",
        "  make ship",
    ]
