"""`docs diff`: each difference, its kind, and the sources of the two states."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cli_host_docs.compare import differences
from cli_host_docs.versions import accepts_all
from conftest import Cli, make
from host import Program

_OPTION = {"name": "--n", "value": "N"}
_FREE = {"name": "--n", "value": "N", "choices": ["a", "b"]}


def _args(**keys: Any) -> dict[str, Any]:
    return {"args": [{**_OPTION, **keys}]}


ROWS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "nothing": ({}, {}, []),
    "text": ({}, {"name": "B", "description": "C"}, [
        "text: a b: has a new description", "text: a b: has a new name"]),
    "alias": ({"aliases": ["x"]}, {"aliases": ["y"]}, [
        "breaking: a b: no longer has the alias x", "compatible: a b: now has the alias y"]),
    "system": ({}, {"os": ["linux"]}, ["breaking: a b: no longer runs on mac"]),
    "variable": ({"envs": {"A": "1"}}, {"envs": {"B": "1"}}, [
        "breaking: a b: no longer sets A", "compatible: a b: now sets B"]),
    "value of a variable": ({"envs": {"A": "1"}}, {"envs": {"A": "hush"}}, [
        "breaking: a b: sets A to another value"]),
    "secret reference": ({"secrets": {"A": "run:x"}}, {"secrets": {"A": "run:hush"}}, [
        "breaking: a b: takes the secret A from another reference"]),
    "files of variables": ({"env_files": [".a"]}, {"env_files": [".b"]}, [
        "breaking: a b: no longer reads the variables of .a",
        "compatible: a b: now reads the variables of .b"]),
    "entrypoint": ({}, {"entrypoint": "other.sh"}, ["breaking: a b: now runs other.sh"]),
    "help": ({}, {"help": "page"}, ["text: a b: has a new answer to --help"]),
    "starts commands": ({}, {"starts_commands": True}, [
        "breaking: a b: now starts other commands"]),
    "secret argument": (_args(), _args(secret=True), ["compatible: a b: --n N is now secret"]),
    "no secret argument": (_args(secret=True), _args(), [
        "compatible: a b: --n N is no longer secret"]),
    "required variable": ({}, {"required_envs": ["A"]}, [
        "breaking: a b: now needs the variable A"]),
    "requirement": ({"requires": ["jq"]}, {"requires": ["jq>=2"]}, [
        "breaking: a b: now needs the program jq>=2"]),
    "an older version is enough": ({"requires": ["jq>=1.6"]}, {"requires": ["jq>=1.5"]}, [
        "compatible: a b: now needs the program jq>=1.5"]),
    "a requirement less": ({"requires": ["jq", "git"]}, {"requires": ["git"]}, [
        "compatible: a b: no longer needs the program jq"]),
    "secret": ({"secrets": {"A": "run:x"}}, {}, ["compatible: a b: no longer needs the secret A"]),
    "sudo": ({"effects": "destroy"}, {"effects": "destroy", "sudo": ["mac"]}, [
        "breaking: a b: now needs sudo on mac"]),
    "effects raised": ({"effects": "read"}, {"effects": "destroy"}, [
        "breaking: a b: now has the effect change",
        "breaking: a b: now has the effect destroy"]),
    "effects lowered": ({}, {"effects": "read"}, [
        "compatible: a b: no longer has the effect change"]),
    "a question": ({}, {"confirm": "Sure?"}, [
        "breaking: a b: now asks for confirmation",
        "text: a b: has a new question"]),
    "arguments declared": ({}, _args(), ["breaking: a b: now checks its arguments"]),
    "arguments not declared": (_args(), {}, [
        "compatible: a b: no longer checks its arguments"]),
    "option removed": ({"args": [_OPTION, {"name": "--m"}]}, _args(), [
        "breaking: a b: --m was removed"]),
    "option added": (_args(), {"args": [_OPTION, {"name": "--m"}]}, [
        "compatible: a b: --m was added"]),
    "required option added": (
        _args(), {"args": [_OPTION, {"name": "--m", "value": "M", "required": True}]}, [
        "breaking: a b: --m M was added"]),
    "positional renamed": ({"args": [{"name": "x"}]}, {"args": [{"name": "y"}]}, [
        "text: a b: [y] has a new name"]),
    "positional required": (
        {"args": [{"name": "x"}]}, {"args": [{"name": "x", "required": True}]}, [
        "breaking: a b: <x> is now required"]),
    "short": (_args(short="-a"), _args(short="-b"), [
        "breaking: a b: -b, --n N no longer has the short form -a",
        "compatible: a b: -b, --n N now has the short form -b"]),
    "choices": ({"args": [_FREE]}, _args(choices=["b", "c"]), [
        "breaking: a b: --n N no longer accepts a",
        "compatible: a b: --n N now accepts c"]),
    "type": (_args(), _args(type="integer"), ["breaking: a b: --n N now has the type integer"]),
    "a wider type": (_args(type="integer"), _args(), [
        "compatible: a b: --n N no longer has the type integer"]),
    "default": (_args(default="1"), _args(default="2"), [
        "breaking: a b: --n N no longer has the default 1",
        "compatible: a b: --n N now has the default 2"]),
    "time limit": ({}, {"timeout": "5s"}, ["breaking: a b: now has the time limit 5s"]),
    "one run at a time": ({}, {"exclusive": True}, ["breaking: a b: now excludes other runs"]),
    "a move": ({}, {"moved_to": "c"}, ["breaking: a b: is now moved to c"]),
    "passed on": ({"args": [{"name": "x...", "passthrough": True}]}, {"args": [{"name": "x..."}]}, [
        "breaking: a b: [x...] no longer passes on every further word"]),
    "flag": ({"args": [{"name": "--n"}]}, _args(), [
        "breaking: a b: --n N is no longer a flag",
        "compatible: a b: --n N now takes a value",
        "text: a b: --n N has a new placeholder"]),
    "repetition": ({"args": [{"name": "x..."}]}, {"args": [{"name": "x"}]}, [
        "breaking: a b: [x] may no longer be repeated"]),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), ROWS.values(), ids=ROWS)
def test_a_difference_and_its_kind(
    old: dict[str, Any], new: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    states = []
    for name, fields in (("old", old), ("new", new)):
        cli = Cli(tmp_path / name, tmp_path)
        (cli.root / "core").mkdir(parents=True)
        (cli.root / "core/cli.json").write_text('{"name": "Acme", "version": "1"}')
        cli.command("a b", **{"name": "A", "description": "B", **fields})
        states.append(Program.at(cli.root).commands(everything=True))
    own = [[one for one in state if one.origin == "commands"] for state in states]
    assert list(map(str, differences(*own))) == expected


def test_a_variable_of_the_category(tmp_path: Path) -> None:
    states = []
    for name, value in (("old", "1"), ("new", "2")):
        cli = Cli(tmp_path / name, tmp_path)
        (cli.root / "core").mkdir(parents=True)
        (cli.root / "core/cli.json").write_text('{"name": "Acme", "version": "1"}')
        cli.category("a", name="A", envs={"A": value})
        cli.command("a b")
        commands = Program.at(cli.root, safe=True).commands(everything=True)
        states.append([command for command in commands if command.origin == "commands"])
    assert list(map(str, differences(*states))) == [
        "breaking: a b: sets A to another value"
    ]


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (">=1.5", ">=1.6", True),
        (">=1.6", ">=1.5", False),
        ("", ">=1", True),
        (">=1", "", False),
        (">=1.6.0", ">=1.6", True),
        (">=1,<3", ">=1,<2", True),
        (">=1,<2", ">=1", False),
        (">1", ">=1", False),
        (">=1", "==1.4", True),
        ("==1.4", ">=1.4", False),
        ("<=2", "<2", True),
        ("<2", "<=2", False),
    ],
)
def test_version_constraints(new: str, old: str, expected: bool) -> None:
    assert accepts_all(new, old) is expected


def test_formats(cli: Cli, tmp_path: Path) -> None:
    other = make(tmp_path / "other")
    other.command(
        "deploy status", description="100 % other", effects="read", aliases=["st"]
    )
    call = ("docs", "diff", str(other.root), str(cli.root), "--format")
    status, out, _ = cli.run(*call, "json")
    assert status == 0
    assert json.loads(out)["differences"][-1] == {
        "kind": "text",
        "words": ["deploy", "status"],
        "what": "has a new description",
    }
    call = ("docs", "diff", str(cli.root), str(other.root), "--format")
    status, out, _ = cli.run(*call, "github")
    assert status == 1
    assert out.splitlines()[0] == "::error::breaking: deploy app: was removed"
    assert (
        out.splitlines()[-1] == "::notice::text: deploy status: has a new description"
    )


_HOOKS = """
from pathlib import Path
Path(__file__).with_name("imported").touch()
from host import CommandDeclaration, hookimpl
@hookimpl
def discover_commands():
    fields = {"name": "P", "description": "P", "entrypoint": "x:y"}
    yield CommandDeclaration(("deploy", "py"), fields)
"""


def test_another_state_is_only_read(cli: Cli, tmp_path: Path) -> None:
    other = make(tmp_path / "other")
    plugin = other.root / "plugins/greet"
    (plugin / "deploy/hello").mkdir(parents=True)
    (plugin / "plugin.json").write_text('{"name": "greet", "hooks": "hooks.py"}')
    (plugin / "hooks.py").write_text(_HOOKS)
    definition = {"name": "H", "description": "H", "entrypoint": "main.sh"}
    (plugin / "deploy/hello/command.json").write_text(json.dumps(definition))
    (plugin / "deploy/hello/main.sh").write_text("true\n")
    for path in [*other.root.rglob("*"), other.root]:
        os.utime(path, (1, 1), follow_symlinks=False)
    before = {path: path.lstat().st_mtime for path in other.root.rglob("*")}
    status, out, err = cli.run("docs", "diff", str(cli.root), str(other.root))
    assert (status, err) == (1, "")
    assert "compatible: deploy hello: was added\n" in out
    assert {path: path.lstat().st_mtime for path in other.root.rglob("*")} == before
    assert not (plugin / "imported").exists()


def test_commands_that_come_go_and_are_renamed(cli: Cli, tmp_path: Path) -> None:
    other = make(tmp_path / "other")
    other.command("deploy application", aliases=["app"])
    other.command("db dump")
    assert cli.run("docs", "diff", str(cli.root), str(other.root)) == (
        1,
        "breaking: deploy old: was removed\n"
        "breaking: deploy status: was removed\n"
        "compatible: db dump: was added\n"
        "compatible: deploy app: is an alias now\n"
        "compatible: deploy application: was added\n",
        "",
    )
    assert cli.run("docs", "diff", str(cli.root)) == (0, "", "")


@pytest.mark.parametrize("below", ["", "tools/cli"])
def test_git_refs(cli: Cli, below: str) -> None:
    """The installation may be a part of a repository; the working tree is not changed."""
    if below:
        (cli.home / below).parent.mkdir(parents=True)
        cli.root = cli.root.rename(cli.home / below)
    top = cli.home if below else cli.root
    cli.git("init", "--quiet", str(top))
    cli.git("add", "commands", "core/cli.json")
    cli.git("commit", "--quiet", "--message", "one")
    assert cli.run("docs", "diff", "HEAD") == (0, "", "")
    cli.command(
        "deploy status", effects="read", aliases=["st"], description="Say how it is"
    )
    assert cli.run("docs", "diff", "HEAD")[:2] == (
        0, "text: deploy status: has a new description\n")  # fmt: skip
    cli.git("commit", "--quiet", "--all", "--message", "two")
    (cli.root / "commands/deploy/app/command.json").unlink()
    before = sorted(map(str, (cli.root / "commands").rglob("*")))
    assert cli.run("docs", "diff", "HEAD~1", "HEAD")[:2] == (
        0, "text: deploy status: has a new description\n")  # fmt: skip
    assert cli.run("docs", "diff", "HEAD")[:2] == (
        1,
        "breaking: deploy app: was removed\n",
    )
    assert sorted(map(str, (cli.root / "commands").rglob("*"))) == before


def test_a_repository_with_only_commands(cli: Cli, tmp_path: Path) -> None:
    cli.git("init", "--quiet")
    cli.git("add", "commands")
    cli.git("commit", "--quiet", "--message", "one")
    clone = tmp_path / "clone"
    cli.git("clone", "--quiet", str(cli.root), str(clone))
    assert cli.run("docs", "diff", "HEAD") == (0, "", "")
    (cli.root / "commands/deploy/app/command.json").unlink()
    removed = "breaking: deploy app: was removed\n"
    assert cli.run("docs", "diff", "HEAD") == (1, removed, "")
    assert cli.run("docs", "diff", str(clone)) == (1, removed, "")
    assert sorted(one.name for one in clone.iterdir()) == [".git", "commands"]


@pytest.mark.parametrize("ref", ["nope", "--all", "HEAD:commands"])
def test_no_directory_and_no_ref(cli: Cli, ref: str) -> None:
    status, out, err = cli.run("docs", "diff", "--", ref)
    line = f"acme docs diff: {ref} is neither a directory nor a git ref of {cli.root}\n"
    assert (status, out, err) == (2, "", line)


def test_a_directory_that_is_no_installation(cli: Cli) -> None:
    status, out, err = cli.run("docs", "diff", str(cli.home))
    assert (status, out) == (1, "")
    assert (
        err
        == f"acme docs diff: configuration file not found: {cli.home}/core/cli.json\n"
    )
