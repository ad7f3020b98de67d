"""The package itself: its cost for commands that do not use it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli

_README = Path(__file__).parents[1] / "README.md"


def test_a_run_loads_nothing_of_it(cli: Cli) -> None:
    """Runs, and listings after the first, import neither the package nor the SDK."""
    cli.run("self", "list")
    for words in (("show", "words"), ("self", "list"), ("mcp",)):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-IS", cli.file, *words],
            env=cli.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        loaded = re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE)
        assert "host.__main__" in loaded
        assert [
            one
            for one in loaded
            if one.split(".")[0] in ("cli_host_mcp", "mcp", "anyio")
        ] == []


def test_the_commands_are_declared(cli: Cli) -> None:
    done = cli.run("self", "list", "mcp", "--format", "json")
    rows = {tuple(row["path"]): row for row in json.loads(done.stdout)["commands"]}
    assert {words: row["effects"] for words, row in rows.items()} == {
        ("mcp", "serve"): "change",
        ("mcp", "tools"): "read",
        ("mcp", "install"): "change",
        ("mcp", "uninstall"): "change",
    }
    assert all(row["starts_commands"] for row in rows.values())
    # A parent that records the server would not end it when it is killed.
    assert cli.program.find(["mcp", "serve"]).definition.supervision.record is False
    assert done.stderr == ""
    listed = json.loads(cli.run("self", "list", "--format", "json").stdout)[
        "categories"
    ]
    assert {tuple(row["path"]): row["description"] for row in listed}["mcp",] == (
        "Offer commands to AI assistants"
    )


@pytest.mark.parametrize("word", ["serve", "tools", "install", "uninstall"])
def test_each_has_a_page_and_the_readme_names_its_options(cli: Cli, word: str) -> None:
    shown = cli.run("mcp", word, "--help")
    assert shown.returncode == 0
    assert f"Usage: cli mcp {word} [OPTIONS]" in shown.stdout
    options = set(re.findall(r"--[a-z][a-z-]+", shown.stdout)) - {"--help"}
    assert [one for one in sorted(options) if one not in _README.read_text()] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("serve", "nothing"), "cli mcp serve: nothing matches no command"),
        (("tools", "--except", "x*"), "cli mcp tools: x* matches no command"),
        (("serve", "--jobs", "0"), "cli mcp serve: Invalid value for '--jobs': 0 is"),
        (("install", "--clint", "x"), "cli mcp install: No such option"),
    ],
)
def test_usage(cli: Cli, words: tuple[str, ...], said: str) -> None:
    done = cli.run("mcp", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
