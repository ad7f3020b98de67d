"""The tags of other tools in a script's header, and what they mean here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from host.catalog.definition import read_definition
from host.headers.script_comments import ScriptComments
from testing.installation import Made

Install = Callable[..., Made]

OMARCHY = """#!/bin/bash

# omarchy:summary=Take a screenshot
# omarchy:args=[smart|region] [--editor=<name>]
# omarchy:examples=omarchy screenshot | omarchy capture screenshot region
# omarchy:aliases=omarchy screenshot
# omarchy:group=capture
# omarchy:hidden=true
# omarchy:requires-sudo=true
# omarchy:name=shot

true
"""
RAYCAST = """#!/bin/bash

# Required parameters:
# @raycast.schemaVersion 1
# @raycast.title Search Flights
# @raycast.argument1 { "type": "text", "placeholder": "from city", "percentEncoded": true }
# @raycast.argument2 { "type": "dropdown", "placeholder": "class", "optional": true, \
"data": [{"title": "First", "value": "1"}, {"title": "Second", "value": "2"}] }
# @raycast.needsConfirmation true

# Documentation:
# @raycast.description Search for "flights" or "trains"

open "$1"
"""
MISE = r"""#!/usr/bin/env bash
set -euo pipefail
#MISE description="Run \"all\" tests"
#MISE alias=["t", "tests"]
#MISE hide=true
#MISE confirm="Really?"
#MISE depends=["build"]
#USAGE arg "<files>..." help="The tests"
#USAGE flag "-j --jobs <n>" default="4" env="JOBS" help="How many"
#USAGE flag "--color" negate="--no-color" default=#true
#USAGE flag "--shell <shell>" {
#USAGE   choices "bash" "zsh"
#USAGE }
true
"""
ARGC = """#!/usr/bin/env bash
# @describe Copy a table
#
# It is slow.

# @meta version 1.0.0
# @meta require-tools jq psql
# @env TOKEN!  The token
# @env STAGE=dev
# @alias cp,copy
# @flag -n --dry-run  Only print
# @option -t --tries=3 <NUM>  Retries
# of the copy
# @option --format![json|csv]
# @arg table! The table
# @arg more~ Passed on

eval "$(argc --argc-eval "$0" "$@")"
"""


def _script(tmp_path: Path, text: str, name: str = "x.sh") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_omarchy(tmp_path: Path) -> None:
    path = _script(tmp_path, OMARCHY)
    found = read_definition(path)
    assert (found.description, found.group) == ("Take a screenshot", "capture")
    assert (found.hidden, found.sudo) == (True, True)
    assert found.words == "[smart|region] [--editor=<name>]"
    examples = [one["command"] for one in found.examples]
    assert examples == ["omarchy screenshot", "omarchy capture screenshot region"]
    assert found.aliases == ("screenshot",)
    assert ScriptComments(path).ignored == ["omarchy:name"]


def test_raycast(tmp_path: Path) -> None:
    path = _script(tmp_path, RAYCAST)
    found = read_definition(path)
    assert found.description == 'Search for "flights" or "trains"'
    assert found.confirm == "Run Search Flights?"
    assert [one.usage for one in found.args] == ["<from-city>", "[class]"]
    assert found.args[0].description == "from city"
    assert found.args[1].choices == ("1", "2")
    assert ScriptComments(path).ignored == ["@raycast.schemaVersion"]
    assert ScriptComments(path).paragraphs == []


def test_raycast_without_a_description(tmp_path: Path) -> None:
    text = "#!/bin/sh\n# @raycast.title Empty the Trash\n# @raycast.mode silent\n"
    assert read_definition(_script(tmp_path, text)).description == "Empty the Trash"


def test_mise_and_usage(tmp_path: Path) -> None:
    path = _script(tmp_path, MISE)
    found = read_definition(path)
    assert found.description == 'Run "all" tests'
    assert (found.aliases, found.hidden, found.confirm) == (
        ("t", "tests"),
        True,
        "Really?",
    )
    usage = [one.usage for one in found.args]
    assert usage == ["<files...>", "[--jobs n]", "[--[no-]color]", "[--shell shell]"]
    jobs, shell = found.args[1], found.args[3]
    assert (jobs.short, jobs.default, jobs.env, jobs.description) == (
        "-j",
        "4",
        "JOBS",
        "How many",
    )
    assert shell.choices == ("bash", "zsh")
    assert ScriptComments(path).ignored == ["#MISE depends"]


def test_argc(tmp_path: Path) -> None:
    path = _script(tmp_path, ARGC)
    found = read_definition(path)
    assert found.description == "Copy a table"
    assert [str(one) for one in found.requires] == ["jq", "psql"]
    assert found.required_envs == ("TOKEN",)
    assert found.aliases == ("cp", "copy")
    usage = "[--version] [--dry-run] [--tries NUM] --format FORMAT <table> [more...]"
    assert " ".join([one.usage for one in found.args]) == usage
    tries = found.args[2]
    assert (tries.short, tries.default, tries.description) == (
        "-t",
        "3",
        "Retries of the copy",
    )
    assert found.args[5].passthrough
    assert ScriptComments(path).ignored == ["@env"]
    assert ScriptComments(path).paragraphs == [["It is slow."]]


# Headers of argc, and the variables that a run needs.
VARIABLES = {
    "required": ("# @env A!\n# @env B\n", ("A",)),
    "argc reads a .env file": ("# @env A!\n# @meta dotenv\n", ()),
    "a command of argc": ("# @env A!\nx() { :; }\n# @cmd Do it\n", ()),
}


@pytest.mark.parametrize(("header", "names"), VARIABLES.values(), ids=VARIABLES)
def test_which_variables_of_argc_are_checked(
    tmp_path: Path, header: str, names: tuple[str, ...]
) -> None:
    assert (
        read_definition(_script(tmp_path, f"#!/bin/bash\n{header}")).required_envs
        == names
    )


# Headers whose arguments no run checks, and the arguments that pages show.
UNCHECKED = {
    "a command of argc": ("# @flag --a\n# @cmd Do it\n# @flag --b\ndo() {\n", "[--a]"),
    "@cmd below the header": ("# @flag --a\nx() { :; }\n# @cmd Do it\n", "[--a]"),
    "a short option alone": ("# @flag --a\n# @option -b <N>\n", "[--a] [-b N]"),
    "a prefix": ("# @option -D-* <N>\n", "[-D N]..."),
    "two values": ("# @option --a <X> <Y>\n", "[--a X]"),
    "a value of a list": ("# @option --a*,[x|y]\n", "[--a A]..."),
    "an option that passes on": ("# @option --a~\n", "[--a A]"),
    "one optional argument before a required one": ("# @arg a\n# @arg b!\n", "[a] <b>"),
    "two that repeat": ("# @arg a*\n# @arg b*\n", "[a...] [b...]"),
    "a subcommand of usage": ('#USAGE flag "--a"\n#USAGE cmd "b" {\n#USAGE }\n', "[--a]"),
    "a rule of usage": ('#USAGE flag "--a <n>" requires="--b"\n', "[--a n]"),
    "an optional value": ('#USAGE flag "--a [n]"\n', "[--a n]"),
    "a password": (
        '# @raycast.argument1 {"type": "password", "placeholder": "PIN"}\n', "<pin>"),
    "no JSON": ("# @raycast.argument1 {type}\n# @raycast.title X\n", ""),
}  # fmt: skip


@pytest.mark.parametrize(("header", "usage"), UNCHECKED.values(), ids=UNCHECKED)
def test_arguments_that_are_only_for_pages(
    tmp_path: Path, header: str, usage: str
) -> None:
    found = read_definition(_script(tmp_path, f"#!/bin/bash\n{header}"))
    assert found.args == ()
    assert " ".join([one.usage for one in found.shown_args]) == usage


def test_docopts(tmp_path: Path) -> None:
    text = """#!/usr/bin/env bash
source "$HOME/lib.sh"

##? Copy a table
##?
##? Usage:
##?    copy <table>
##?
##? Options:
##?    --slow  Wait
doc::parse "$@"
"""
    path = _script(tmp_path, text)
    found = read_definition(path)
    assert (found.description, found.usage) == ("Copy a table", "copy <table>")
    options = ["Options:", "   --slow  Wait"]
    assert ScriptComments(path).paragraphs == [options]


REQUIRED = {
    '"<x>"': "<x>",
    '"<x>" required=#false': "[x]",
    '"<x>" required=false': "[x]",
    '"[x]" required=#true': "<x>",
}


@pytest.mark.parametrize(("form", "usage"), REQUIRED.items(), ids=REQUIRED)
def test_whether_an_argument_of_usage_is_required(
    tmp_path: Path, form: str, usage: str
) -> None:
    found = read_definition(_script(tmp_path, f"#!/bin/bash\n#USAGE arg {form}\n"))
    assert [one.usage for one in found.args] == [usage]


PASSWORD = """#!/bin/bash
# @raycast.title Log in
# @raycast.argument1 {"type": "text", "placeholder": "user"}
# @raycast.argument2 {%s, "placeholder": "PIN"}
echo "$2"
"""


@pytest.mark.parametrize(
    "kind", ['"type": "password"', '"type": "text", "secure": true']
)
def test_a_password_of_raycast_is_masked(install: Install, kind: str) -> None:
    made = install({"commands/login": PASSWORD % kind})
    env = {"CLI_RECORD": "1"}
    assert made.run("login", "me", "opensesame", env=env).stdout == "opensesame\n"
    assert made.run("login", "-m", "opensesame", env=env).stdout == "opensesame\n"
    assert made.run("login", "me").status == 0  # nothing asks for it
    history = made.run("self", "history").stdout
    explained = made.run("--explain", "login", "me", "opensesame").stdout
    assert "opensesame" not in history + explained
    assert "login me ********" in history
    assert "login ******** ********" in history
    assert "me '********'" in explained


IGNORED = {
    "an alias that is no word": "# acme:aliases=a/b\n",
    "a variable that is no name": "# @env a-b!\n",
    "a number": "#MISE description=3\n",
    "a broken array": "#MISE alias=[\n",
    "an unknown tag": "# @whatever {\n",
    "no words": "# @meta\n# @arg\n# @option\n# @alias\n#USAGE\n#MISE =\n",
    "an open string": '#USAGE arg "x\n',
}


@pytest.mark.parametrize("header", IGNORED.values(), ids=IGNORED)
def test_a_tag_never_breaks_a_command(tmp_path: Path, header: str) -> None:
    found = read_definition(_script(tmp_path, f"#!/bin/bash\n{header}"))
    assert (found.aliases, found.required_envs, found.args) == ((), (), ())


def test_the_block_wins_over_tags_key_by_key(tmp_path: Path) -> None:
    block = '# /// command\n# {"args": [{"name": "x"}], "description": "Own"}\n# ///\n'
    found = read_definition(
        _script(tmp_path, f"#!/bin/bash\n{block}{OMARCHY[12:]}# @cmd X\n")
    )
    assert (found.description, found.group, found.args[0].name) == (
        "Own",
        "capture",
        "x",
    )


QUOTES = {
    'Print "hi" and "ho"': 'Print "hi" and "ho"',
    '"Print it"': "Print it",
    "'Print it'": "Print it",
    "don't": "don't",
    '"a" or "b"': '"a" or "b"',
}


@pytest.mark.parametrize(("value", "description"), QUOTES.items(), ids=QUOTES)
def test_only_quotes_around_the_whole_value_go(
    tmp_path: Path, value: str, description: str
) -> None:
    text = f"#!/bin/sh\n# Summary: {value}\n"
    assert read_definition(_script(tmp_path, text)).description == description


def test_runs_check_what_tags_declare(install: Install) -> None:
    made = install(
        {
            "commands/copy": ARGC.replace(
                'eval "$(argc --argc-eval "$0" "$@")"', 'echo "$@"'
            )
            .replace("# @env TOKEN!  The token\n", "")
            .replace("jq psql", "sh")
        }
    )
    failed = made.run("copy", "--format", "xml", "t")
    assert failed.all == (
        2,
        "",
        "cli: copy: --format: expected one of json, csv; found xml\n",
    )
    words = ("--format=csv", "orders", "--dry-run", "--", "-x")
    assert made.run("copy", *words).all == (0, " ".join(words) + "\n", "")
    assert made.run("cp", "--format=csv", "t").status == 0
    page = made.run("help", "copy").stdout
    assert "It is slow." in page
    assert "-t, --tries NUM  Retries of the copy (default: 3)" in page


def test_help_pages_show_the_header(install: Install) -> None:
    text = """#!/usr/bin/env bash
#
# Summary: Set the version
#
# Usage: db local <version>
#        db local --unset
#
# Sets the version by writing the
# version name to a file.
#
#   db local 1.2
#
# Short line
# See https://example.org/a/long/address

# Local comment
echo "$@"
"""
    made = install({"commands/local": text})
    assert made.run("local", "--help").all == (
        0,
        f"""local
Set the version

Usage: cli local [args…]

Usage of the script:
  db local <version>
  db local --unset

Sets the version by writing the version name to a file.

  db local 1.2

Short line
See https://example.org/a/long/address

Defined in {made.root}/commands/local; to pass --help to the script: cli local --help --help
""",
        "",
    )
    assert made.run("local", "--help", "--help").stdout == "--help --help\n"


def test_tab_offers_arguments_that_are_not_checked(install: Install) -> None:
    made = install(
        {"commands/x": "#!/bin/sh\n# @flag --all  Everything\n# @option -b <N>\n"}
    )
    assert (
        "--all\tEverything"
        in made.run("--complete", "zsh", "x", "--").stdout.splitlines()
    )
    assert made.run("x", "--other").all == (0, "", "")
