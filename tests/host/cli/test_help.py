"""Pages that no definition makes: of `self`, topics, and where there is no installation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from host.cli.topics import TOPICS
from testing.installation import Made, command

Install = Callable[..., Made]


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"]], ids=" ".join)
def test_help_without_an_installation(install: Install, tmp_path: Path, words: list[str]) -> None:
    made = install()
    nowhere = {"CLI_DIR": str(tmp_path / "nowhere")}
    shown = made.run(*words, env=nowhere)
    assert (shown.status, shown.stderr) == (0, "")
    assert f"There is no installation yet: no {tmp_path}/nowhere/core/cli.json.\n" in shown.stdout
    assert "  cli self init [DIRECTORY] [--name NAME]\n" in shown.stdout
    assert made.run(env=nowhere).status == 1
    made.write({"core/cli.json": "{"})
    assert made.run(*words).status == 1


@pytest.mark.parametrize("name", TOPICS)
def test_topics(install: Install, name: str) -> None:
    made = install()
    shown = made.run("help", name)
    assert (shown.status, shown.stderr) == (0, "")
    assert len(shown.stdout) > 200
    assert max(map(len, shown.stdout.splitlines())) <= 100
    assert name in made.run().stdout
    assert made.run(name).status == 2
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
List every command below WORDS, or all there are.

Usage:
  cli self list [OPTIONS] [WORDS]...

Options:
  --all
      Hidden ones and other systems' too.
  --format TEXT
      text, json, tree or a plugin's. [default: text]
  -h, --help
      Show this message and exit.
"""
    )
    assert made.run("help", "self", "list").all == shown.all
    group = made.run("self", "plugin").stdout
    assert group.startswith("cli self plugin\nAdd, list, update and remove plugins.\n\nUsage:\n")
    assert "\nCommands:\n  add       Add a plugin from" in group
    coloured = made.run("--color=always", "self", "list", "--help").stdout
    assert "\x1b[1mUsage:\x1b[0m\n" in coloured
    assert "  \x1b[36m--all\x1b[0m\n" in coloured
