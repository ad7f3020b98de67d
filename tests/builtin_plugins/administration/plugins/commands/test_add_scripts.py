"""`self plugin add` of a directory, repository or archive of scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made
from testing.plugin_sources import Repository, listed, plugin, registry, tar_of, write_tree

Install = Callable[..., Made]

ECHO = "#!/bin/sh\nprintf '%s' \"${0##*/}\"\nprintf ' [%s]' \"$@\"\n"
BIN = {
    "acme": "#!/bin/sh\n",
    "acme-db": f"#!/bin/sh\n# Show the databases.\n{ECHO[10:]}",
    "acme-db-copy.sh": ECHO,
    "acme-x-.sh": ECHO,
    "README.md": "text\n",
    "tool": ECHO,
    "lib.sh": "true\n",
}


def _source(kind: str, tmp_path: Path) -> str:
    if kind == "directory":
        return str(write_tree(tmp_path / "bin", BIN))
    if kind == "git":
        return f"file://{Repository(tmp_path / 'bin', BIN).path}"
    (tmp_path / "bin.tar.gz").write_bytes(tar_of(BIN, "bin/"))
    return str(tmp_path / "bin.tar.gz")


@pytest.mark.parametrize("kind", ["directory", "git", "archive"])
def test_scripts_without_any_definition(install: Install, tmp_path: Path, kind: str) -> None:
    made = install()
    added = plugin(made, "add", _source(kind, tmp_path), "--name", "tools")
    assert (added.status, added.stderr) == (0, "")
    assert "\ncommands: 5\n" in added.stdout
    left_out = "files that are not commands: 1\n"
    left_out += "    lib.sh: it is not executable and has no shebang\n"
    assert left_out in added.stdout
    assert registry(made)["tools"]["scripts"] == {}
    assert made.run("tool", "a").all == (0, "tool [a]", "")
    assert made.run("acme-db-copy").stdout == "acme-db-copy.sh []"


@pytest.mark.parametrize("kind", ["directory", "git", "archive"])
def test_prefix_and_split(install: Install, tmp_path: Path, kind: str) -> None:
    made = install()
    options = ("--name", "tools", "--prefix", "acme-", "--split", "-")
    added = plugin(made, "add", _source(kind, tmp_path), *options)
    assert (added.status, added.stderr) == (0, "")
    assert "\ncommands: 2\n    db       Show the databases.\n    db copy\n" in added.stdout
    assert (
        "files that are not commands: 4\n"
        "    acme: its name does not begin with acme-\n"
        "    acme-x-.sh: its name is not a valid command name\n"
        "    lib.sh: its name does not begin with acme-\n"
        "    tool: its name does not begin with acme-\n"
    ) in added.stdout
    assert registry(made)["tools"]["scripts"] == {"prefix": "acme-", "split": "-"}
    assert made.run("db", "x").all == (0, "acme-db [x]", "")
    assert made.run("db", "copy", "x").all == (0, "acme-db-copy.sh [x]", "")
    assert made.run("tool").status == 2
    listing = json.loads(made.run("self", "list", "--format", "json").stdout)
    assert [one["path"] for one in listing["categories"]] == [["db"]]
    assert [one["path"] for one in listing["commands"]] == [["db"], ["db", "copy"]]
    assert listed(made)["tools"]["commands"] == ["db", "db copy"]
    assert plugin(made, "disable", "tools").status == 0
    assert "plugin tools is disabled" in made.run("db", "copy").stderr


def test_what_a_plugin_json_says(install: Install, tmp_path: Path) -> None:
    files = {f"bin/{name}": text for name, text in BIN.items()}
    manifest = {"name": "tools", "directory": "bin", "scripts": {"prefix": "acme-", "split": "-"}}
    source = write_tree(tmp_path / "source", {**files, "plugin.json": manifest})
    made = install()
    assert plugin(made, "add", str(source)).status == 0
    assert registry(made)["tools"]["scripts"] is None
    assert made.run("db", "copy").stdout == "acme-db-copy.sh []"
    (source / "plugin.json").write_text('{"directory": "bin", "scripts": {"split": 3}}')
    failed = plugin(install(), "add", str(source))
    assert failed.status == 1
    assert '"scripts.split": expected a string' in failed.stderr


def test_scripts_in_a_plugin_of_folders_are_its_own(install: Install) -> None:
    made = install(
        {
            "plugins/p/plugin.json": {"name": "p"},
            "plugins/p/a/b/command.json": {"name": "B", "description": "D", "entrypoint": "go"},
            "plugins/p/a/b/go": ECHO,
            "plugins/p/a/helper.sh": ECHO,
        }
    )
    assert made.run("a", "b").stdout == "go []"
    assert made.run("a", "helper").status == 2


def test_options_that_do_not_go_together(install: Install) -> None:
    done = plugin(install(), "add", "pip:x", "--prefix", "a-")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == "cli: --prefix and --split can only be used with a directory of scripts\n"
