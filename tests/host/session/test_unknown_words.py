"""What a misspelt word may mean, and `self search`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from testing.installation import Made, command

Install = Callable[..., Made]
BASH = "#!/bin/bash\necho ran\n"


@pytest.fixture
def tree(install: Install) -> Made:
    files = {
        "commands/demo/hello/command.json": command(description="Greet somebody"),
        "commands/demo/secret/command.json": command(hidden=True),
        "commands/ops/db/backup/command.json": command(
            description="Keep a copy",
            group="Safety",
            aliases=["dump"],
            args=[{"name": "--target", "value": "DIR", "description": "where it goes"}],
        ),
        "commands/ops/db/hello/command.json": command(
            description="Say it to the database"
        ),
        "commands/empty/list/notes.txt": "no command",
    }
    scripts = {
        name.replace("command.json", "main.sh"): BASH
        for name in files
        if "command.json" in name
    }
    return install({**files, **scripts})


# fmt: off
MEANT = {
    "in another category": ("hello", "command hello", "cli demo hello or cli ops db hello"),
    "below it": ("ops hello", "command hello in ops", "cli demo hello or cli ops db hello"),
    "a word of self": ("list", "command list", "cli self list or cli self plugin list"),
    "misspelt and elsewhere": ("bakcup", "command bakcup", "cli ops db backup"),
    "a category elsewhere": ("db", "command db", "cli ops db"),
    "misspelt here": ("demo hallo", "command hallo in demo", "cli demo hello"),
    "letter case": ("HELLO", "command HELLO", "cli demo hello or cli ops db hello"),
    "self": ("self serach", "command serach in self", "cli self search"),
    "a verb of others": ("upgrade", "command upgrade", "cli self update"),
    "another verb": ("install x", "command install", "cli self plugin add"),
    "a verb in self": ("self ls", "command ls in self", "cli self list"),
    "of plugins": ("self plugin rm", "command rm in self plugin", "cli self plugin remove"),
    "new": ("self new comand", "command comand in self new", "cli self new command"),
    "help": ("halp", "command halp", "cli help"),
    "two letters turned": ("ops bd", "command bd in ops", "cli ops db"),
    "two letters": ("ops dv", "command dv in ops", "cli ops db"),
    "an alias": ("ops db dupm", "command dupm in ops db", "cli ops db dump"),
    "an alias elsewhere": ("dump", "command dump", "cli ops db dump"),
}
# fmt: on


@pytest.mark.parametrize("name", MEANT)
@pytest.mark.sampled
def test_what_is_meant_is_a_line_to_paste(tree: Made, name: str) -> None:
    words, unknown, meant = MEANT[name]
    said = f"cli: unknown {unknown}; did you mean {meant}?\n"
    assert tree.run(*words.split()).all == (2, "", said)
    for line in meant.split(" or "):
        assert tree.run(*line.split()[1:], "--help").status == 0


def test_a_command_with_others_below_it_is_suggested_once(install: Install) -> None:
    made = install({"commands/ops/theme.sh": BASH, "commands/ops/theme/set.sh": BASH})
    said = "cli: unknown command thme in ops; did you mean cli ops theme?\n"
    assert made.run("ops", "thme").stderr == said


def test_hidden_commands_and_plain_folders_are_not_suggested(tree: Made) -> None:
    assert tree.run("secret").stderr == "cli: unknown command secret; see: cli --help\n"
    assert "empty" not in tree.run("list").stderr


@pytest.mark.parametrize("word", ["_helo", "a b", "é", "up"])
def test_only_the_named_folder_is_explained(tree: Made, word: str) -> None:
    for name in ("_helo", "a b", "é"):
        (tree.root / "commands" / "demo" / name).mkdir()
    (tree.root / "commands" / "demo" / "up").symlink_to("..")
    lines = tree.run("demo", word).stderr.splitlines()
    assert lines[0].startswith(
        f"cli: warning: {tree.root}/commands/demo/{word}: left out; "
    )
    assert lines[1].startswith(f"cli: unknown command {word} in demo; ")
    assert len(lines) == 2
    assert tree.run("demo", "hallo").stderr.count("\n") == 1


def test_on_a_terminal_each_suggestion_has_a_line(tree: Made) -> None:
    said = tree.run("--color=always", "hello").stderr
    assert said.splitlines()[1:] == [
        "  \x1b[35mdid you mean:\x1b[0m",
        "  \x1b[35m  cli demo hello\x1b[0m",
        "  \x1b[35m  cli ops db hello\x1b[0m",
    ]


@pytest.mark.slow
def test_search(tree: Made) -> None:
    found = tree.run("self", "search", "COPY")
    assert (found.status, found.stderr) == (0, "")
    assert "\nops db\n  Safety:\n  ops db backup  Keep a copy\n" in found.stdout
    assert "hello" not in found.stdout
    for text in (
        ["backup"],
        ["where it goes"],
        ["safety"],
        ["dump"],
        ["--target"],
        ["db", "keep"],
    ):
        shown = json.loads(
            tree.run("self", "search", "--format", "json", "--", *text).stdout
        )
        assert [one["path"] for one in shown["commands"]] == [
            ["ops", "db", "backup"]
        ], text
    assert (
        tree.run("self", "search", "every command").status == 1
    )  # as `self list`: not `self`
    assert tree.run("self", "search", "demo", "secret").status == 1
    assert "demo secret" in tree.run("self", "search", "secret", "--all").stdout
    assert tree.run("self", "search", "no-such", "text").all == (
        1, "", "cli: no command matches no-such text; see: cli self list\n"
    )  # fmt: skip


def test_a_script_beside_the_categories_is_a_command(install: Install) -> None:
    made = install({"commands/hello": BASH, "commands/demo/x": BASH})
    assert (
        made.run("helo").stderr
        == "cli: unknown command helo; did you mean cli hello or cli help?\n"
    )
    assert (
        made.run("demp").stderr == "cli: unknown command demp; did you mean cli demo?\n"
    )


def test_an_alias_beside_the_categories_is_a_command(install: Install) -> None:
    keys = json.dumps({"aliases": ["greet"]})
    made = install({"commands/hello": f"{BASH}# /// command\n# {keys}\n# ///\n"})
    said = "cli: unknown command gret; did you mean cli greet?\n"
    assert made.run("gret").stderr == said


def test_help_of_help_is_the_listing(tree: Made) -> None:
    assert tree.run("help", "help").all == tree.run("help").all
