"""The commands that are served, and the names of their tools."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from cli_host_mcp.choice import Choice, all_commands
from cli_host_mcp.problem import ChoiceError
from cli_host_mcp.tool import Tool
from cli_host_mcp.toolbox import find, tool_name
from conftest import Cli
from host import Program

_USUAL = {"show args", "odd slow", "risk drop", "risk sure"}


@pytest.mark.parametrize(
    ("choice", "there", "not_there"),
    [
        (
            Choice(),
            _USUAL,
            {"risk root", "odd named", "odd hidden", "odd foreign", "mcp serve"},
        ),
        (Choice(("show",)), {"show args", "show words"}, {"odd slow", "risk drop"}),
        (
            Choice(("show/a*", "risk")),
            {"show args", "risk drop"},
            {"show words", "odd slow"},
        ),
        (Choice(left_out=("risk", "odd/s*")), {"show args"}, {"risk drop", "odd slow"}),
        (Choice(read_only=True), {"show args", "risk sure"}, {"odd slow", "risk drop"}),
        (Choice(allow_sudo=True), {"risk root"}, {"odd never"}),
        (
            Choice(("odd/named", "odd/hidden")),
            {"odd named", "odd hidden"},
            {"odd slow"},
        ),
        (Choice(("odd/n*",)), set(), {"odd named", "odd never"}),
        (
            Choice(("odd/never", "odd/foreign", "risk/root")),
            set(),
            {"odd never", "risk root"},
        ),
        (Choice(("mcp", "mcp/tools")), {"mcp tools"}, {"mcp serve", "mcp install"}),
        (
            Choice(("*", "odd", "odd/*", "odd/start?")),
            _USUAL,
            {"odd starts", "mcp serve"},
        ),
        (Choice(("odd/starts",)), {"odd starts"}, {"mcp serve"}),
        (Choice(("odd/starts", "show"), ("odd",)), {"show args"}, {"odd starts"}),
        (Choice(("odd/starts",), read_only=True), set(), {"odd starts"}),
    ],
)
def test_what_is_served(
    cli: Cli, choice: Choice, there: set[str], not_there: set[str]
) -> None:
    served = {
        " ".join(one.words)
        for one in choice.served(cli.program, all_commands(cli.program))
    }
    assert there <= served
    assert not not_there & served


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("shwo", "shwo matches no command; did you mean show?"),
        ("show/arg", "show/arg matches no command; did you mean show/args"),
        ("x*", "x* matches no command"),
        ("self", "self: commands of `self` are never offered"),
        ("self/*", "self/*: commands of `self` are never offered"),
        ("self/plugin/add", "self/plugin/add: commands of `self` are never offered"),
        ("sel?", "sel? matches no command"),
    ],
)
def test_a_pattern_that_means_nothing(cli: Cli, pattern: str, said: str) -> None:
    for choice in (Choice((pattern,)), Choice(left_out=(pattern,))):
        with pytest.raises(ChoiceError) as refused:
            choice.check(all_commands(cli.program))
        assert str(refused.value).startswith(said)


@pytest.mark.parametrize("word", ["serve", "tools"])
@pytest.mark.parametrize(
    "name",
    [
        "odd/starts",
        "mcp/serve",
        "mcp/tools",
        "mcp/install",
        "mcp/uninstall",
        "odd starts",
    ],
)
def test_read_only_refuses_what_starts_commands(cli: Cli, word: str, name: str) -> None:
    done = cli.run("mcp", word, "--read-only", "show", name)
    path = name.replace(" ", "/")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"cli mcp {word}: {path} starts other commands, so --read-only refuses it\n"
    )


def test_why_what_starts_commands_is_left_out(cli: Cli) -> None:
    shown = json.loads(cli.run("mcp", "tools").stdout)["left_out"]
    names = ["odd starts", "mcp serve", "mcp tools", "mcp install"]
    assert {shown[name] for name in names} == {"served only if its full name is given"}


def test_a_command_that_has_moved_has_its_new_name_only(
    cli: Cli, tmp_path: Path
) -> None:
    core = tmp_path / "core"
    core.mkdir()
    (core / "cli.json").write_text('{"name": "moved", "version": "1"}')
    beside = replace(cli, root=tmp_path)
    beside.command("drop", "echo", effects="destroy")
    beside.command("old", "echo", moved_to="drop")
    program = Program.at(tmp_path, beside.environ)
    served = Choice().served(program, all_commands(program))
    assert "drop" in {" ".join(one.words) for one in served}
    assert "old" not in {" ".join(one.words) for one in served}


def test_the_tools_as_json(cli: Cli) -> None:
    done = cli.run("mcp", "tools", "show", "risk root", "--read-only")
    shown = json.loads(done.stdout)
    assert shown["commands"] == ["show args", "show status"]
    assert [one["name"] for one in shown["tools"]] == ["show__args", "show__status"]
    left_out = shown["left_out"]
    assert (
        left_out["risk root"]
        == 'refused by --read-only, because its effects are "destroy"'
    )
    assert left_out["odd slow"] == "matches no pattern"
    assert done.stderr == ""
    assert cli.run("mcp", "tools").stdout.replace("\n", "").isprintable()
    three = json.loads(cli.run("mcp", "tools", "--tools", "search").stdout)["tools"]
    assert [one["name"] for one in three] == ["find", "describe", "run"]


def test_names_are_short_and_never_the_same() -> None:
    pieces = [
        "a",
        "a_",
        "_a",
        "a__b",
        "a.b",
        "a-b",
        "b",
        "A",
        "a_b",
        "x" * 64,
        "x" * 63 + "y",
    ]
    pieces.append(tool_name(["a.b"], "cli"))
    words = [
        one
        for length in (1, 2, 3)
        for one in itertools.product(
            [piece for piece in pieces if piece[0] != "_"], repeat=length
        )
    ]
    names = [tool_name(one, "cli") for one in words]
    assert len(set(names)) == len(words)
    assert max(len(f"mcp__cli__{name}") for name in names) == 60
    assert all(
        set(name) <= set("abcdefghijklmnopqrstuvwxyABDEFGHIJKLMNOP0123456789_-")
        for name in names
    )
    assert tool_name(["demo", "hello"], "cli") == "demo__hello"
    assert tool_name(["db", "drop_all"], "cli") == "db__drop_all"
    long = tool_name(["demo", "hello" * 6], "the-program-of-acme")
    assert len(f"mcp__the-program-of-acme__{long}") == 60
    assert len(tool_name(["demo", "hello"], "x" * 60)) == len("demo__hello")


def test_whole_words_are_found_first(cli: Cli) -> None:
    served = Choice().served(cli.program, all_commands(cli.program))
    assert find(served, "slow").startswith("odd slow: ")
    assert find(served, "show arg").startswith("show args: ")
    assert find(served, "nowhere").startswith("nothing found")
    assert len(find(served, "").splitlines()) == len(served)
    assert "odd (commands: " in find(served * 2, "")


def test_a_project_needs_its_owners_consent_and_the_users_trust(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shop/.cli"
    script = folder / "commands/build"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n# Build the shop.\n")
    monkeypatch.chdir(folder)
    choice = Choice()

    def refusals() -> list[str]:
        found = all_commands(cli.program)
        return [choice.refusal(Tool(one)) for one in found if one.origin == "project"]

    no_consent = ['its project.json does not have "assistants": true']
    assert refusals() == no_consent
    (folder / "project.json").write_text('{"assistants": false}')
    assert refusals() == no_consent
    (folder / "project.json").write_text('{"assistants": true}')
    assert refusals() == ["its project is not trusted"]
    monkeypatch.setitem(cli.env, "CLI_YES", "1")
    assert refusals() == ["its project is not trusted"]
    monkeypatch.setitem(cli.env, "CLI_TRUST", str(tmp_path / "shop"))
    assert refusals() == [""]
    folder.chmod(0o777)
    assert refusals() == []
