"""Colours, and what a terminal of some width gets instead of whole lines (CONTRACT 3 and 7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from testing.installation import Made, command
from testing.terminal import on_terminal

Install = Callable[..., Made]
BASH = "#!/bin/bash\necho ran\n"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def team(install: Install) -> Made:
    files: dict[str, Any] = {
        "commands/ops/category.json": {
            "name": "Operations",
            "description": "Run the servers",
        },
        "commands/ops/deploy/command.json": command(description="Ship it", sudo=True),
        "commands/ops/restart/command.json": command(
            description="Again", group="Servers"
        ),
        "commands/ops/db/backup/command.json": command(description="a copy " * 30),
        "commands/ops/huge/command.json": command(description="x y " * 250_000),
    }
    scripts = {
        name.replace("command.json", "main.sh"): BASH
        for name in files
        if "command.json" in name
    }
    gone = {"commands/ops/gone/command.json": command(description="Left")}
    return install({**files, **scripts, **gone})


# fmt: off
WHEN: dict[str, tuple[list[str], dict[str, str], bool]] = {
    "piped": ([], {}, False),
    "always": (["--color", "always"], {}, True),
    "with a sign": (["--color=always"], {}, True),
    "always beats NO_COLOR": (["--color", "always"], {"NO_COLOR": "1"}, True),
    "always beats dumb": (["--color", "always"], {"TERM": "dumb"}, True),
    "FORCE_COLOR": ([], {"FORCE_COLOR": "1"}, True),
    "CLICOLOR_FORCE": ([], {"CLICOLOR_FORCE": "1"}, True),
    "0 does not force": ([], {"FORCE_COLOR": "0", "CLICOLOR_FORCE": "0"}, False),
    "empty does not force": ([], {"FORCE_COLOR": ""}, False),
    "NO_COLOR beats FORCE_COLOR": ([], {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    "dumb beats CLICOLOR_FORCE": ([], {"TERM": "dumb", "CLICOLOR_FORCE": "1"}, False),
    "never beats FORCE_COLOR": (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    "auto leaves it to the rest": (["--color", "auto"], {"FORCE_COLOR": "1"}, True),
    "after another option": (["--all", "--color", "always"], {}, True),
}
# fmt: on


@pytest.mark.parametrize("name", WHEN)
@pytest.mark.sampled
def test_when_there_are_colours(team: Made, name: str) -> None:
    options, env, expected = WHEN[name]
    for words in (["ops"], ["help", "ops", "deploy"]):
        if words[0] == "ops" or "--all" not in options:
            shown = team.run(*options, *words, env=env)
            assert (shown.status, "\x1b" in shown.stdout) == (0, expected), words
    if "--all" not in options:
        failed = team.run(*options, "opz", env=env)
        assert (failed.status, "\x1b[1;31merror:\x1b[0m" in failed.stderr) == (
            2,
            expected,
        )


def test_each_kind_of_text_has_its_own_colour(team: Made) -> None:
    team.write({"commands/ops/wrong/command.json": "{"})
    shown = team.run("--color", "always", "ops")
    text = shown.stdout + shown.stderr + team.run("--color", "always", "opz").stderr
    kinds = ("Commands:", "deploy", "[sudo]", "error:", "warning:", "did you mean:")
    colours = [
        re.findall(rf"(\x1b\[[0-9;]+m){re.escape(kind)}", text) for kind in kinds
    ]
    assert len({colour[0] for colour in colours}) == len(kinds)


@pytest.mark.slow
def test_color_stands_before_any_command_or_behind_a_category(team: Made) -> None:
    assert team.run("--color", "never", "ops", "deploy").all == (0, "ran\n", "")
    assert team.run("--color=always", "--yes", "ops", "deploy").stdout == "ran\n"
    assert "\x1b" in team.run("ops", "--color", "always").stdout
    for words in (
        ["self", "list"],
        ["help", "ops"],
        ["help", "ops", "deploy"],
        ["self", "env"],
    ):
        for colour in (["--color", "always"], ["--color=always"]):
            shown = team.run(*colour, *words)
            assert "\x1b" in shown.stdout + shown.stderr, (words, shown)
    assert "\x1b" not in on_terminal(team, "--color", "never", "ops")[1]


@pytest.mark.parametrize(
    ("words", "found"),
    [(["--color"], "nothing"), (["--color", "red"], "red"), (["--color="], "nothing")],
)
def test_a_wrong_color_is_told(team: Made, words: list[str], found: str) -> None:
    said = (
        f"cli: --color: expected auto, always, never; found {found}; see: cli --help\n"
    )
    assert team.run(*words).all == (2, "", said)


@pytest.mark.parametrize("columns", [80, 120])
def test_an_error_on_a_terminal_has_its_remedy_on_a_line_of_its_own(
    team: Made, columns: int
) -> None:
    status, shown = on_terminal(team, "ops", "--nope", columns=columns)
    assert status == 2
    assert shown == (
        "cli: \x1b[1;31merror:\x1b[0m no such option '--nope'\n"
        "  \x1b[35msee: cli ops --help\x1b[0m\n"
    )
    _, plain = on_terminal(team, "ops", "--nope", columns=columns, NO_COLOR="1")
    assert plain == "cli: error: no such option '--nope'\n  see: cli ops --help\n"
    hostile = on_terminal(team, "\x1b[31m;; x", NO_COLOR="1")[1]
    assert "\x1b" not in hostile
    _, named = on_terminal(team, "ops", "x; y", columns=columns, NO_COLOR="1")
    assert named == "cli: error: unknown command x; y in ops\n  see: cli ops --help\n"


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "words", [["ops"], ["self", "list"], ["--format", "tree"]], ids=" ".join
)
def test_lines_fit_a_terminal_and_are_whole_without_one(
    team: Made, words: list[str], columns: int
) -> None:
    status, shown = on_terminal(team, *words, columns=columns)
    assert status == 0
    lines = ESCAPES.sub("", shown).splitlines()
    assert max(map(len, lines)) <= columns
    assert max(map(len, lines)) > columns - 20
    assert "[sudo]" in shown
    piped = [line for line in team.run(*words).stdout.splitlines() if "huge" in line]
    assert len(piped) == 1
    assert len(piped[0]) > 900_000


def test_self_list_has_a_section_for_each_category_with_its_groups(team: Made) -> None:
    shown = team.run("self", "list").stdout
    head, _, rest = shown.partition("\nops  Run the servers\n")
    assert head.endswith("Usage: cli <category> <command> [args…]\n")
    assert "  ops deploy     Ship it [sudo]\n" in rest
    assert (
        "  Servers:\n  ops restart    Again\n\nops db\n  ops db backup  a copy " in rest
    )


def test_a_command_without_its_file_is_marked(team: Made) -> None:
    assert "  gone     Left [missing]\n" in team.run("ops").stdout
    assert team.run("ops").stdout.count("[missing]") == 1
    assert "\x1b[31m[missing]\x1b[0m" in on_terminal(team, "ops")[1]
    assert team.run("ops", "gone").status == 127


def test_a_command_whose_file_a_run_would_refuse_is_marked(install: Install) -> None:
    files = {
        f"commands/demo/{name}/command.json": command(entrypoint=file, description="D")
        for name, file in (
            ("out", "../a.sh"),
            ("far", "/bin/sh"),
            ("link", "b.sh"),
            ("own", "c.sh"),
        )
    }
    made = install(
        files | {"commands/demo/a.sh": "", "commands/demo/own/sub/c.sh": ":"}
    )
    demo = made.root / "commands/demo"
    (demo / "link/b.sh").symlink_to("/bin/sh")
    (demo / "own/c.sh").symlink_to("sub/c.sh")
    shown = made.run("demo").stdout
    for name in ("out", "far", "link"):
        assert f"  {name:4}  D [missing]\n" in shown
        assert made.run("demo", name).status == 1
    assert "  own   D\n" in shown
    (demo / "own/c.sh").unlink()
    (demo / "own/c.sh").mkdir()
    assert "  own   D [missing]\n" in made.run("demo").stdout
    assert made.run("demo", "own").status == 126


def test_rows_are_cut_on_a_terminal_and_whole_elsewhere(team: Made) -> None:
    for words in (("ops", "db"), ("--format", "tree", "ops")):
        whole = team.run(*words).stdout
        shown = ESCAPES.sub("", on_terminal(team, *words)[1])
        [row] = [line for line in shown.splitlines() if "backup  a copy" in line]
        [all_of_it] = [line for line in whole.splitlines() if "backup  a copy" in line]
        assert row.endswith("…")
        assert all_of_it.startswith(row[:-1])
        assert len(row) <= 80 < len(all_of_it)


@pytest.mark.slow
def test_a_command_that_is_also_a_category_is_one_row(install: Install) -> None:
    script = "#!/bin/sh\n# Show the theme\n"
    made = install({"commands/theme.sh": script, "commands/theme/set": script})
    assert made.run().stdout.count("Show the theme") == 1
    tree = made.run("--format", "tree").stdout
    assert "└── theme  Show the theme\n    └── set  Show the theme\n" in tree
