"""Whether the script or the help page responds to `--help` alone, and which scripts handle it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from host.launch.script_help import handles_help
from testing.installation import Made, command

Install = Callable[..., Made]
SILENT = "#!/bin/sh\necho ran\n"
SPEAKS = "#!/bin/sh\necho ran --help\n"

# The file, its text, and whether it handles --help itself.
FILES = {
    "a case": ("main.sh", "case $1 in -h | --help) usage ;; esac\n", True),
    "a here-document": ("main", "cat <<E\n  -h, --help  Show it, don't run\nE\n", True),
    "quoted after a #": ("main.sh", "echo 'row #3, a # sign: --help'\n", True),
    "after a count": (
        "main.sh",
        "[ $# -gt 0 ] && [ ${#1} = 6 ] && [ $1 = --help ]\n",
        True,
    ),
    "a comment": ("main.sh", "#!/bin/sh\n  # don't: x --help\nrun\n", False),
    "a comment behind code": ("main.sh", 'run "$@" # as git --help\n', False),
    "both": ("main.sh", "# --help\necho --help\n", True),
    "nothing": ("main.sh", "run\n", False),
    "empty": ("main.sh", "", False),
    "behind 64 KiB": ("main.sh", f"{' ' * 65_530}\necho --help\n", False),
    "within 64 KiB": ("main.sh", f"{' ' * 65_500}\necho --help\n", True),
    "argparse": ("main.py", "import os, argparse\n", True),
    "click": ("main.py", "def main():\n    from click import command\n", True),
    "typer": ("main.py", "import os; import typer as t\n", True),
    "docopt by shebang": (
        "main",
        "#!/usr/bin/env python3\nfrom docopt import docopt\n",
        True,
    ),
    "optparse": ("main.py", "import optparse\n", True),
    "fire": ("main.py", "import fire\n", True),
    "another module": ("main.py", "import click_odoo, os\n# import argparse\n", False),
    "argparse in bash": ("main.sh", "#!/bin/bash\nimport argparse\n", False),
    "JavaScript": ("main.js", "if (a === '--help') help();\n", True),
    "JavaScript's template": ("main.mjs", "log(`see https://x\n  --help`)\n", True),
    "JavaScript's comment": (
        "main.js",
        "go(1); // --help\n/* or\n * --help\n */\n",
        False,
    ),
    "node by shebang": ("main", "#!/usr/bin/env node\nrun() // --help\n", False),
    "Lua": ("main.lua", 'if arg[1] == "--help" then end\n', True),
    "Lua's comment": ("main.lua", "run() --help\n--[[ see\n--help ]]\n", False),
    "commands of argc": (
        "main.sh",
        '# @cmd Do it\nx() { :; }\neval "$(argc --argc-eval "$0")"\n',
        True,
    ),
    "argc without commands": (
        "main.sh",
        '# @flag --a\neval "$(argc --argc-eval "$0")"\n',
        False,
    ),
    "commands without argc": ("main.sh", "# @cmd Do it\nrun\n", False),
    "a binary": ("main", "\0ELF # --help\0", True),
}


@pytest.mark.parametrize(("name", "text", "handles"), FILES.values(), ids=FILES)
def test_what_handles_help(tmp_path: Path, name: str, text: str, handles: bool) -> None:
    (tmp_path / name).write_text(text)
    assert handles_help(str(tmp_path / name)) is handles


# The text of a script, and whether it handles -h itself.
SHORT = {
    "getopts": ('while getopts "ab:h" o; do :; done\n', True),
    "getopts without quotes": ("while getopts :hv o; do :; done\n", True),
    "an h with a value": ('while getopts "abh:" o; do :; done\n', False),
    "no h": ('while getopts "ab" o; do :; done\n', False),
    "a case": ("case $1 in\n  -h) usage ;;\nesac\n", True),
    "an alternative": ("case $1 in\n  -h|help) usage ;;\nesac\n", True),
    "a last alternative": ("case $1 in help | -h ) usage ;; esac\n", True),
    "a quoted pattern": ("case $1 in\n  '-h') usage ;;\nesac\n", True),
    "--help only": ("[ $1 = --help ]\n", True),
    "a comment": ("# -h) is for help\nrun\n", False),
    "another option": ("ls -h | grep x; ls -ah)\n", False),
}


@pytest.mark.parametrize(("text", "handles"), SHORT.values(), ids=SHORT)
def test_what_handles_a_lone_h(tmp_path: Path, text: str, handles: bool) -> None:
    (tmp_path / "main.sh").write_text(text)
    assert handles_help(str(tmp_path / "main.sh"), "-h") is handles


@pytest.mark.slow
def test_a_lone_h_reaches_a_script_that_handles_it(install: Install) -> None:
    standup = "#!/bin/bash\nwhile getopts 'ah' o; do echo \"got $o\"; done\n"
    made = install({"commands/standup": standup, "commands/quiet": SILENT})
    assert made.run("standup", "-h").all == (0, "got h\n", "")
    page = made.run("standup", "--help").stdout
    assert page.startswith("standup\n")
    assert page.endswith("; the script's own help: cli standup -h\n")
    assert made.run("quiet", "-h").stdout.startswith("quiet\n")


def test_what_is_no_file_handles_nothing(tmp_path: Path) -> None:
    assert not handles_help(str(tmp_path))
    assert not handles_help(str(tmp_path / "none"))


# Further keys of a definition, its script, and whether the script gets --help alone.
RULES: dict[str, tuple[dict[str, object], str, bool]] = {
    "handled": ({}, SPEAKS, True),
    "not handled": ({}, SILENT, False),
    "null": ({"help": None}, SPEAKS, True),
    "script": ({"help": "script"}, SILENT, True),
    "page": ({"help": "page"}, SPEAKS, False),
    "sudo": ({"sudo": True}, SPEAKS, False),
    "sudo elsewhere": ({"sudo": []}, SPEAKS, True),
    "sudo that reads": ({"sudo": True, "effects": "read"}, SPEAKS, False),
    "confirm": ({"confirm": "Sure?"}, SPEAKS, False),
    "destroy": ({"effects": "destroy"}, SPEAKS, False),
    "change": ({"effects": "change"}, SPEAKS, True),
    "destroy, script": ({"effects": "destroy", "help": "script"}, SILENT, True),
    "declared, handled": ({"args": [{"name": "env", "required": True}]}, SPEAKS, True),
}


@pytest.mark.parametrize(("fields", "script", "runs"), RULES.values(), ids=RULES)
def test_who_answers_a_lone_help(
    install: Install, fields: dict[str, object], script: str, runs: bool
) -> None:
    made = install(
        {"commands/a/b/command.json": command(**fields), "commands/a/b/main.sh": script}
    )
    expected = (
        (0, script.partition("echo ")[2], "")
        if runs
        else made.run("help", "a", "b").all
    )
    for word in ("--help", "-h"):
        assert made.run("a", "b", word).all == expected
    assert ("ran" in expected[1]) is runs


def test_beside_other_arguments_the_script_gets_it(install: Install) -> None:
    files = {
        f"commands/a/{name}/main.sh": '#!/bin/sh\necho "ran $*"\n' for name in "bcd"
    }
    made = install(
        {
            **files,
            "commands/a/b/command.json": command(help="page", sudo=True),
            "commands/a/c/command.json": command(args=[{"name": "word"}]),
            "commands/a/d/command.json": command(
                args=[{"name": "--host", "short": "-h", "value": "HOST"}]
            ),
        }
    )
    assert made.run("a", "b", "-h", "localhost").all == (0, "ran -h localhost\n", "")
    assert made.run("a", "b", "x", "--help").all == (0, "ran x --help\n", "")
    usage = "usage: cli a c [word]\n"
    assert made.run("a", "c", "-h", "x").all == (
        2,
        "",
        f"cli: a c: unknown option -h; {usage}",
    )
    long = f"cli: a c: unknown option --help; {usage}"
    assert made.run("a", "c", "x", "--help").all == (2, "", long)
    assert made.run("a", "d", "-h", "localhost").all == (0, "ran -h localhost\n", "")
    assert made.run("a", "d", "-h").all == made.run("help", "a", "d").all


def test_a_wrong_value_is_one_line(install: Install) -> None:
    made = install(
        {"commands/a/b/command.json": command(help="me"), "commands/a/b/main.sh": ""}
    )
    said = f'{made.root}/commands/a/b/command.json: "help": expected one of script, page; found me'
    assert made.run("a", "b", "--help").all == (1, "", f"cli: {said}\n")
