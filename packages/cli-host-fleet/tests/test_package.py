"""The package itself: its use of ClusterShell, and the declaration of its commands."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

import cli_host_fleet
from cli_host_fleet.connection import Connection
from cli_host_fleet.node_sets import _Groups
from conftest import Cli

_WORDS = ("run", "exec", "hosts", "check")
_SOURCE = Path(cli_host_fleet.__file__).parent


@pytest.mark.parametrize(
    ("kind", "justified"),
    [
        # The engine calls these; the docstring explains why each is overridden.
        (
            Connection,
            {"_start", "_handle_read", "_handle_write", "_close_stream", "_close"},
        ),
        (_Groups, set()),
    ],
)
def test_private_names_of_clustershell(kind: type, justified: set[str]) -> None:
    """A class that extends ClusterShell's uses and overrides only the `justified` private names."""
    bases = [
        base for base in kind.__mro__ if base.__module__.startswith("ClusterShell.")
    ]
    private = re.compile(r"\b(?:def |self\.)(_[a-z]\w*)")
    theirs = {
        name for base in bases for name in private.findall(inspect.getsource(base))
    }
    assert theirs
    assert (
        set(re.findall(r"[ .](_[a-z]\w*)", inspect.getsource(kind))) & theirs
        == justified
    )


def test_scripts_of_the_host_side_are_for_any_bash() -> None:
    """bash 3.2 (macOS) has no `mapfile`, no `${x@Q}`, no `wait -n`."""
    text = "".join(path.read_text() for path in (_SOURCE / "host_side").glob("*.sh"))
    assert not re.search(r"mapfile|readarray|@Q\}|wait -n|declare -A|\|&|&>>", text)


def test_the_commands_are_declared(cli: Cli) -> None:
    done = cli.installed.run("self", "list", "--format", "json")
    listed = json.loads(done.stdout)
    categories = {
        tuple(row["path"]): row["description"] for row in listed["categories"]
    }
    assert categories["fleet",] == "Run commands on many hosts"
    rows = {
        path: row
        for row in listed["commands"]
        if (path := tuple(row["path"]))[0] == "fleet"
    }
    assert set(rows) == {("fleet", word) for word in _WORDS}
    assert rows["fleet", "hosts"]["effects"] == "read"
    assert all(row["starts_commands"] for row in rows.values())
    assert done.stderr == ""


@pytest.mark.parametrize("word", _WORDS)
def test_each_has_a_page_of_its_own(cli: Cli, word: str) -> None:
    shown = cli.fleet(word, "--help")
    assert shown.status == 0
    assert f"Usage: cli fleet {word} [OPTIONS]".encode() in shown.stdout


def test_settings_of_the_installation_do_not_reach_the_controller(cli: Cli) -> None:
    """`"sources": false`: settings.conf sets SSH_AUTH_SOCK and PATH only for commands."""
    cli.command("true\n")
    (cli.root / "config" / "settings.conf").write_text("PATH=/nowhere\nHOME=/nowhere\n")
    assert cli.run("web01").status == 0
