"""`self lint`: each finding, at its place, in trees that are clean without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builtin_plugins.diagnosis.lint.positions import (
    keys_of,
    with_positions,
)
from builtin_plugins.self_commands.findings import Finding
from host import Problem
from testing.installation import PROJECT, Made, command

Install = Callable[..., Made]

BASH = "#!/usr/bin/env bash\necho ran\n"
HERE = "commands/a/b"
SUMMARIES = (
    "no description: ",
    "doubtful description: ",
    "the script ",
    "--help shows ",
)


def tree(
    definition: Any = None, script: str | bytes = BASH, **more: Any
) -> dict[str, Any]:
    """Return the files of an installation with one command; `more` are others, by folder."""
    return {
        "commands/a/category.json": {"name": "A", "description": ""},
        f"{HERE}/command.json": command() if definition is None else definition,
        f"{HERE}/main.sh": script,
        **more,
    }


def lint(made: Made, *words: str, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Return the status and the findings, without the lines about all commands together."""
    found = made.run("self", "lint", *words, env=env, cwd=made.root)
    assert found.stderr == ""
    lines = found.stdout.splitlines(keepends=True)
    return found.status, "".join(
        [one for one in lines if not one.startswith(SUMMARIES)]
    )


@pytest.mark.parametrize(
    ("schema", "content", "finding"),
    [
        ("s.json", "{}", ""),
        ("none.json", "", '"schema": {place}/none.json does not exist\n'),
        ("../x.json", "", '"schema": '),
        ("s.json", "[]", "expected an object\n"),
        ("s.json", "{,}", "s.json:1:2: "),
    ],
)
def test_a_schema_of_the_output(
    install: Install, schema: str, content: str, finding: str
) -> None:
    files = tree(command(output="json", schema=schema), **{f"{HERE}/s.json": content})
    made = install(files)
    status, text = lint(made)
    assert status == bool(finding)
    assert finding.format(place=made.root / HERE) in text


def test_descriptions_are_counted_in_one_line_each(install: Install) -> None:
    files = {f"commands/n{number:02}": "#!/bin/sh\n" for number in range(12)}
    files["commands/doubtful"] = "#!/bin/sh\n# Copy https://example.org/x to it\n"
    files["commands/icon"] = "#!/bin/sh\n# @raycast.title Do it\n# @raycast.icon x\n"
    made = install(files)
    listed = ", ".join([f"n{number:02}" for number in range(10)])
    assert made.run("self", "lint").stdout.splitlines()[1:3] == [
        f"no description: 12 commands: {listed} and 2 more",
        "doubtful description: doubtful",
    ]
    verbose = made.run("self", "lint", "--verbose").stdout
    assert f"no description: {listed}, n10, n11\n" in verbose
    assert verbose.endswith("ignored tag: @raycast.icon (1 script)\n")
    found = json.loads(made.run("self", "lint", "--format", "json").stdout)
    assert found["descriptions"]["doubtful"] == ["doubtful"]
    assert found["ignored_tags"] == {"@raycast.icon": 1}


def test_a_clean_installation(install: Install) -> None:
    assert lint(install(tree())) == (0, "no problems in 3 definitions\n")


INDENTED = """\
{
  "name": "B",
  "description": "x",
  "entrypoint": "main.sh",
  %s
}
"""

DEFINITIONS = {
    "json": ("}", "6:1: ", "trailing comma"),
    "type": (
        '"hidden": "yes"',
        '5:3: "hidden": ',
        "expected true or false, found a string",
    ),
    "twice": (
        '"os": [],\n  "os": []',
        "6:3: ",
        'the key "os" occurs twice in one object',
    ),
    "inside args": (
        '"args": [{"name": "one"},\n    {"name": "--x", "type": "integer"}]',
        '6:21: "args[1].type": ',
        'a flag (an option without "value") cannot have this key',
    ),
    "variable": (
        '"envs": {"A": "1", "B": []}',
        '5:22: "envs.B": ',
        "expected a string, number or",
    ),
    "misspelt": (
        '"env_file": []',
        "5:3: ",
        '"env_file": unknown key; did you mean "env_files"?',
    ),
    "misspelt in args": (
        '"args": [{"name": "one", "choice": []}]',
        '5:28: "args[0].choice": ',
        'unknown key; did you mean "choices"?',
    ),
    "unknown": (
        '"owner": "ops"',
        "5:3: ",
        '"owner": unknown key; if it is your own key, name it x-owner',
    ),
    "system": (
        '"os": ["linux", "macos"]',
        "5:3: ",
        '"os": macos is not one of linux, mac; did you mean mac?',
    ),
    "system of sudo": (
        '"sudo": ["lnux"]',
        "5:3: ",
        '"sudo": lnux is not one of linux, mac; did you mean linux?',
    ),
    "secret": (
        '"envs": {"API_TOKEN": "abc"}',
        "5:12: ",
        '"envs.API_TOKEN": looks like a secret',
    ),
    "reference": (
        '"envs": {"A": "$NOWHERE/x"}',
        "5:12: ",
        '"envs.A": $NOWHERE is not defined; add it',
    ),
    "in a file's path": (
        '"env_files": ["$NOWHERE/.env"]',
        "5:3: ",
        '"env_files": $NOWHERE is not defined',
    ),
}


@pytest.mark.parametrize(
    ("line", "place", "said"), DEFINITIONS.values(), ids=DEFINITIONS
)
def test_what_is_wrong_with_a_definition(
    install: Install, line: str, place: str, said: str
) -> None:
    text = INDENTED % line
    if line == "}":
        text = INDENTED.replace(",\n  %s", ",")
        place = "4:26: "
    made = install(tree(text))
    status, shown = lint(made)
    assert status == 1
    assert shown.startswith(f"{HERE}/command.json:{place}{said}")
    assert len(shown.splitlines()) == 1


@pytest.mark.parametrize("line", ['"envs": {"A": "1"}', '"env_files": [".env"]'])
def test_variables_of_a_python_command_without_sources(
    install: Install, line: str
) -> None:
    text = INDENTED.replace("main.sh", "os:getpid") % f'"sources": false, {line}'
    status, shown = lint(install(tree(text)))
    what = '"sources": "sources" is false, so "envs" and "env_files" have no effect'
    assert (status, shown) == (1, f"{HERE}/command.json:5:3: {what}\n")


DEFINED = {
    "its own": '"envs": {"A": "1", "B": "$A"}',
    "a default": '"envs": {"A": "${NOWHERE:-x}${ELSEWHERE+y}"}',
    "required": '"required_envs": ["R"], "envs": {"A": "$R"}',
    "system": '"envs": {"A": "$HOME $CLI_DIR $COMMAND_NAME"}',
    "caller": '"envs": {"A": "$PATH"}',
    "settings": '"envs": {"A": "$FROM_SETTINGS"}',
    "a file": '"env_files": [".env"], "envs": {"A": "$FROM_FILE"}',
    "a file that is not here": '"env_files": ["no.env"], "envs": {"A": "$WHO_KNOWS"}',
    "argument": '"args": [{"name": "who"}], "envs": {"A": "$ARG_WHO"}',
    "no reference": r'"envs": {"A": "\\$NOWHERE $$ $(id) $1"}',
    "a secret from elsewhere": '"required_envs": ["T"], "envs": {"API_TOKEN": "$T", "PWD": "/"}',
    "own keys": '"x-owner": 1, "_note": 2, "$schema": "s"',
}


@pytest.mark.parametrize("line", DEFINED.values(), ids=DEFINED)
def test_what_is_right_with_a_definition(install: Install, line: str) -> None:
    more = {
        "config/settings.conf": "export FROM_SETTINGS=1\n",
        f"{HERE}/.env": "FROM_FILE=1\n",
    }
    made = install(tree(INDENTED % line, **more))
    assert lint(made)[0] == 0
    # From elsewhere, too: the settings.conf of the installation that is checked counts.
    assert lint(made, ".", env={"CLI_DIR": str(made.root / "nowhere")})[0] == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            'A="open\n',
            ".env:1:1: the quote that opens here is not closed on this line; ignored\n",
        ),
        ("A=1\n1B=2\n", ".env:2:1: this line is not NAME=value; ignored\n"),
        (b"\xff\xfeA", ".env:1:1: is UTF-16; save it as UTF-8\n"),
        (
            "A=run:give\n",
            ".env:1:1: the value of A looks like a reference to a secret, but",
        ),
    ],
    ids=["quote", "name", "UTF-16", "reference"],
)
def test_what_is_wrong_in_a_file_of_env_files(
    install: Install, content: str | bytes, said: str
) -> None:
    made = install(tree(INDENTED % '"env_files": [".env"]', **{f"{HERE}/.env": ""}))
    file = made.root / HERE / ".env"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, shown = lint(made)
    assert status == 1
    assert shown.startswith(f"{HERE}/{said}")


SCRIPTS = {
    "no shebang": (
        "echo ran\n",
        0o755,
        "main.sh:1:1: has no shebang, so bash runs it; make",
    ),
    "neither": (
        "echo ran\n",
        0o644,
        "main.sh:1:1: has no shebang, so bash runs it; make",
    ),
    "CR LF first": (
        "#!/bin/sh\r\necho\r\n",
        0o755,
        "main.sh:1:1: its first line ends with CR LF",
    ),
    "no interpreter": (
        "#!/nowhere/sh\n",
        0o755,
        'main.sh:1:1: its interpreter "/nowhere/sh" is',
    ),
    "not on PATH": (
        "#!/usr/bin/env nowhere\n",
        0o755,
        'main.sh:1:1: its interpreter "nowhere" is',
    ),
}


@pytest.mark.parametrize(("script", "mode", "said"), SCRIPTS.values(), ids=SCRIPTS)
def test_what_is_wrong_with_a_script(
    install: Install, script: str, mode: int, said: str
) -> None:
    made = install(tree(script=script))
    (made.root / HERE / "main.sh").chmod(mode)
    status, shown = lint(made)
    assert status == (0 if "no shebang" in said else 1)
    assert shown.startswith(f"{HERE}/{said}")
    assert len(shown.splitlines()) == 1


ENTRYPOINTS = {
    "missing": ("other.sh", "{place}/other.sh does not exist"),
    "outside": ("../../../core/cli.json", "../../../core/cli.json leads to "),
}


@pytest.mark.parametrize(("entrypoint", "said"), ENTRYPOINTS.values(), ids=ENTRYPOINTS)
def test_an_entrypoint_that_cannot_be(
    install: Install, entrypoint: str, said: str
) -> None:
    made = install(tree(INDENTED.replace("main.sh", entrypoint) % '"os": []'))
    status, shown = lint(made)
    assert status == 1
    said = said.format(place=made.root / HERE)
    assert shown.startswith(f'{HERE}/command.json:4:3: "entrypoint": {said}')


def test_an_entrypoint_that_is_a_link(install: Install) -> None:
    made = install(tree())
    (made.root / HERE / "main.sh").unlink()
    (made.root / HERE / "main.sh").symlink_to("../../../core/cli.json")
    said = f"main.sh leads to {made.root}/core/cli.json, which is outside the command's"
    status, shown = lint(made)
    assert (status, len(shown.splitlines())) == (1, 1)
    assert f'"entrypoint": {said} folder\n' in shown


HOOKS = {
    "right": (
        "from host import hookimpl\n\n@hookimpl\ndef is_installed(command): ...\n",
        0,
        "",
    ),
    # Only an import can tell what a reference names.
    "any reference": (
        "from host import hookimpl\nKEYS = {'entrypoint': 'no.such:main'}\n"
        "@hookimpl\ndef is_installed(command): ...\n",
        0,
        "",
    ),
    "not marked": (
        "from host import hookimpl\ndef is_installed(command): ...\n",
        1,
        "plugins/p/h.py:1:1: no function is marked with @hookimpl, so no hook is called\n",
    ),
    "imported": ("from common import is_installed\n", 0, ""),
    "syntax": ("\ndef x(\n", 1, "plugins/p/h.py:2:1: is not valid Python: "),
}


@pytest.mark.parametrize(("code", "status", "said"), HOOKS.values(), ids=HOOKS)
def test_a_hooks_file(install: Install, code: str, status: int, said: str) -> None:
    made = install({"plugins/p/plugin.json": {"hooks": "h.py"}, "plugins/p/h.py": code})
    found, shown = lint(made)
    assert found == status
    assert shown.startswith(said or "no problems"), shown


MORE = "run: chmod +x {file}; or, if it is not a command, begin its name with _"
LEFT_OUT = {
    "neither executable nor with a shebang": (
        "a/x.sh", "true\n", f"it is not executable and has no shebang; {MORE}"),
    "no word": ("a/x y", "#!/bin/sh\n",
                "its name is not a valid command name; use at most 64 letters, digits and ._- "
                "for a word, and begin with a letter or digit"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_file_that_looks_like_a_script_is_a_hint(
    install: Install, name: str, text: str, said: str
) -> None:
    made = install(tree(**{f"commands/{name}": text}))
    said = said.format(file=made.root / "commands" / name)
    assert lint(made) == (0, f"commands/{name}:1:1: {said}\n")
    assert lint(made, "--format", "github")[1].startswith(
        f"::notice file=commands/{name},line=1,"
    )
    made.write({"commands/a/category.json": '{"name": 1}'})
    assert lint(made)[0] == 1  # beside a finding


def test_the_remedy_of_a_path_with_a_blank_can_be_pasted(
    install: Install, tmp_path: Path
) -> None:
    made = install(tree())
    made.write({"a b/x.sh": "true\n"})
    shown = made.run("self", "lint", f"{made.root}/a b").stdout
    assert f"; run: chmod +x '{made.root}/a b/x.sh'; or" in shown


def test_a_link_out_of_the_tree_is_a_hint(install: Install) -> None:
    made = install(tree())
    (made.root / "commands/x").symlink_to("/bin/sh")
    status, shown = lint(made)
    assert (status, shown.startswith("commands/x:1:1: it links to ")) == (0, True)
    assert shown.endswith(", which is outside this tree\n")


@pytest.mark.slow
def test_a_command_that_a_category_hides(install: Install) -> None:
    plugin = {"plugins/p/plugin.json": {"scripts": {}}, "plugins/p/a.sh": BASH}
    made = install(tree(**plugin))
    remedy = "rename one of the two, or disable the plugin"
    said = f"plugins/p/a.sh:1:1: a is hidden by the category of that name; {remedy}\n"
    assert lint(made) == (1, said)
    nowhere = {"CLI_DIR": str(made.root / "nowhere")}
    assert lint(made, ".", env=nowhere) == (1, said)  # another installation
    listed = made.run("self", "list").stdout
    assert f"hides {made.root}/plugins/p/a.sh\n" in listed
    (made.root / "plugins/p/a.sh").unlink()
    made.write({".cli/commands/a.sh": BASH})
    said = (
        ".cli/commands/a.sh:1:1: a is hidden by the category of that name; "
        + remedy
        + "\n"
    )
    assert lint(made) == (0, said)


def test_scripts_of_the_same_words(install: Install) -> None:
    more = {"commands/x.sh": BASH, "commands/x.py": BASH, "commands/a/b.sh": BASH}
    made = install(tree(**more))
    file, root = (
        "defines the same command and runs instead; rename one of the two files",
        made.root,
    )
    assert lint(made) == (
        1,
        f"commands/a/b.sh:1:1: {root}/{HERE}/main.sh {file}\n"
        f"commands/x.sh:1:1: {root}/commands/x.py {file}\n",
    )


def test_scripts_that_are_both_named_main(install: Install) -> None:
    made = install(
        {"commands/x/main.py": BASH, "commands/x/main.sh": BASH, "commands/x/y.sh": ""}
    )
    root = made.root
    assert lint(made) == (
        1,
        f"commands/x/main.sh:1:1: {root}/commands/x/main.py defines the same command "
        "and runs instead; rename one of the two files\n",
    )


def test_the_default_of_a_category(install: Install) -> None:
    made = install(tree())
    there = {"name": "A", "default": "b"}
    made.write({"commands/a/category.json": there})
    assert lint(made)[0] == 0
    made.write({f"{HERE}/command.json": command(aliases=["c"])})
    made.write(
        {"commands/a/category.json": there | {"default": "c"}, "commands/d/x/y": BASH}
    )
    assert lint(made)[0] == 0
    made.write({"commands/a/category.json": there | {"default": "none"}})
    made.write({"commands/d/category.json": there | {"default": "x"}})
    assert lint(made) == (
        1,
        'commands/a/category.json:1:15: "default": this category has no command none\n'
        'commands/d/category.json:1:15: "default": this category has no command x\n',
    )


def test_what_is_wrong_in_the_comment_of_a_script(install: Install) -> None:
    block = '# {"os": ["linux"], "owner": 1,\n#  "envs": {"A": "$B"}}\n# ///\n'
    text = f"#!/bin/sh\n# /// command\n{block}"
    made = install(tree(**{"commands/a/x": text}))
    assert lint(made, "commands") == (
        1,
        'commands/a/x:3:21: "owner": unknown key; if it is your own key, name it x-owner\n'
        'commands/a/x:4:13: "envs.A": $B is not defined; add it to "required_envs", or write '
        "${B:-} if it may be unset\n",
    )
    made.write(
        {"commands/a/category.json": {"envs": {"B": "1"}}, "commands/a/x": text[:50]}
    )
    assert lint(made, "commands")[1].startswith(
        "commands/a/x:2:1: this block is not closed"
    )


def test_who_answers_help(install: Install) -> None:
    more = {"commands/x": BASH + "case $1 in --help) ;; esac\n", "commands/y": BASH}
    made = install(tree(**more))
    shown = made.run("self", "lint").stdout.splitlines()
    assert shown[2:] == [
        "--help shows the help page: a b, y",
        "the script handles --help: x",
    ]
    rows = json.loads(made.run("self", "lint", "--format", "json").stdout)
    assert rows["findings"] == []
    assert rows["help"] == {"page": ["a b", "y"], "script": ["x"]}


@pytest.mark.slow
def test_what_is_no_script_of_a_category(install: Install) -> None:
    more = {
        f"{HERE}/helper.sh": BASH,  # a command's own file
        f"{HERE}/lib/helper.sh": BASH,
        "commands/a/_library.sh": BASH,
        "commands/a/.hidden.sh": BASH,
        "commands/a/README.md": "#!",
        "commands/a/data.json": "#!/x",
        "commands/a/notes": "x",
        "commands/a/README": "x",
        "commands/tool/category.json": {"entrypoint": "all.sh"},
        "commands/tool/all.sh": BASH,
        "plugins/p/install.sh": BASH,
        "plugins/p/tests/run.sh": BASH,
        "plugins/p/x/y/command.json": command(),
        "plugins/p/x/y/main.sh": BASH,
    }
    made = install(tree(**more))
    os.mkfifo(made.root / "commands/a/fifo", 0o755)
    assert lint(made) == (0, "no problems in 5 definitions\n")
    made.write({"plugins/p/x/loose.sh": BASH})
    assert lint(made)[1].startswith(
        "plugins/p/x/loose.sh:1:1: no command.json refers to this script"
    )


def test_commands_below_a_command(install: Install) -> None:
    made = install(
        tree(**{f"{HERE}/c/command.json": command(), f"{HERE}/c/main.sh": BASH})
    )
    assert lint(made) == (0, "no problems in 4 definitions\n")


def test_a_folder_that_names_no_word(install: Install) -> None:
    made = install(
        tree(**{"commands/a/-x/command.json": command(), "commands/a/-y/notes": "mine"})
    )
    status, shown = lint(made)
    one, other = shown.splitlines()
    assert status == 1
    assert one.startswith("commands/a/-x:1:1: left out; use at most 64 letters")
    assert other.startswith("commands/a/-y:1:1: left out;")
    shutil.rmtree(made.root / "commands/a/-x")
    assert lint(made) == (0, f"{other}\n")  # without a definition, it is only a hint


def test_a_category_is_looked_at_too(install: Install) -> None:
    made = install(
        tree(**{"commands/a/category.json": {"entrypoint": "none", "descripton": "x"}})
    )
    assert lint(made) == (
        1,
        'commands/a/category.json:1:2: "entrypoint": '
        f"{made.root}/commands/a/none does not exist\n"
        'commands/a/category.json:1:24: "descripton": unknown key; did you mean "description"?\n',
    )


PLUGINS = {
    "manifest": (
        {"p/plugin.json": {"directory": 1}},
        'p/plugin.json:1:2: "directory": expected a',
    ),
    "leaves": (
        {"p/plugin.json": {"directory": ".."}},
        'p:1:1: "directory": .. is outside the plugin',
    ),
    "hooks": ({"p/plugin.json": {"hooks": "h.py"}}, 'p/plugin.json:1:2: "hooks": /'),
    "registry": (
        {"registry.json": '{\n "version": null}'},
        'registry.json:2:2: "version": expected',
    ),
    "misspelt": (
        {"p/plugin.json": '{\n "direcotry": "sub"}'},
        'p/plugin.json:2:2: "direcotry": unknown key; did you mean "directory"?\n',
    ),
    "command": (
        {"p/x/y/command.json": "[]"},
        "p/x/y/command.json:1:1: expected an object",
    ),
}


@pytest.mark.parametrize(("files", "said"), PLUGINS.values(), ids=PLUGINS)
def test_plugins_are_looked_at_too(
    install: Install, files: dict[str, Any], said: str
) -> None:
    made = install(
        tree(**{f"plugins/{name}": content for name, content in files.items()})
    )
    status, shown = lint(made)
    assert status == 1
    assert shown.startswith(f"plugins/{said}")


@pytest.mark.slow
def test_a_directory_needs_no_installation(install: Install, tmp_path: Path) -> None:
    made = install(tree(INDENTED % '"owner": 1'))
    nowhere = {"CLI_DIR": str(tmp_path / "nowhere")}
    for directory in ("commands", "commands/a/b", "."):
        status, shown = lint(made, directory, env=nowhere)
        assert status == 1
        assert shown.startswith(f"{HERE}/command.json:5:3: ")
    without = made.run("self", "lint", env=nowhere)
    assert without.status == 1
    assert "configuration file not found" in without.stderr
    missing = made.run("self", "lint", "nowhere")
    assert (missing.status, "nowhere: No such file or directory" in missing.stderr) == (
        2,
        True,
    )


@pytest.mark.slow
def test_a_plugin_of_its_own(install: Install) -> None:
    plugin = {
        "mine/plugin.json": {
            "name": "mine",
            "directory": "commands",
            "hooks": "hooks.py",
        },
        "mine/commands/x/y/command.json": command(),
        "mine/commands/x/y/main.sh": BASH,
    }
    made = install(plugin)
    assert lint(made, "mine")[1].startswith('mine/plugin.json:1:43: "hooks": /')
    made.write(
        {
            "mine/hooks.py": "from host import hookimpl\n\n@hookimpl\ndef prepare(x): 1 / 0\n"
        }
    )
    assert lint(made, "mine") == (0, "no problems in 2 definitions\n")
    made.write({"mine/hooks.py": "x = 1\n"})
    what = "no function is marked with @hookimpl, so no hook is called"
    assert lint(made, "mine") == (1, f"mine/hooks.py:1:1: {what}\n")
    made.write({"mine/hooks.py": "\n\ndef broken(\n"})
    assert lint(made, "mine")[1].startswith(
        "mine/hooks.py:3:1: is not valid Python: '(' was never closed"
    )


@pytest.mark.slow
def test_formats(install: Install) -> None:
    made = install(tree(INDENTED % '"owner%,": 1'))
    message = '"owner%,": unknown key; if it is your own key, name it x-owner%,'
    status, shown = lint(made, "--format", "json")
    assert (status, json.loads(shown)) == (
        1,
        {
            "findings": [
                {
                    "file": f"{HERE}/command.json",
                    "line": 5,
                    "column": 3,
                    "rule": "definition",
                    "message": message,
                }
            ],
            "help": {"page": ["a b"]},
            "descriptions": {"no": [], "doubtful": []},
            "ignored_tags": {},
        },
    )
    assert lint(made, "--format", "github") == (
        1,
        f"::error file={HERE}/command.json,line=5,col=3,title=lint definition::"
        f"{message.replace('%', '%25')}\n",
    )
    made.write({f"{HERE}/command.json": command()})
    assert json.loads(lint(made, "--format", "json")[1]) == {
        "findings": [],
        "help": {"page": ["a b"]},
        "descriptions": {"no": [], "doubtful": []},
        "ignored_tags": {},
    }
    assert lint(made, "--format", "github") == (0, "")


def test_shellcheck_says_what_it_says(install: Install, tmp_path: Path) -> None:
    usual = os.environ["PATH"]
    program = shutil.which("shellcheck", path=f"{usual}:{PROJECT}/.venv-lint/bin")
    if program is None:
        pytest.skip("needs shellcheck")
    (tmp_path / "shellcheck").symlink_to(program)
    made = install(tree(script="#!/bin/bash\ncd /tmp\necho ran\n"))
    found = lint(made, env={"PATH": f"{tmp_path}:{usual}"})
    assert found[0] == 1
    assert found[1].startswith(f"{HERE}/main.sh:2:1: SC2164: ")
    path = made.root / "bin"
    path.mkdir()
    for tool in ("bash", "env", "python3"):
        (path / tool).symlink_to(shutil.which(tool) or "")
    assert lint(made, env={"PATH": str(path)})[0] == 0


def test_what_shellcheck_would_find_is_handed_on(
    install: Install, tmp_path: Path
) -> None:
    comments = [{"file": "?", "line": 2, "column": 3, "code": 1, "message": "no"}]
    checker = tmp_path / "bin" / "shellcheck"
    checker.parent.mkdir()
    made = install(tree())
    comments[0]["file"] = str(made.root / HERE / "main.sh")
    checker.write_text(
        f"#!/bin/sh\ncat <<'E'\n{json.dumps({'comments': comments})}\nE\n"
    )
    checker.chmod(0o755)
    env = {"PATH": f"{checker.parent}:/usr/bin:/bin"}
    assert lint(made, env=env) == (1, f"{HERE}/main.sh:2:3: SC1: no\n")
    checker.write_text("#!/bin/sh\necho broken\n")
    said = f"shellcheck failed; run: {checker} {made.root}/{HERE}/main.sh"
    assert lint(made, env=env) == (1, f"{HERE}/main.sh:1:1: {said}\n")


def test_what_ships_is_clean(install: Install) -> None:
    made = install({})
    for directory in ("commands", "examples"):
        shown = made.run("self", "lint", directory, cwd=PROJECT)
        assert shown.status == 0, shown.stdout


def test_the_hook_for_pre_commit_runs_it(install: Install) -> None:
    import yaml

    (hook,) = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())
    assert hook["pass_filenames"] is False
    made = install(tree(INDENTED % '"owner": 1'))
    program, *words = hook["entry"].split()
    assert program == "cli"
    done = subprocess.run(
        [made.launcher, *words],
        cwd=made.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.count("\n")) == (1, 2)


def test_the_places_of_keys(tmp_path: Path) -> None:
    def places(path: str) -> list[tuple[int, int]]:
        found = [Finding("", Problem(path, "", key=key)) for key in keys_of(path)[1]]
        return [(one.problem.line, one.problem.column) for one in with_positions(found)]

    assert places(written(tmp_path, '{"a":\n\n 1, "b":\n2}')) == [(1, 2), (3, 5)]
    assert places(written(tmp_path, "")) == []
    assert places(str(tmp_path / "none")) == []


def written(directory: Path, text: str) -> str:
    """Write a file of JSON; return its path."""
    file = directory / f"{len(text)}.json"
    file.write_text(text)
    return str(file)


def test_an_undefined_name_in_a_value_of_a_file(install):
    """A name that only a later line defines is undefined; one with a default is not."""
    text = (
        ""
        "A=$NOWHERE/x\nB=${OTHER:-default}\nC='$SINGLE'\nD=$A$HOME$FROM_SETTINGS$LATER\nLATER=1\n"
    )
    made = install(
        {
            "config/settings.conf": "FROM_SETTINGS=1\n",
            "commands/a/b/command.json": command(env_files=[".env"]),
            "commands/a/b/main.sh": "#!/bin/sh\n",
            "commands/a/b/.env": text,
        }
    )
    lines = made.run("self", "lint").stdout.splitlines()
    found = [line for line in lines if "is not defined" in line]
    assert len(found) == 2, lines
    assert ".env:1:1: " in found[0]
    assert "$NOWHERE is not defined" in found[0]
    assert ".env:4:" in found[1]
    assert "$LATER is not defined" in found[1]


LIBRARY_CALLS = {
    "in a plugin": ("plugins/p/x.sh", "#!/bin/bash\nset -e\nlog_info hi\n", True),
    "in commands": ("commands/x.sh", "#!/bin/bash\nlog_info hi\n", False),
    "its own function": (
        "plugins/p/x.sh", "#!/bin/bash\nlog_info () { :; }\nlog_info hi\n", False),
    "of a file that it sources": (
        "plugins/p/x.sh", "#!/bin/bash\n. ./lib.sh\nlog_info hi\n", False),
    "in another shell": ("plugins/p/x.sh", "#!/bin/sh\nlog_info hi\n", False),
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "text", "found"), LIBRARY_CALLS.values(), ids=LIBRARY_CALLS
)
def test_a_call_of_a_library_that_is_not_loaded(
    install: Install, file: str, text: str, found: bool
) -> None:
    plugin = {"name": "p", "version": "1", "scripts": {}}
    made = install({"plugins/p/plugin.json": plugin, file: text})
    status, findings = lint(made)
    message = (
        f"{file}:3:1: calls log_info, but gets no shell library, because it has no definition; "
        'add a block # /// command, or source "$LIB_DIR/logger.sh"\n'
    )
    assert status == int(found)
    assert (message in findings) is found, findings


def test_values_that_do_not_match_the_pattern(install: Install) -> None:
    """A run does not compare them: the pattern needs a process for each."""
    argument = {"name": "x", "pattern": "[a-z]", "choices": ["a", "1"], "default": "1"}
    made = install(tree(command(args=[argument, {**argument, "name": "y"}])))
    status, findings = lint(made)
    assert status == 1
    for name in ("x", "y"):
        assert f'"args": "1" does not match the pattern of {name}\n' in findings
    assert '"a" does not match' not in findings


@pytest.mark.parametrize(
    "pattern", ["(a+)+", "(a|b)*", "([a-z]+\\.)*[a-z]+", "a+b*", "(ab)+"]
)
def test_a_pattern_that_can_take_exponential_time_is_a_hint(
    install: Install, pattern: str
) -> None:
    made = install(tree(command(args=[{"name": "x", "pattern": pattern}])))
    status, findings = lint(made)
    is_nested = pattern not in ("a+b*", "(ab)+")
    assert status == 0
    assert ("the pattern of x can take exponential time" in findings) is is_nested
