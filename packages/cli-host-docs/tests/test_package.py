"""The package itself: its commands, and the examples in its page and README."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from conftest import Cli

_README = Path(__file__).parents[1] / "README.md"
_PAGE = Path(__file__).parents[3] / "docs" / "documenting.md"
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_commands_are_declared(cli: Cli) -> None:
    status, out, err = cli.run("self", "list", "docs", "--format", "json")
    rows = {tuple(row["path"]): row["effects"] for row in json.loads(out)["commands"]}
    assert (status, err) == (0, "")
    assert rows == {
        ("docs", "build"): "change",
        ("docs", "skill"): "change",
    }


@pytest.mark.parametrize("word", ["build", "skill"])
def test_each_has_a_help_page_and_the_readme_names_its_options(
    cli: Cli, word: str
) -> None:
    status, out, _ = cli.run("docs", word, "--help")
    assert status == 0
    assert f"Usage: acme docs {word} " in out
    options = set(re.findall(r"--[a-z][a-z-]+", out)) - {"--help"}
    assert [one for one in sorted(options) if one not in _README.read_text()] == []


@pytest.mark.skipif(not _PAGE.exists(), reason="docs/documenting.md is the project's")
def test_commands_of_the_page(cli: Cli) -> None:
    commands = "".join(_BLOCK.findall(_PAGE.read_text())).splitlines()
    assert sum(command.startswith("acme docs ") for command in commands) >= 5
    (cli.home / "README.md").write_text(
        "<!-- commands begin -->\n<!-- commands end -->\n"
    )
    (cli.home / ".claude").mkdir()
    for command in commands:
        program, *words = shlex.split(command)
        if program == "acme":
            status, out, err = cli.run(*words)
            assert status == 0, command + out + err
        else:
            assert command == "git status --porcelain docs/commands"
