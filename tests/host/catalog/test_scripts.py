"""Scripts as commands: which files count, what their comments define, what is below them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from host.catalog.command_files import FolderNode
from host.catalog.definition import read_definition
from host.catalog.script_names import refusal
from host.errors import DefinitionError
from host.headers.script_comments import ScriptComments
from host.record_base import CommandTree
from testing.installation import Made

Install = Callable[..., Made]

ECHO = "#!/bin/sh\nprintf '%s' \"$0\" | sed 's/.*commands.//'\nprintf ' [%s]' \"$@\"\n"


def _command(**fields: object) -> dict[str, object]:
    return {"name": "N", "description": "D", "entrypoint": "main.sh", **fields}


ACCEPTED = {
    "shebang": ("db", "#!/bin/sh\n", 0o644, "db"),
    "executable": ("db", "true\n", 0o755, "db"),
    "binary": ("db", "\x7fELF\0", 0o755, "db"),
    "extension": ("db.sh", "#!/bin/sh\n", 0o755, "db"),
    "other extension": ("db.v2", "#!/bin/sh\n", 0o755, "db.v2"),
    "two extensions": ("db.conf.sh", "#!/bin/sh\n", 0o755, "db.conf"),
    "plain text": ("db", "true\n", 0o644, ""),
    "plain text with an extension": ("db.sh", "true\n", 0o644, ""),
    "document": ("db.md", "#!/bin/sh\n", 0o755, ""),
    "tests": ("db.bats", "#!/usr/bin/env bats\n", 0o755, ""),
    "data": ("db.conf", "#!/bin/sh\n", 0o755, ""),
    "for another shell": ("db.ps1", "Get-Item\n", 0o755, ""),
    "for another shell, with a shebang": (
        "db.v2.swift",
        "#!/bin/sh\n",
        0o755,
        "db.v2.swift",
    ),
    "private": ("_db.sh", "#!/bin/sh\n", 0o755, ""),
    "hidden": (".db.sh", "#!/bin/sh\n", 0o755, ""),
    "no word": ("d b.sh", "#!/bin/sh\n", 0o755, ""),
}


@pytest.mark.parametrize(
    ("name", "text", "mode", "word"), ACCEPTED.values(), ids=ACCEPTED
)
def test_which_files_are_commands(
    tmp_path: Path, name: str, text: str, mode: int, word: str
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / name).chmod(mode)
    for listed in (False, True):
        node = FolderNode(CommandTree(str(tmp_path), scripts={}))
        words = (
            [*node.inside()]
            if listed
            else ["db", "db.v2", "db.conf", "db.v2.swift", "db.ps1"]
        )
        found = {
            one: inner.read_command() for one in words if (inner := node.enter(one))
        }
        runs = [
            one
            for one, definition in found.items()
            if definition and definition.entrypoint
        ]
        assert runs == [*found] == [word] * bool(word)


def test_a_link_counts_if_its_target_is_in_the_tree(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "lib").mkdir(parents=True)
    for file in (tmp_path / "outside", root / "lib" / "inside"):
        file.write_text("#!/bin/sh\n")
    (root / "in").symlink_to("lib/inside")
    (root / "out").symlink_to("../outside")
    (root / "gone").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    inside = FolderNode(CommandTree(str(root), scripts={})).inside()
    assert [word for word, node in inside.items() if node.read_command()] == ["in"]
    reason = f"it links to {tmp_path}/outside, which is outside this tree"
    assert refusal(f"{root}/out", str(root)) == reason


@pytest.mark.parametrize("listed", [False, True], ids=["entered", "listed"])
def test_names_in_the_root_are_split(tmp_path: Path, listed: bool) -> None:
    (tmp_path / "db").mkdir()
    for name in ("om-db-backup", "om-db", "om-theme", "other", "db/dump.sh", "db/om-x"):
        (tmp_path / name).write_text("#!/bin/sh\n")
    root = FolderNode(
        CommandTree(str(tmp_path), scripts={"prefix": "om-", "split": "-"})
    )
    found = {}
    for words in (
        "db",
        "db backup",
        "db dump",
        "db om-x",
        "theme",
        "other",
        "om-theme",
    ):
        node: FolderNode | None = root
        for word in words.split():
            if listed and node:
                node.inside()
            node = node and node.enter(word)
        found[words] = node.script.removeprefix(f"{tmp_path}/") if node else None
    assert found == {
        "db": "om-db",
        "db backup": "om-db-backup",
        "db dump": "db/dump.sh",
        "db om-x": "db/om-x",
        "theme": "om-theme",
        "other": None,
        "om-theme": None,
    }
    assert root.refused("other") == []  # only its name is against it


COMMENTS = {
    "prose": ("#!/bin/sh\n# Copy it.\n# More.\n", "Copy it."),
    "after blank lines": ("#!/bin/sh\n\n# Copy it.\n", "Copy it."),
    "summary": ("#!/bin/sh\n# db\n# Summary: Copy it.\n# Usage: db x\n", "Copy it."),
    "description": ("#!/bin/sh\n# Description: Copy it.\n", "Copy it."),
    "an init script": (
        "#!/bin/sh\n# Short-Description: Copy it.\n# Description: Slow.\n",
        "Copy it.",
    ),
    "mise": ('#!/bin/sh\n#MISE description="Copy it."\n#MISE alias="c"\n', "Copy it."),
    "argc": ("#!/bin/sh\n# @describe Copy it.\n# @flag -f\n", "Copy it."),
    "own key": ("#!/bin/sh\n# tool:summary=Copy it.\n# tool:args=<x>\n", "Copy it."),
    "settings only": ("#!/bin/sh\n# tool:group=db\n# tool:hidden=true\n", ""),
    "no code": ("#!/bin/sh\nset -e\n# Copy it.\n", "Copy it."),
    "directives": ("#!/bin/sh\n# shellcheck disable=SC1\n# vim: ft=sh\n# Copy it.\n", "Copy it."),
    "licence": ("#!/bin/sh\n# Copyright 2020 A\n# All rights.\n#\n# Copy it.\n", "Copy it."),
    "SPDX": ("#!/bin/sh\n# Copyright A\n# SPDX-License-Identifier: MIT\n# Copy it.\n", "Copy it."),
    "licence in a frame": ("#!/bin/sh\n# ---\n# Copyright A\n# ---\n# Copy it.\n", "Copy it."),
    "frame": ("#!/bin/sh\n####\n# Copy it.\n####\n", "Copy it."),
    "docstring": ('#!/usr/bin/env python3\n# Copyright A\n"""Copy it."""\n# No.\n', "Copy it."),
    "long docstring": ("#!/usr/bin/env python3\n'''\nCopy it.\n\nMore.\n'''\n", "Copy it."),
    "comment, then docstring": ('#!/usr/bin/env python3\n# Copy it.\n"""More."""\n', "Copy it."),
    "block comment": ("#!/usr/bin/env node\n/**\n * Copy it.\n * @x y\n */\nf();\n", "Copy it."),
    "licence in a block comment": (
        "#!/usr/bin/env node\n/*\n * Copyright A\n *\n * As is.\n */\n\n// Copy it.\n",
        "Copy it."),
    "string in code": ('#!/usr/bin/env python3\nimport os\n"""Copy it."""\n', ""),
    "usage on the next line": ("#!/bin/sh\n# Usage:\n#   db x\n#\n# Copy it.\n", "Copy it."),
    "coding": ("#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n# Copy it.\n", "Copy it."),
    "slashes": ("#!/usr/bin/env node\n// Copy it.\n", "Copy it."),
    "dashes": ("#!/usr/bin/env lua\n-- Copy it.\n", "Copy it."),
    "php": ("#!/usr/bin/env php\n<?php\n// Copy it.\n", "Copy it."),
    "metadata of uv": ("#!/bin/env uv\n# /// script\n# a = []\n# ///\n# Copy it.\n", "Copy it."),
    "block": (
        '#!/bin/sh\n# Prose.\n# /// command\n# {"description": "Copy it."}\n# ///\n',
        "Copy it."),
    "binary": ("\x7fELF\0\n# Copy it.\n", ""),
    "a tab": ("#!/bin/sh\n# Copy\tit.\n", "Copy\tit."),
    "not UTF-8": ("#!/bin/sh\n# Caf\udce9.\n", r"Caf\xe9."),
    "beyond": ("#!/bin/sh\n" + "#\n" * 9000 + "# Copy it.\n", ""),
    "empty": ("", ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "description"), COMMENTS.values(), ids=COMMENTS)
def test_the_description_in_a_comment(
    tmp_path: Path, text: str, description: str
) -> None:
    file = tmp_path / "db.sh"
    file.write_text(text, errors="surrogateescape")
    definition = read_definition(str(file))
    assert (definition.description, definition.entrypoint) == (description, "db.sh")
    assert definition.warnings == ()


USAGES = {
    "in a comment": ("#!/bin/sh\n# Copy it.\n# usage: db [x]\n", "db [x]"),
    "on the next line": (
        "#!/bin/sh\n# Copy it.\n# Usage:\n#   db x\n#   db y\n",
        "db x\ndb y",
    ),
    "in a docstring": (
        '#!/usr/bin/env python3\n"""Copy it.\n\nUsage: db x\n"""\n',
        "db x",
    ),
}


@pytest.mark.parametrize(("text", "usage"), USAGES.values(), ids=USAGES)
def test_the_usage_in_a_comment(tmp_path: Path, text: str, usage: str) -> None:
    file = tmp_path / "db.sh"
    file.write_text(text)
    comments = ScriptComments(str(file))
    assert (comments.usage, comments.values()["description"]) == (usage, "Copy it.")


WRONG = {
    "a type": ('# {"os": 3}', '3:4: "os": expected an array of strings, found a number'),
    "an argument": ('# {"args": [\n#   {"name": "a", "tpye": "x", "type": "y"}]}',
                    '4:32: "args[0].type": expected one of'),
    "a comma": ('# {"os": [],}', "3:12: trailing comma"),
    "no object": ("# []", "3:3: expected an object, found an array"),
    "not closed": ("# {\ntrue", "2: this block is not closed; end it with a comment line: ///"),
    "not ended": ("# {", "2: this block is not closed; end it with a comment line: ///"),
}  # fmt: skip


@pytest.mark.parametrize(("block", "message"), WRONG.values(), ids=WRONG)
def test_an_error_names_the_line_of_the_script(
    tmp_path: Path, block: str, message: str
) -> None:
    file = tmp_path / "db"
    end = "" if message.endswith("///") else "\n# ///"
    file.write_text(f"#!/bin/sh\n# /// command\n{block}{end}\n")
    with pytest.raises(DefinitionError) as raised:
        read_definition(str(file))
    assert str(raised.value).startswith(f"{file}:{message}")


def test_a_wrong_block_below_tags_costs_its_own_command(install: Install) -> None:
    block = '# /// command\n# {"confirm": "Sure?",}\n# ///\n'
    files = {
        "commands/db": f"#!/bin/sh\n# @describe Copy it.\n# @arg stage!\n{block}",
        "commands/ok": "#!/bin/sh\n# Print it.\n",
    }
    done = install(files).run()
    assert "  Print it.\n" in done.stdout
    assert done.stderr.count("commands/db:5:22: trailing comma") == 1


def test_a_misspelt_key_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "db"
    file.write_text('#!/bin/sh\n# /// command\n# {\n#   "hiden": true\n# }\n# ///\n')
    [problem] = read_definition(str(file)).warnings
    assert str(problem) == f'{file}:4:5: "hiden": unknown key; did you mean "hidden"?'


def _script(**fields: object) -> str:
    return f"#!/bin/sh\n# /// command\n# {json.dumps(fields)}\n# ///\n" + ECHO[10:]


RUNS = {
    "a script": ({"x.sh": ECHO}, "x a", "x.sh [a]"),
    "the first in byte order": ({"x.sh": ECHO, "x.py": ECHO}, "x", "x.py []"),
    "a script beside its folder": ({"x.sh": ECHO, "x/y": ECHO}, "x", "x.sh []"),
    "what is in the folder": ({"x.sh": ECHO, "x/y": ECHO}, "x y z", "x/y [z]"),
    "an argument that is no word": ({"x.sh": ECHO, "x/y": ECHO}, "x z y", "x.sh [z] [y]"),
    "an option ends the words": ({"x.sh": ECHO, "x/y": ECHO}, "x -v y", "x.sh [-v] [y]"),
    "a folder wins over a script": (
        {"x/command.json": _command(), "x/main.sh": ECHO, "x.sh": ECHO}, "x", "x/main.sh []"),
    "files in a command's folder": (
        {"x/command.json": _command(), "x/main.sh": ECHO, "x/y": ECHO}, "x y", "x/main.sh [y]"),
    "a command in a command's folder": (
        {"x/command.json": _command(), "x/main.sh": ECHO,
         "x/y/command.json": _command(), "x/y/main.sh": ECHO}, "x y z", "x/y/main.sh [z]"),
    "scripts below a command's folder": (
        {"x/command.json": _command(), "x/main.sh": ECHO, "x/y/z": ECHO}, "x y z",
        "x/main.sh [y] [z]"),
    "main": ({"x/main.sh": ECHO, "x/lib.sh": ECHO}, "x lib", "x/main.sh [lib]"),
    "main in python": ({"x/main.py": ECHO}, "x", "x/main.py []"),
    "main with a definition": (
        {"x/command.json": {"name": "N", "description": "D"}, "x/main.sh": ECHO},
        "x a", "x/main.sh [a]"),
    "main in a category": ({"x/category.json": {}, "x/main.sh": ECHO}, "x main", "x/main.sh []"),
    "the entrypoint of a category": (
        {"x/category.json": {"entrypoint": "go.sh"}, "x/go.sh": ECHO, "x/y": ECHO},
        "x -v", "x/go.sh [-v]"),
    "an alias": ({"x/y": _script(aliases=["why"])}, "x why z", "x/y [z]"),
    "a default": ({"x/category.json": {"default": "y"}, "x/y": ECHO}, "x", "x/y []"),
    "an option for the default": (
        {"x/category.json": {"default": "y"}, "x/y": ECHO}, "x --all z", "x/y [--all] [z]"),
    "an option for the entrypoint": (
        {"x/category.json": {"default": "y", "entrypoint": "go.sh"}, "x/go.sh": ECHO, "x/y": ECHO},
        "x -v", "x/go.sh [-v]"),
    "a longer word than the default": (
        {"x/category.json": {"default": "y"}, "x/y": ECHO, "x/z": ECHO}, "x z", "x/z []"),
    "no command below": ({"x.sh": ECHO, "x/y/z": ECHO}, "x y", "x.sh [y]"),
    "the longest run": ({"x.sh": ECHO, "x/y/z": ECHO}, "x y z a", "x/y/z [a]"),
}  # fmt: skip


@pytest.mark.parametrize(("files", "words", "expected"), RUNS.values(), ids=RUNS)
def test_what_runs(
    install: Install, files: dict[str, object], words: str, expected: str
) -> None:
    made = install({f"commands/{name}": content for name, content in files.items()})
    assert made.run(*words.split()).all == (0, expected, "")


def test_listings_show_a_command_with_commands_below_as_both(install: Install) -> None:
    made = install(
        {
            "commands/x.sh": "#!/bin/sh\n# Show x.\n",
            "commands/x/y": "#!/bin/sh\n# Show y.\n",
            "commands/x/in/command.json": _command(),
            "commands/x/in/main.sh": ECHO,
            "commands/x/in/deep/command.json": _command(),
            "commands/x/in/deep/main.sh": ECHO,
        }
    )
    listing = json.loads(made.run("self", "list", "--format", "json").stdout)
    assert [one["path"] for one in listing["categories"]] == [["x"], ["x", "in"]]
    assert {tuple(one["path"]): one["description"] for one in listing["commands"]} == {
        ("x",): "Show x.",
        ("x", "y"): "Show y.",
        ("x", "in"): "D",
        ("x", "in", "deep"): "D",
    }
    assert made.run("x", "in", "deep", "a").stdout == "x/in/deep/main.sh [a]"
    for words, below in (
        ("x", [["x", "in"], ["x", "in", "deep"], ["x", "y"]]),
        ("x in", [["x", "in", "deep"]]),
    ):
        done = made.run("self", "list", *words.split(), "--format", "json")
        assert [one["path"] for one in json.loads(done.stdout)["commands"]] == below
    assert made.run("self", "list", "x", "in").stdout.endswith(
        "\nx in\n  x in deep  D\n"
    )
    nothing_below = "cli: x y is a command; name a category, or omit WORDS\n"
    assert made.run("self", "list", "x", "y").all == (2, "", nothing_below)


def test_a_category_gives_defaults_to_all_below(install: Install) -> None:
    show = '#!/bin/sh\necho "$A $B $C $D"\n'
    made = install(
        {
            "commands/category.json": {"envs": {"A": "top", "B": "top", "C": "top"}},
            "commands/x/category.json": {
                "envs": {"B": "x", "C": "x"}, "env_files": ["own.env"], "required_envs": ["D"],
                "group": "G",
            },
            "commands/x/own.env": "D=file\n",
            "commands/x/y/z/command.json": _command(envs={"C": "$B-z"}),
            "commands/x/y/z/main.sh": show,
            "commands/x/s": show,
        }
    )  # fmt: skip
    assert made.run("x", "y", "z").all == (0, "top x x-z file\n", "")
    assert made.run("x", "s").all == (0, "top x x file\n", "")
    assert made.run("x", "s", env={"B": "caller"}).stdout == "top caller x file\n"
    rows = json.loads(made.run("self", "env", "x", "y", "z", "--format", "json").stdout)
    sources = {one["name"]: (one["source"], one["rank"]) for one in rows}
    x = f"{made.root}/commands/x/category.json"
    assert sources["B"] == (f"{x}: envs.B", 2)
    assert sources["C"] == (f"{made.root}/commands/x/y/z/command.json: envs.C", 2)
    assert sources["D"] == (f"{made.root}/commands/x/own.env:1", 4)
    listing = json.loads(made.run("self", "list", "--format", "json").stdout)
    assert {one["group"] for one in listing["commands"] if one["path"][0] == "x"} == {
        "G"
    }
    (made.root / "commands/x/own.env").unlink()
    failed = made.run("x", "s")
    assert (failed.status, failed.stdout) == (1, "")
    assert "D must be set" in failed.stderr


def test_a_bad_category_with_defaults_stops_what_is_below(install: Install) -> None:
    made = install({"commands/x/category.json": '{"envs": 3}', "commands/x/y": ECHO})
    expected = f'cli: {made.root}/commands/x/category.json: "envs": expected an object of strings'
    assert made.run("x", "y").stderr.startswith(expected)
    (made.root / "commands/x/category.json").unlink()
    (
        made.root / "commands/x/category.json"
    ).mkdir()  # unreadable, so it may have defaults
    path = f"{made.root}/commands/x/category.json"
    assert made.run("x", "y").all == (1, "", f"cli: {path}: not a regular file\n")
    (made.root / "commands/x/category.json").rmdir()
    (made.root / "commands/x/category.json").write_text("[]")
    assert made.run("x", "y").all == (0, "x/y []", "")


def test_the_listing_of_a_category_with_a_default(install: Install) -> None:
    flag = '#!/bin/sh\n# @flag --dry Only print\necho "$@"\n'
    made = install({"commands/x/category.json": {"default": "y"}, "commands/x/y": flag})
    listing = made.run("self", "list", "x").stdout
    assert "y" in listing
    for words in (("x", "--help"), ("x", "help"), ("help", "x")):
        assert made.run(*words).stdout.startswith("x\n"), words
    assert made.run("x", "z").all == (
        2,
        "",
        "cli: unknown command z in x; did you mean cli x y z?\n",
    )
    assert (
        made.run("x", "--format", "json").status == 2
    )  # the default does not declare it
    assert "--dry\tOnly print" in made.run("--complete", "zsh", "x", "--").stdout


@pytest.mark.parametrize(
    "runs", [{}, {"entrypoint": "go.sh"}], ids=["category", "runnable"]
)
def test_a_default_that_names_nothing(install: Install, runs: dict[str, str]) -> None:
    category = {"default": "gone", **runs}
    files = {"commands/x/category.json": category, "commands/x/go.sh": ECHO}
    made = install({**files, "commands/x/y": ECHO})
    path = f"{made.root}/commands/x/category.json"
    expected = f'cli: {path}: "default": there is no command gone in this category\n'
    assert made.run("x").all == (1, "", expected)
    assert made.run("x", "--help").status == made.run("x", "help").status == 0


def test_words_that_name_nothing(install: Install) -> None:
    made = install({"commands/hello": ECHO, "commands/plain": "true\n"})
    assert (
        made.run("hell").stderr
        == "cli: unknown command hell; did you mean cli hello or cli help?\n"
    )
    path = made.root / "commands/plain"
    reason = "it is not executable and has no shebang"
    what = f"cli: unknown command plain; {path} is not a command: {reason}\n"
    assert made.run("plain").all == (2, "", what)
    assert made.run("hello.sh").status == 2


def test_help_and_tab_show_what_is_below(install: Install) -> None:
    made = install(
        {
            "commands/x.sh": f"#!/bin/sh\n# Usage: x [y]\n{ECHO[10:]}",
            "commands/x/y": ECHO,
        }
    )
    page = made.run("help", "x").stdout
    assert "Usage of the script:\n  x [y]\n" in page
    assert "Subcommands:\n  y\n" in page
    assert made.run("x", "--help").stdout == page
    assert made.run("--complete", "zsh", "x", "").stdout == "files\ny\t\n"
    assert made.run("--complete", "zsh", "x", "y", "").stdout == "files\n"


def test_a_listing_of_a_category_reports_its_bad_category_json(
    install: Install,
) -> None:
    made = install({"commands/x/y/category.json": "{", "commands/x/y/z": ECHO})
    (made.root / "commands/x/y/z").chmod(0o755)
    file = f"{made.root}/commands/x/y/category.json"
    for words in (["x", "y"], ["help", "x", "y"], ["x"], ["self", "list", "x", "y"]):
        done = made.run(*words)
        assert (done.status, done.stderr.count(f"cli: warning: {file}:1:2: ")) == (0, 1)
    assert made.run("--complete", "zsh", "x", "y", "").all == (0, "none\nz\t\n", "")
