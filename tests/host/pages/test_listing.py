"""Listings and help pages as a user sees them (SPEC 3)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from host.errors import OperationError
from host.global_options import GlobalOptions
from host.installation import find_layout
from host.messages import Messages
from host.pages.listings import show
from host.session.session import Session
from testing.installation import Made, command
from testing.terminal import on_terminal

Install = Callable[..., Made]

BASH = "#!/bin/bash\necho ran\n"


def entry(**fields: Any) -> dict[str, Any]:
    return command(**fields)


@pytest.fixture
def many(install: Install) -> Made:
    """An installation with one of everything that a listing tells apart."""
    files = {
        "commands/ops/category.json": {
            "name": "Operations",
            "description": "Run the servers",
        },
        "commands/ops/db/backup/command.json": entry(description="Back it up"),
        "commands/ops/deploy/command.json": entry(description="Ship it", sudo=True),
        "commands/ops/restart/command.json": entry(
            description="Again", group="Servers"
        ),
        "commands/ops/apple/command.json": entry(description="Elsewhere", os=["mac"]),
        "commands/ops/secret/command.json": entry(description="Hidden", hidden=True),
        "commands/ops/ship/command.json": entry(
            description="日本語の説明", aliases=["boat"]
        ),
        "plugins/extra/ops/report/command.json": entry(
            description="Report", sudo=["linux"]
        ),
        "commands/setup/sh/command.json": entry(description="A shell", sudo=True),
        "commands/setup/nothing-like-it/command.json": entry(description="Not there"),
        "commands/setup/by-path/command.json": entry(installed_when={"path": "$HOME"}),
        "commands/setup/by-command/command.json": entry(
            installed_when={"command": "no-such"}
        ),
    }
    scripts = {
        name.replace("command.json", "main.sh"): BASH
        for name in files
        if "command.json" in name
    }
    return install({**files, **scripts})


@pytest.mark.slow
def test_root(many: Made) -> None:
    shown = many.run()
    assert (shown.status, shown.stderr) == (0, "")
    assert shown.stdout.startswith(
        "Test CLI 1.2.3\nFor tests\n\nUsage: cli <category> <command> [args…]\n\n"
        "Categories:\n  ops    Run the servers\n  self   "
    )
    for words in (["-h"], ["--help"], ["help"], ["--all"], ["--format", "text"]):
        assert many.run(*words).stdout == shown.stdout, words


@pytest.mark.slow
def test_category(many: Made) -> None:
    expected = (
        "Operations\nRun the servers\n\nUsage: cli ops <command> [args…]\n\n"
        "Categories:\n  db\n\n"
        "Commands:\n"
        "  deploy   Ship it [sudo]\n"
        f"  report   Report [plugin]{' [sudo]' if os.uname().sysname == 'Linux' else ''}\n"
        "  ship     日本語の説明\n\n"
        "Servers:\n  restart  Again\n"
    )
    for words in (
        ["ops"],
        ["ops", "--help"],
        ["ops", "-h"],
        ["ops", "help"],
        ["help", "ops"],
    ):
        assert many.run(*words).all == (0, expected, ""), words


@pytest.mark.parametrize(
    "words", [["--all", "ops"], ["ops", "--all"]], ids=["before", "after"]
)
def test_all_shows_hidden_and_other_systems(many: Made, words: list[str]) -> None:
    shown = many.run(*words).stdout
    assert "  apple    Elsewhere [mac]\n" in shown
    assert "  secret   Hidden\n" in shown


@pytest.mark.slow
def test_json_of_everything(many: Made) -> None:
    shown = json.loads(many.run("self", "list", "--format", "json").stdout)
    assert set(shown) == {"categories", "commands"}
    assert shown["categories"][0] == {
        "path": ["ops"],
        "name": "Operations",
        "description": "Run the servers",
    }
    rows = {tuple(row["path"]): row for row in shown["commands"]}
    assert ("ops", "secret") not in rows
    assert all(path[0] != "self" for path in rows)
    assert rows["ops", "report"] == {
        "path": ["ops", "report"],
        "name": "Name",
        "description": "Report",
        "group": None,
        "sudo": True,
        "os": [],
        "compatible": True,
        "installed": None,
        "origin": "plugin",
        "plugin": "extra",
        "dev": False,
        "entrypoint": "main.sh",
        "aliases": [],
        "hidden": False,
        "args": [],
        "examples": [],
        "effects": "destroy",
        "record": None,
        "timeout": None,
        "exclusive": None,
        "shell": False,
        "deprecated": None,
        "moved_to": None,
        "required_envs": [],
        "requires": [],
        "starts_commands": False,
        "output": None,
        "schema": None,
        "subcommands": [],
        "path_folders": [],
    }
    below = json.loads(many.run("self", "list", "ops", "db", "--format", "json").stdout)
    assert [row["path"] for row in below["commands"]] == [["ops", "db", "backup"]]
    everything = json.loads(
        many.run("self", "list", "--all", "--format", "json").stdout
    )
    other = next(
        row for row in everything["commands"] if row["path"] == ["ops", "apple"]
    )
    assert (other["compatible"], other["os"]) == (False, ["mac"])


@pytest.mark.slow
def test_options_of_listings_before_self(many: Made) -> None:
    for words in (["self", "list"], ["self", "version"], ["self", "plugin", "list"]):
        before = many.run("--format", "json", *words)
        assert before.all == many.run(*words, "--format", "json").all, words
        json.loads(before.stdout)
    assert (
        many.run("--all", "self", "list").all == many.run("self", "list", "--all").all
    )
    assert (
        many.run("--all", "self", "version").all
        == many.run("self", "version", "--all").all
    )
    assert many.run("--format=json", "self", "list", "--format=tree").stdout.startswith(
        "cli\n"
    )


def test_json_of_a_listing_is_one_level(many: Made) -> None:
    shown = json.loads(many.run("--format", "json", "ops").stdout)
    assert [row["path"] for row in shown["categories"]] == [["ops", "db"]]
    assert ["ops", "db", "backup"] not in [row["path"] for row in shown["commands"]]


def test_tree(many: Made) -> None:
    assert many.run("--format", "tree", "ops").stdout.splitlines()[:4] == [
        "cli ops",
        "├── db",
        "│   └── backup  Back it up",
        "├── deploy  Ship it [sudo]",
    ]


def test_installed_indicator_of_setup(many: Made) -> None:
    shown = many.run("setup").stdout
    assert "  sh               A shell ✓ [sudo]\n" in shown
    assert "  by-path          Description ✓\n" in shown
    assert "  by-command       Description\n" in shown
    assert "  nothing-like-it  Not there\n" in shown
    ascii_only = many.run("setup", env={"LC_ALL": "C"}).stdout
    assert "  sh               A shell [installed] [sudo]\n" in ascii_only


def in_terminal(made: Made, *words: str, columns: int = 80, **env: str) -> str:
    """Return what a run that does what it is asked for prints on a terminal."""
    status, shown = on_terminal(made, *words, columns=columns, **env)
    assert status == 0
    return shown


@pytest.mark.slow
def test_colour_on_a_terminal_only(many: Made) -> None:
    shown = in_terminal(many, "setup")
    assert (
        "  \033[32msh\033[0m               A shell \033[32m✓\033[0m \033[33m[sudo]\033[0m\n"
        in shown
    )
    assert "\033" not in in_terminal(many, "setup", NO_COLOR="1")
    assert "\033" not in in_terminal(many, "setup", TERM="dumb")
    assert "\033" not in many.run("setup", env={"TERM": "xterm"}).stdout


def test_lines_fit_the_terminal(install: Install) -> None:
    long = "a rather long description that goes on " * 5
    wide = "説明" * 60
    made = install(
        {
            "commands/a/long/command.json": command(description=long),
            "commands/a/wide/command.json": command(description=wide),
            f"commands/a/{'n' * 60}/command.json": command(description="short"),
        }
    )
    import wcwidth

    for columns in (60, 100):
        lines = in_terminal(made, "a", columns=columns, NO_COLOR="1").splitlines()
        too_long = [line for line in lines if wcwidth.wcswidth(line) > max(columns, 62)]
        assert not too_long
        assert any(wcwidth.wcswidth(line) > columns - 12 for line in lines)


HOSTILE = "evil\x1b[31m\u202ereversed\u2028line\ntwo\x07\x9b"
SHOWN = "evil\\x1b[31m\\u202ereversed\\u2028line\\ntwo\\x07\\x9b"


def test_hostile_text_is_shown_escaped(install: Install) -> None:
    made = install(
        {
            "commands/a/b/command.json": command(
                name=HOSTILE,
                description=HOSTILE,
                group=HOSTILE,
                examples=[{"command": HOSTILE, "description": HOSTILE}],
                args=[{"name": "x", "description": HOSTILE, "choices": [HOSTILE]}],
                confirm=HOSTILE,
            ),
            "commands/a/b/main.sh": BASH,
            "commands/a/category.json": {"name": HOSTILE, "description": HOSTILE},
        }
    )
    for words in (
        ["a"],
        [],
        ["help", "a", "b"],
        ["self", "list"],
        ["--format", "tree"],
    ):
        shown = made.run(*words)
        assert shown.status == 0
        bad = {
            c for c in shown.stdout + shown.stderr if c in "\x1b\u202e\u2028\x07\x9b"
        }
        assert not bad, words
    assert SHOWN in made.run("a", env={"COLUMNS": "300"}).stdout
    as_json = made.run("--format", "json").stdout
    assert as_json.isascii()
    assert json.loads(as_json)["categories"][0]["name"] == HOSTILE


def test_help_page(install: Install) -> None:
    made = install(
        {
            "commands/ops/deploy/command.json": command(
                name="Deploy",
                description="Ship the current build",
                os=["linux", "mac"],
                sudo=True,
                envs={"REGION": "eu"},
                required_envs=["API_TOKEN", "REGION"],
                env_files=[".env"],
                aliases=["ship"],
                args=[
                    {"name": "target", "description": "where to", "required": True},
                    {"name": "tag", "choices": ["new", "old"]},
                ],
                examples=[
                    {"command": "deploy staging", "description": "to staging"},
                    {"command": "deploy -", "description": None},
                ],
            ),
            "commands/ops/deploy/main.sh": BASH,
        }
    )
    expected = f"""\
Deploy
Ship the current build

Usage: cli ops deploy <target> [tag]

Arguments:
  target  where to
  tag     (one of new, old)

Variables:
  API_TOKEN  missing, required
  REGION     eu  ← command.json: envs.REGION, required

Environment files:
  .env

Aliases:
  ship

Examples:
  cli ops deploy staging  to staging
  cli ops deploy -

Notes:
  Runs on linux and mac.
  Needs administrator rights (sudo).
  To see the values of a run: cli self env ops deploy

Defined in {made.root}/commands/ops/deploy/command.json
"""
    for words in (
        ["help", "ops", "deploy"],
        ["ops", "deploy", "--help"],
        ["ops", "deploy", "-h"],
        ["ops", "ship", "--help"],
    ):
        assert made.run(*words).all == (0, expected, ""), words


def test_what_is_declared_in_pages_and_listings(install: Install) -> None:
    made = install(
        {
            "commands/db/drop/command.json": command(
                name="Drop",
                description="Delete a database",
                effects="destroy",
                confirm="Delete it for good?",
                hidden=True,
                starts_commands=True,
                aliases=["rm"],
                args=[
                    {
                        "name": "--force",
                        "short": "-f",
                        "description": "whatever it holds",
                    },
                    {
                        "name": "--keep",
                        "value": "DAYS",
                        "type": "integer",
                        "default": "7",
                    },
                    {"name": "--to", "value": "HOST", "required": True},
                    {"name": "tables...", "description": "which"},
                ],
                examples=[{"command": "drop -f users", "more": 1}],
            ),
            "commands/db/drop/main.sh": BASH,
            "commands/db/show/command.json": command(effects="read"),
            "commands/db/show/main.sh": BASH,
        }
    )
    page = made.run("help", "db", "drop").stdout
    assert (
        "\nUsage: cli db drop [--force] [--keep DAYS] --to HOST [tables...]\n" in page
    )
    assert (
        "\nArguments:\n  tables...  which\n\nOptions:\n  -f, --force  whatever" in page
    )
    assert "  --keep DAYS  (integer; default: 7)\n  --to HOST    (required)\n" in page
    assert "  Destroys something" in page
    assert "  Asks for confirmation: Delete it for good?\n" in page
    assert "  Changes nothing.\n" in made.run("help", "db", "show").stdout
    assert "  drop  Delete a database [destroy]\n" in made.run("db", "--all").stdout
    assert "[" not in made.run("db").stdout.partition("Commands:")[2]
    shown = json.loads(made.run("db", "--all", "--format", "json").stdout)
    [row] = [one for one in shown["commands"] if one["path"] == ["db", "drop"]]
    assert (row["aliases"], row["hidden"], row["effects"]) == (["rm"], True, "destroy")
    assert [one["starts_commands"] for one in shown["commands"]] == [True, False]
    assert row["examples"] == [{"command": "drop -f users", "description": None}]
    assert [one["name"] for one in row["args"]] == [
        "--force",
        "--keep",
        "--to",
        "tables...",
    ]
    assert row["args"][1] == {
        "name": "--keep",
        "short": None,
        "value": "DAYS",
        "type": "integer",
        "choices": None,
        "default": "7",
        "required": False,
        "description": None,
        "complete": None,
        "repeats": False,
        "env": None,
        "negatable": False,
        "conflicts": None,
        "pattern": None,
        "secret": False,
        "effects": None,
        "passthrough": False,
    }
    assert (row["args"][0]["type"], row["args"][3]["type"]) == (None, "string")


def test_what_a_category_with_an_entrypoint_takes(install: Install) -> None:
    made = install(
        {
            "commands/a/category.json": {
                "name": "A",
                "description": "B",
                "entrypoint": "main.sh",
                "args": [
                    {"name": "--long", "short": "-l", "description": "more of it"},
                    {"name": "where", "type": "directory", "default": "."},
                ],
            },
            "commands/a/main.sh": BASH,
            "commands/a/b/command.json": command(),
            "commands/a/b/main.sh": BASH,
        }
    )
    expected = """\
A
B

Usage: cli a [--long] [where] | cli a <command> [args…]

Arguments:
  where  (directory; default: .)

Options:
  -l, --long  more of it

Commands:
  b  Description
"""
    for words in (["a"], ["a", "--help"], ["help", "a"]):
        assert made.run(*words).all == (0, expected, ""), words


def test_a_bad_definition_is_warned_of_beside_the_good(install: Install) -> None:
    made = install(
        {
            "commands/a/bad/command.json": '{"name": "Bad",}',
            "commands/a/good/command.json": command(),
            "commands/a/good/main.sh": BASH,
            "commands/a/category.json": "[]",
        }
    )
    shown = made.run("a")
    assert shown.status == 0
    assert "  good  Description\n" in shown.stdout
    assert "bad" not in shown.stdout
    assert (
        f"{made.root}/commands/a/bad/command.json:1:15: trailing comma\n"
        in shown.stderr
    )
    assert f"{made.root}/commands/a/category.json: expected an object" in shown.stderr
    assert shown.stderr.count("\n") == 2
    assert made.run("a", "good").all == (0, "ran\n", "")
    ran = made.run("a", "bad")
    assert (ran.status, ran.stdout, ran.stderr.count("\n")) == (1, "", 1)


def test_a_misspelt_key_is_told_where_its_file_is_listed_or_run(
    install: Install,
) -> None:
    lost = command(entrypiont="main.sh")
    del lost["entrypoint"]
    made = install(
        {
            "commands/a/lost/command.json": lost,
            "commands/a/odd/command.json": command(
                env={"X": "1"}, envs={"Y": "1"}, **{"x-env": 1, "_envs": 1}
            ),
            "commands/a/odd/main.sh": BASH,
            "commands/a/category.json": {"name": "A", "descripton": "x"},
        }
    )
    folder = f"{made.root}/commands/a"
    lost_line = f'{folder}/lost/command.json: "entrypiont": unknown key; did you mean "entrypoint"?'
    odd_line = f'{folder}/odd/command.json: "env": unknown key; did you mean "envs"?'
    category_line = (
        f'{folder}/category.json: "descripton": unknown key; did you mean '
        f'"description"?'
    )
    lost_line, odd_line, category_line = (
        f"cli: warning: {line}\n" for line in (lost_line, odd_line, category_line)
    )
    assert made.run("a").stderr == category_line + lost_line + odd_line
    error = lost_line.replace("warning: ", "")
    assert made.run("a", "lost").all == (1, "", error)
    assert made.run("a", "odd").all == (0, "ran\n", odd_line)
    assert made.run("help", "a", "odd").stderr == odd_line
    assert category_line in made.run().stderr
    for line in (lost_line, odd_line, category_line):
        assert made.run("self", "list").stderr.count(line) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["opz"], "cli: unknown command opz; did you mean cli ops?\n"),
        (
            ["ops", "deplyo"],
            "cli: unknown command deplyo in ops; did you mean cli ops deploy?\n",
        ),
        (
            ["ops", "db", "x"],
            "cli: unknown command x in ops db; see: cli ops db --help\n",
        ),
        (["ops", "--x"], "cli: no such option '--x'; see: cli ops --help\n"),
        (["--x"], "cli: no such option '--x'; see: cli --help\n"),
        (
            ["help", "ops", "nope"],
            "cli: unknown command nope in ops; see: cli ops --help\n",
        ),
        (
            ["self", "lits"],
            "cli: unknown command lits in self; did you mean cli self list",
        ),
        (["add"], "cli: unknown command add; did you mean cli self plugin add?\n"),
        (
            ["sync"],
            "cli: unknown command sync; did you mean cli self sync or cli self plugin sync?\n",
        ),
        (
            ["self", "list", "--x"],
            "cli: self list: unknown option --x; usage: cli self list [words...]",
        ),
        (
            ["--format", "yaml"],
            "cli: unknown format 'yaml'; use text, json, tree or a plugin's format",
        ),
        (
            ["--all", "ops", "deploy"],
            "cli: --all and --format are for listings, not for commands",
        ),
        (
            ["--format=", "ops"],
            "cli: --format: expected text, json, tree; found nothing; see: cli",
        ),
        (["help", "--safe"], "cli: no such option '--safe'; see: cli --help\n"),
        (["\x1b[31m"], "cli: unknown command \\x1b[31m; see: cli --help\n"),
        (["../x"], "cli: unknown command ../x; see: cli --help\n"),
        ([""], 'cli: unknown command ""; see: cli --help\n'),
        (["OPS"], "cli: unknown command OPS; did you mean cli ops?\n"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
@pytest.mark.sampled
def test_usage_errors(many: Made, words: list[str], message: str) -> None:
    shown = many.run(*words)
    assert (shown.status, shown.stdout) == (2, "")
    assert shown.stderr.startswith(message)
    assert shown.stderr.count("\n") == 1


def test_a_command_that_appears_during_the_look_up_has_not_run(
    install: Install, capfd: pytest.CaptureFixture[str]
) -> None:
    made = install({"commands/a/b": BASH})
    environ = {"HOME": str(made.home), "PATH": os.environ["PATH"]}
    layout = find_layout(str(made.launcher), environ)
    session = Session(layout, environ, Messages("cli", environ), safe=False)
    with pytest.raises(OperationError, match="did not run; run it again"):
        show(session, GlobalOptions(("a", "b")))
    show(session, GlobalOptions(("a", "b", "--help")))
    assert capfd.readouterr().out.startswith("b\n")


def test_a_category_with_an_entrypoint(install: Install) -> None:
    made = install(
        {
            "commands/a/category.json": {
                "name": "A",
                "description": "B",
                "entrypoint": "main.sh",
            },
            "commands/a/main.sh": '#!/bin/bash\necho "$COMMAND_NAME|$COMMAND_CATEGORY|$*"\n',
            "commands/a/b/command.json": command(),
            "commands/a/b/main.sh": BASH,
        }
    )
    assert made.run("a", "-x", "1").all == (0, "a||-x 1\n", "")
    assert made.run("a").stdout.startswith(
        "A\nB\n\nUsage: cli a [--option …] | cli a <command>"
    )
    assert made.run("a", "b").stdout == "ran\n"
    assert made.run("a", "--help").stdout == made.run("a").stdout


def test_a_row_says_what_the_page_of_its_category_says(install: Install) -> None:
    """Of two files that describe a category the first counts: category.json, then command.json."""
    own = {"name": "Own", "description": "Of category.json", "entrypoint": "main.sh"}
    other = {"name": "Other", "description": "Of command.json"}
    made = install(
        {
            "commands/both/category.json": own,
            "commands/both/command.json": other,
            "commands/both/main.sh": BASH,
            "commands/both/x/command.json": command(),
            "commands/wrong/category.json": "[]",
            "commands/wrong/command.json": other,
            "commands/wrong/x/command.json": command(),
        }
    )
    rows = json.loads(made.run("--format", "json").stdout)["categories"]
    said = {row["path"][0]: f"{row['name']}\n{row['description']}\n" for row in rows}
    assert said["both"] == "Own\nOf category.json\n"
    assert said["wrong"] == "Other\nOf command.json\n"
    for word in ("both", "wrong"):
        assert made.run(word).stdout.startswith(said[word])


@pytest.mark.slow
def test_an_ascii_stdout(many: Made) -> None:
    for env in ({"LC_ALL": "C"}, {"LANG": "POSIX"}):
        assert "Usage: cli ops <command> [args...]\n" in many.run("ops", env=env).stdout
    assert (
        "Usage: cli ops <command> [args…]\n"
        in many.run("ops", env={"LANG": "C.UTF-8"}).stdout
    )
    latin = {**os.environ, "CLI_DIR": str(many.root), "PYTHONIOENCODING": "latin-1"}
    shown = subprocess.check_output([sys.executable, "-m", "host", "ops"], env=latin)
    assert b"Usage: cli ops <command> [args...]\n" in shown


def test_self_is_listed_if_it_is_named(install: Install) -> None:
    made = install()
    assert "\nself plugin  Add, list" in made.run("self", "list", "self").stdout
    assert "├── doctor  Check" in made.run("self", "--format", "tree").stdout
    plugin = json.loads(
        made.run("self", "list", "self", "plugin", "--format", "json").stdout
    )
    assert ["self", "plugin", "add"] in [one["path"] for one in plugin["commands"]]
    for words in (["self", "list"], ["--format", "tree"]):
        assert "doctor" not in made.run(*words).stdout


def test_a_category_whose_commands_are_all_wrong_is_one(install: Install) -> None:
    made = install({"commands/a/b/command.json": "{"})
    shown = made.run("a")
    assert (shown.status, "Nothing to list here." in shown.stdout) == (0, True)
    assert shown.stderr.count("\n") == 1


def test_a_full_disk_is_one_line(many: Made) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [many.launcher],
            stdout=full,
            stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"]},
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"cli: cannot write to stdout: ")
    assert done.stderr.count(b"\n") == 1


def test_a_closed_pipe_is_quiet(many: Made) -> None:
    done = subprocess.run(
        ["bash", "-c", f"'{many.launcher}' | true; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(many.home)},
        check=True,
    )
    assert done.stderr == ""
    assert done.stdout in ("0\n", "141\n")


def test_the_global_options_are_two_lines_on_the_root_page(install: Install) -> None:
    made = install({"commands/a.sh": BASH})
    page = made.run().stdout
    options = page.partition("\nOptions:\n")[2].partition("\n\n")[0]
    assert [line.split(",")[0] for line in options.splitlines()] == [
        "  -h",
        "  --safe",
    ]
    options, _, see = options.partition("; see: cli ")
    explained = made.run(*see.split()).stdout
    for form in options.replace("\n", "").split(", "):
        assert form.strip(" ,") in explained


def test_commands_for_rare_work_are_listed_with_all(install: Install) -> None:
    made = install()
    shown, everything = (made.run("self", *words).stdout for words in ([], ["--all"]))
    for name in ("lock", "pick", "publish-installer"):
        assert f"\n  {name} " not in shown
        assert f"\n  {name} " in everything
