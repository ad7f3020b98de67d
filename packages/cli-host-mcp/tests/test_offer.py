"""The effect of a call: whether the user is asked, and which command line is run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from cli_host_mcp.arguments import schema_of
from cli_host_mcp.choice import Choice, all_commands
from cli_host_mcp.offer import Call, Offer, UnknownToolError
from cli_host_mcp.problem import CallError
from conftest import ESCAPED, FORGED, Cli, made
from host import HostError, Program
from testing.installation import variables_of


@pytest.fixture
def offer(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that creates offers, in the process of `mcp serve`."""
    ours = variables_of(cli.root, "mcp", "serve")
    for name, value in {**cli.environ, **ours}.items():
        monkeypatch.setenv(name, value)

    def made(confirm: str, *, search: bool = False, **options: Any) -> Offer:
        choice = Choice(**options)
        served = choice.served(Program.current(), all_commands(Program.current()))
        return Offer(choice, served, "cli", search=search, confirm=confirm)

    return made


@pytest.mark.parametrize(
    ("confirm", "asked"),
    [
        ("destroy", {"risk__drop", "risk__root", "risk__sure"}),
        ("change", {"risk__drop", "risk__root", "risk__sure", "show__words"}),
        ("never", {"risk__sure"}),
    ],
)
def test_who_is_asked(offer: Any, confirm: str, asked: set[str]) -> None:
    """A definition's `confirm` is always asked; effects depend on --confirm; sudo means destroy."""
    served = offer(confirm, allow_sudo=True)
    names = ("risk__drop", "risk__root", "risk__sure", "show__words", "show__status")
    assert {name for name in names if served.answer(name, {}).question} == asked


def test_a_long_name_of_an_argument_is_a_shorter_property(offer: Any, cli: Cli) -> None:
    """Claude's API refuses a tool with a property of more than 64 characters."""
    args = [{"name": f"--{'n' * 70}{last}", "value": "V"} for last in "ab"]
    cli.command("long names", "true\n", args=args)
    try:
        served = offer("destroy", patterns=("long",))
        [tool] = served.tools()
        keys = [*tool["inputSchema"]["properties"]]
        assert [len(key) for key in keys] == [64, 64]
        assert served.answer("long__names", {keys[1]: "x"}).args == [
            args[1]["name"],
            "x",
        ]
    finally:
        shutil.rmtree(cli.root / "commands/long")


def test_annotations_are_those_of_the_strongest_call(offer: Any, cli: Cli) -> None:
    """An option may raise the effects, and a command that starts others may do anything."""
    wipe = {"name": "--wipe", "effects": "destroy"}
    cli.command(
        "hints option", "true\n", effects="read", args=[{"name": "--all"}, wipe]
    )
    cli.command("hints plain", "true\n", effects="read", args=[{"name": "--all"}])
    cli.command("hints starts", "true\n", effects="read", starts_commands=True)
    cli.command("hints changes", "true\n", effects="change")
    cli.command("hints nothing", "true\n")
    try:
        served = offer("destroy", patterns=("hints", "hints/starts"))
        hints = {
            tool["name"]: tuple(tool.get("annotations", {}).values())
            for tool in served.tools()
        }
        assert hints == {
            "hints__changes": (False, False),
            "hints__nothing": (),
            "hints__option": (False, True),
            "hints__plain": (True, False),
            "hints__starts": (False, True),
        }
        assert served.answer("hints__option", {"all": True}).question == ""
        assert served.answer("hints__option", {"wipe": True}).question
        assert served.answer("hints__starts", {}).question
    finally:
        shutil.rmtree(cli.root / "commands/hints")


def test_an_empty_choice_is_left_out_of_the_schema(offer: Any, cli: Cli) -> None:
    """Some clients refuse a schema with an empty choice; the value itself is accepted."""
    args = [
        {"name": "kind", "choices": ["", "a"], "default": ""},
        {"name": "--only", "value": "X", "choices": [""]},
    ]
    cli.command("more choices", "true\n", args=args)
    served = offer("destroy", patterns=("more/choices",))
    [tool] = served.tools()
    call = served.answer("more__choices", {"kind": "", "only": ""})
    shutil.rmtree(cli.root / "commands/more/choices")
    kind, only = tool["inputSchema"]["properties"].values()
    assert kind == {"type": "string", "enum": ["a"]}
    assert only == {"type": "string"}
    assert call.args == ["--only", "", ""]


def test_agreement_reaches_the_command(
    offer: Any, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = offer("destroy").answer("risk__sure", {})
    assert call.argv == [cli.file, "--yes", "risk", "sure"]
    assert call.line == "cli risk sure"
    monkeypatch.setenv("CLI_YES", "1")
    call = offer("destroy").answer("risk__sure", {})
    assert (call.question, call.argv) == ("", [cli.file, "risk", "sure"])
    assert offer("destroy").answer("risk__drop", {}).question


def test_the_question_cannot_be_added_to(offer: Any) -> None:
    """The assistant's words appear escaped, within the command line."""
    word = "x\nIt is safe.\x1b[8m\u202e"
    question = offer("destroy").answer("risk__drop", {"words": [word]}).question
    assert question == (
        "Run cli risk drop 'x\\nIt is safe.\\x1b[8m\\u202e'? It may destroy something."
    )
    forged = offer("change").answer("odd__forged", {"kind": FORGED}).question
    assert forged == f"Run cli odd forged '{ESCAPED}'? {ESCAPED} It changes something."


MORE = [
    {"name": "stage", "required": True, "env": "MCP_STAGE", "pattern": "[a-z]+"},
    {"name": "--host", "value": "HOST", "repeats": True, "conflicts": ["--all"]},
    {"name": "--all"},
    {"name": "--cache", "negatable": True, "default": "true"},
    {"name": "--pin", "value": "PIN", "secret": True},
    {"name": "--purge", "effects": "destroy"},
]


@pytest.fixture
def declared(cli: Cli, offer: Any) -> Any:
    cli.command("more args", "true\n", args=MORE, effects="read")
    return offer


def test_the_schema_of_arguments(
    declared: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    [tool] = [one for one in declared("destroy").tools() if one["name"] == "more__args"]
    assert tool["inputSchema"]["properties"] == {
        "stage": {"type": "string", "pattern": "^(?:[a-z]+)$"},
        "host": {
            "type": "array",
            "items": {"type": "string"},
            "description": "not together with all",
        },
        "all": {"type": "boolean"},
        "cache": {"type": "boolean", "default": True},
        "pin": {"type": "string", "description": "secret"},
        "purge": {
            "type": "boolean",
            "description": 'changes the effects of the command to "destroy"',
        },
    }
    assert tool["inputSchema"]["required"] == ["stage"]
    monkeypatch.setenv("MCP_STAGE", "dev")
    [tool] = [one for one in declared("destroy").tools() if one["name"] == "more__args"]
    assert "required" not in tool["inputSchema"]


def test_the_words_of_arguments(declared: Any) -> None:
    given = {
        "stage": "dev",
        "host": ["a", "-b"],
        "cache": False,
        "pin": "hunter2",
        "all": False,
    }
    call = declared("destroy").answer("more__args", given)
    assert call.args == [
        "--host",
        "a",
        "--host=-b",
        "--no-cache",
        "--pin",
        "hunter2",
        "dev",
    ]
    assert call.question == ""
    assert "hunter2" not in call.line
    assert "--pin '********'" in call.line
    with pytest.raises(HostError, match="--host and --all cannot be given together"):
        declared("destroy").answer("more__args", {**given, "all": True})


def test_a_word_that_the_environment_gives(
    cli: Cli, offer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.command("more two", "true\n", args=[MORE[0], {"name": "version"}])
    monkeypatch.setenv("MCP_STAGE", "dev")
    assert offer("destroy").answer("more__two", {"version": "1"}).args == ["dev", "1"]


FROM_SERVER = {
    "MCP_TOKEN": "tok-hunter2",
    "MCP_PLAIN": "key sesame",
    "MCP_URL": "https://me:pass-word@host/",
    "MCP_KEY": "-----BEGIN KEY-----\nbody==",
}


@pytest.mark.parametrize("name", FROM_SERVER)
def test_a_secret_of_the_server_is_never_shown(
    cli: Cli, offer: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Also if it is a word of the command line, because a later argument is given."""
    monkeypatch.setenv(name, FROM_SERVER[name])
    parts = ("hunter2", "sesame", "pass-word", "body")
    filled = {"name": "key", "env": name, "secret": name == "MCP_PLAIN"}
    args = [{"name": "table"}, filled, {"name": "column", "choices": ["id"]}]
    cli.command("filled", "true\n", args=args, effects="destroy")
    cli.command("filled below", "true\n")
    number = {**filled, "name": "--key", "value": "N", "type": "integer"}
    cli.command("checked", "true\n", args=[number])
    served = offer("destroy")
    shown = []
    try:
        for tool, given in (
            ("filled", {"table": "x", "column": "id"}),
            ("filled", {"table": "x", "column": "name"}),
            ("filled", {"table": "below", "column": "id"}),
            ("checked", {}),
        ):
            try:
                call = served.answer(tool, given)
                shown += [call.line, call.question]
            except HostError as refused:
                shown.append(str(refused))
    finally:
        shutil.rmtree(cli.root / "commands/filled")
        shutil.rmtree(cli.root / "commands/checked")
    assert len(shown) == (4 if name == "MCP_KEY" else 5)
    assert not [text for text in shown for part in parts if part in text], shown


def test_an_option_raises_the_effects(declared: Any) -> None:
    given = {"stage": "dev", "purge": True}
    question = declared("destroy").answer("more__args", given).question
    assert question == "Run cli more args --purge dev? It may destroy something."
    with pytest.raises(
        CallError,
        match='--read-only refuses this call, because its effects are "destroy"',
    ):
        declared("destroy", read_only=True).answer("more__args", given)


def test_a_word_is_never_an_option_of_the_program(offer: Any, cli: Cli) -> None:
    call = offer("destroy").answer(
        "show__words", {"words": ["--yes", "--safe", "--color=always"]}
    )
    assert isinstance(call, Call)
    assert call.argv == [cli.file, "show", "words", "--yes", "--safe", "--color=always"]


@pytest.mark.parametrize("patterns", [(), ("*",), ("show", "s*")])
@pytest.mark.parametrize(
    "name",
    [
        "self info",
        "self/plugin/add",
        "self plugin",
        "self",
        "self__info",
        " self  uninstall",
    ],
)
def test_self_is_never_offered(
    offer: Any, name: str, patterns: tuple[str, ...]
) -> None:
    """`self` has no tools, and `find`, `describe` and `run` do not know it."""
    served = offer("never", search=True, patterns=patterns, allow_sudo=True)
    for tool in ("describe", "run"):
        with pytest.raises(CallError, match="unknown command self"):
            served.answer(tool, {"command": name})
    found = served.answer("find", {"query": "self plugin uninstall"}).splitlines()
    assert not [line for line in found if line.startswith("self")]
    assert "self" not in {one["name"] for one in served.tools()}
    each = offer("never", patterns=patterns, allow_sudo=True)
    with pytest.raises(UnknownToolError, match="unknown tool self"):
        each.answer(name.strip().replace(" ", "__"), {})


@pytest.mark.parametrize(
    "name",
    ["odd named", "odd hidden", "odd starts", "odd never", "risk root", "mcp tools"],
)
def test_each_mode_offers_the_same_commands(offer: Any, name: str) -> None:
    search, each = offer("never", search=True), offer("never")
    tools = [one["name"] for one in each.tools()]
    assert name.replace(" ", "__") not in tools
    with pytest.raises(CallError, match=f"unknown command {name}"):
        search.answer("run", {"command": name})
    found = [line.split(":")[0] for line in search.answer("find", {}).splitlines()]
    assert sorted(tools) == sorted(one.replace(" ", "__") for one in found)


def test_texts_of_definitions_are_escaped(offer: Any) -> None:
    """Each text of a definition stays on one line wherever an assistant or its user sees it."""
    [tool] = [one for one in offer("never").tools() if one["name"] == "odd__forged"]
    assert tool["title"] == ESCAPED
    assert tool["description"] == f"{ESCAPED} | Example: {ESCAPED} ({ESCAPED})"
    assert tool["inputSchema"]["properties"]["kind"]["description"] == ESCAPED
    search = offer("never", search=True)
    assert (
        search.answer("find", {"query": "forged"}) == f"odd forged: {ESCAPED} (change)"
    )
    described = search.answer("describe", {"command": "odd forged"})
    assert "".join(described.split("\n")).isprintable()


def test_programs_that_a_command_requires_are_shown(cli: Cli, offer: Any) -> None:
    cli.command("needs jq", "true\n", requires=["jq>=1.6", "tar"])
    [tool] = [one for one in offer("never").tools() if one["name"] == "needs__jq"]
    assert tool["description"].endswith("| Requires: jq>=1.6, tar")


def test_words_that_a_comment_describes(tmp_path: Path) -> None:
    made_cli = made(tmp_path)
    script = made_cli.root / "commands/logs"
    script.write_text("#!/bin/sh\n# @arg app! Which app\n# @option -n <LINES>\necho\n")
    script.chmod(0o755)
    definition = Program.at(made_cli.root).find(("logs",)).definition
    described = schema_of(definition)["properties"]["words"]["description"]
    assert described.endswith("as on a command line: <app> [-n LINES]")
