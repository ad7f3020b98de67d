"""`self plugin add` of a directory, repository or archive of scripts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testing.installation import Made
from testing.plugin_sources import (
    Repository,
    listed,
    plugin,
    registry,
    tar_of,
    write_tree,
)

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


def _by_day(chosen: str) -> list[Any]:
    """Return all kinds of sources; the other two are for the night."""
    others = [kind for kind in ("directory", "git", "archive") if kind != chosen]
    night = [pytest.param(kind, marks=pytest.mark.night) for kind in others]
    return [chosen, *night]


def _source(kind: str, tmp_path: Path) -> str:
    if kind == "directory":
        return str(write_tree(tmp_path / "bin", BIN))
    if kind == "git":
        return f"file://{Repository(tmp_path / 'bin', BIN).path}"
    (tmp_path / "bin.tar.gz").write_bytes(tar_of(BIN, "bin/"))
    return str(tmp_path / "bin.tar.gz")


@pytest.mark.parametrize("kind", _by_day("archive"))
def test_scripts_without_any_definition(
    install: Install, tmp_path: Path, kind: str
) -> None:
    made = install()
    added = plugin(made, "add", _source(kind, tmp_path), "--name", "tools")
    assert (added.status, added.stderr) == (0, "")
    assert "\ncommands: 5\n" in added.stdout
    left_out = "files that are not commands: 1\n"
    left_out += "    it is not executable and has no shebang: lib.sh\n"
    assert left_out in added.stdout
    assert registry(made)["tools"]["scripts"] == {}
    assert made.run("tool", "a").all == (0, "tool [a]", "")
    assert made.run("acme-db-copy").stdout == "acme-db-copy.sh []"


@pytest.mark.parametrize("kind", _by_day("directory"))
def test_prefix_and_split(install: Install, tmp_path: Path, kind: str) -> None:
    made = install()
    options = ("--name", "tools", "--prefix", "acme-", "--split", "-")
    added = plugin(made, "add", _source(kind, tmp_path), *options)
    assert (added.status, added.stderr) == (0, "")
    assert (
        "\ncommands: 2\n    db       Show the databases.\n    db copy\n" in added.stdout
    )
    assert (
        "files that are not commands: 4\n"
        "    its name does not begin with acme-: acme, lib.sh, tool\n"
        "    its name is not a valid command name: acme-x-.sh\n"
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
    manifest = {
        "name": "tools",
        "directory": "bin",
        "scripts": {"prefix": "acme-", "split": "-"},
    }
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
            "plugins/p/a/b/command.json": {
                "name": "B",
                "description": "D",
                "entrypoint": "go",
            },
            "plugins/p/a/b/go": ECHO,
            "plugins/p/a/helper.sh": ECHO,
        }
    )
    assert made.run("a", "b").stdout == "go []"
    assert made.run("a", "helper").status == 2


@pytest.mark.parametrize("kind", _by_day("git"))
def test_all_commands_below_a_category(
    install: Install, tmp_path: Path, kind: str
) -> None:
    made = install({"commands/ops/own": "#!/bin/sh\necho own\n"})
    added = plugin(
        made, "add", _source(kind, tmp_path), "--name", "tools", "--under", "ops db"
    )
    assert (added.status, added.stderr) == (0, "")
    assert "    ops db acme-db       Show the databases.\n" in added.stdout
    assert registry(made)["tools"]["scripts"] == {"under": "ops db"}
    assert made.run("ops", "db", "tool", "a").all == (0, "tool [a]", "")
    assert made.run("ops", "own").stdout == "own\n"
    assert made.run("tool").status == 2
    assert "acme-db-copy" in made.run("ops", "db").stdout
    listing = json.loads(made.run("self", "list", "--format", "json").stdout)
    assert [one["path"] for one in listing["categories"]] == [["ops"], ["ops", "db"]]
    assert plugin(made, "disable", "tools").status == 0
    assert "plugin tools is disabled" in made.run("ops", "db", "tool").stderr


def test_a_plugin_of_folders_below_a_category(install: Install, tmp_path: Path) -> None:
    hooks = """from host import CommandDeclaration, EnvSource, hookimpl

@hookimpl
def discover_commands():
    definition = {"name": "py", "description": "P", "entrypoint": "os:getcwd"}
    return [CommandDeclaration(("py",), definition)]

@hookimpl
def env_sources():
    return [EnvSource("p", 2, files=(__file__.replace("hooks.py", "p.env"),), words=("a",))]
"""
    files = {
        "plugin.json": {"name": "p", "hooks": "hooks.py"},
        "hooks.py": hooks,
        "p.env": "FROM_P=1\n",
        "a/b/command.json": {"name": "B", "description": "D", "entrypoint": "go"},
        "a/b/go": "#!/bin/sh\necho $COMMAND_CATEGORY $COMMAND_NAME $FROM_P\n",
        "helper": ECHO,
    }
    made = install()
    source = write_tree(tmp_path / "source", files)
    added = plugin(made, "add", str(source), "--under", "ops")
    assert (added.status, added.stderr) == (0, "")
    assert made.run("ops", "a", "b").all == (0, "ops/a b 1\n", "")
    listing = json.loads(made.run("self", "list", "--format", "json").stdout)
    assert [one["path"] for one in listing["commands"]] == [
        ["ops", "a", "b"],
        ["ops", "py"],
    ]


def test_under_needs_words(install: Install, tmp_path: Path) -> None:
    source = _source("directory", tmp_path)
    for under in ("self", "-x", "a/b"):
        done = plugin(install(), "add", source, f"--under={under}")
        assert done.status == 1
        assert f"{under!r} cannot be the words of a category" in done.stderr


def test_a_subfolder_whose_name_is_no_word_is_left_out(
    install: Install, tmp_path: Path
) -> None:
    source = write_tree(tmp_path / "bin", {"tool": ECHO, "old things/x": ECHO})
    made = install()
    added = plugin(made, "add", str(source))
    assert (added.status, "\ncommands: 1\n    tool\n" in added.stdout) == (0, True)
    assert added.stderr.startswith(f"cli: warning: {source}/old things: left out; ")
    assert made.run("tool", "a").stdout == "tool [a]"


def test_under_words_no_script_has_a_reserved_name(
    install: Install, tmp_path: Path
) -> None:
    source = write_tree(
        tmp_path / "bin", {"help": f"#!/bin/sh\n# Say more.\n{ECHO[10:]}"}
    )
    made = install()
    assert plugin(made, "add", str(source), "--under", "ops").status == 0
    assert made.run("ops", "help").stdout == "help []"
    assert "reserved" not in made.run("self", "lint").stdout


def test_a_large_preview_is_grouped(install: Install, tmp_path: Path) -> None:
    files = {
        f"x-{group}-{n}": f"#!/bin/sh\n# Do {n}\n" for group in "ab" for n in range(20)
    }
    files |= {f"x-c{n:02}": "#!/bin/sh\n# Do it\n" for n in range(40)}
    files |= {f"y{n:02}": "#!/bin/sh\n" for n in range(12)}
    source = write_tree(tmp_path / "bin", files)
    options = ("--prefix", "x-", "--split", "-")
    lines = plugin(install(), "add", str(source), *options).stdout.splitlines()
    assert lines[1:4] == [
        "commands: 80",
        "    a    20 commands",
        "    b    20 commands",
    ]
    assert lines[31] == "    c27  Do it"
    assert lines[32:37] == [
        "    and 12 more commands",
        "files that are not commands: 12",
        "    its name does not begin with x-: "
        "y00, y01, y02, y03, y04, y05, y06, y07, y08, y09 and 2 more",
        "folders that a run appends to PATH: .",
        "to see everything, add --verbose",
    ]
    verbose = plugin(install(), "add", str(source), *options, "--verbose").stdout
    assert "    a 19  Do 19\n" in verbose
    assert "y09, y10, y11\n" in verbose


def test_options_that_do_not_go_together(install: Install) -> None:
    done = plugin(install(), "add", "pip:x", "--prefix", "a-")
    assert (done.status, done.stdout) == (2, "")
    assert (
        done.stderr
        == "cli: --prefix and --split can only be used with a directory of scripts\n"
    )
