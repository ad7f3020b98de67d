"""`docs diff`: each difference, its kind, and the sources of the two states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli_host_docs.compare import differences
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
    "value of a variable": ({"envs": {"A": "1"}}, {"envs": {"A": "2"}}, []),
    "required variable": ({}, {"required_envs": ["A"]}, [
        "breaking: a b: now needs the variable A"]),
    "requirement": ({"requires": ["jq"]}, {"requires": ["jq>=2"]}, [
        "breaking: a b: now needs the program jq>=2",
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
    cli.command("deploy status", effects="read", aliases=["st"], description="Say how it is")
    assert cli.run("docs", "diff", "HEAD")[:2] == (
        0, "text: deploy status: has a new description\n")  # fmt: skip
    cli.git("commit", "--quiet", "--all", "--message", "two")
    (cli.root / "commands/deploy/app/command.json").unlink()
    before = sorted(map(str, (cli.root / "commands").rglob("*")))
    assert cli.run("docs", "diff", "HEAD~1", "HEAD")[:2] == (
        0, "text: deploy status: has a new description\n")  # fmt: skip
    assert cli.run("docs", "diff", "HEAD")[:2] == (1, "breaking: deploy app: was removed\n")
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
    assert err == f"acme docs diff: configuration file not found: {cli.home}/core/cli.json\n"
