"""Commands called by the SDK's own client over stdio, with both protocols."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

import pytest
from mcp import MCPError

from conftest import ESCAPED, FORGED, SECRET, Assistant, Cli, connected, made, until


def test_each_command_is_a_tool(assistant: Assistant) -> None:
    tools = assistant.tools()
    assert {"show__args", "show__words", "odd__hang", "risk__drop"} <= set(tools)
    assert not {
        "risk__root",
        "odd__never",
        "odd__named",
        "odd__hidden",
        "mcp__serve",
    } & set(tools)
    shown = tools["show__args"]
    assert (shown.title, shown.description) == ("Show Args", "Do show args")
    assert shown.input_schema == {
        "type": "object",
        "properties": {
            "target": {"type": "string", "enum": ["web", "db"]},
            "count": {"type": "integer", "default": 3},
            "files": {
                "type": "array",
                "items": {"type": "string"},
                "description": "a path",
            },
            "force": {"type": "boolean"},
            "label": {"type": "string", "description": "what it is called"},
            "ratio": {"type": "number"},
        },
        "required": ["target"],
        "additionalProperties": False,
    }
    hints = {
        name: found and (found.read_only_hint, found.destructive_hint)
        for name in ("show__args", "show__words", "risk__drop")
        for found in (tools[name].annotations,)
    }
    assert hints == {
        "show__args": (True, False),
        "show__words": None,
        "risk__drop": (False, True),
    }


def test_values_reach_the_command_as_words(assistant: Assistant) -> None:
    words = ["a b", "", "$(id)", "-x", "--yes", "é\n;", "*"]
    assert assistant.call("show__words", words=words).blocks == [
        "".join(f"{w}\n" for w in words)
    ]
    found = assistant.call(
        "show__args", target="web", files=["x y"], force=True, label="-rm", ratio=0.5
    )
    assert found.text.splitlines() == [
        "--force",
        "--label=-rm",
        "--ratio",
        "0.5",
        "web",
        "3",
        "x y",
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "missing arguments: target"),
        ({"target": "mail"}, "expected one of web, db"),
        ({"target": "--force"}, "target: a value must not begin with -; found --force"),
        (
            {"target": "web", "files": ["-rf"]},
            "files: a value must not begin with -; found -rf",
        ),
        ({"target": "web", "files": "x"}, "files: expected an array"),
        (
            {"target": "web", "count": "many"},
            "count: expected a whole number; found many",
        ),
        ({"target": "web", "force": "yes"}, "force: expected true or false"),
        ({"target": "web", "label": ["a"]}, "label: expected a string or a number"),
        (
            {"target": "web", "lable": "a"},
            "unknown argument lable; did you mean label?",
        ),
        (
            {"target": "web", "--force": True},
            "unknown argument --force; did you mean force?",
        ),
        ({"target": "web", "label": "a\0b"}, "label: an argument must not contain NUL"),
    ],
)
def test_what_does_not_fit_is_refused(
    assistant: Assistant, given: dict[str, object], said: str
) -> None:
    found = assistant.call("show__args", **given)
    assert found.failed
    assert said in found.text
    assert found.text.endswith("; nothing was run")
    assert "\n" not in found.text


@pytest.mark.parametrize(
    "name", ["nothing", "risk__root", "odd__never", "mcp__serve", "self__env"]
)
def test_what_is_not_served_cannot_be_called(assistant: Assistant, name: str) -> None:
    with pytest.raises(MCPError, match=f"unknown tool {name}"):
        assistant.call(name)


def test_streams_and_status_are_told(assistant: Assistant) -> None:
    found = assistant.call("show__status")
    assert found.failed
    assert found.blocks == ["out\n", "stderr:\nerr\n", "exit status 3"]
    assert assistant.call("odd__killed").blocks == ["killed by signal 9, Killed"]


def test_there_is_no_input_and_no_terminal(assistant: Assistant) -> None:
    found = assistant.call("show__stdin")
    assert found.blocks[0] == "/dev/null\n"
    assert "/dev/tty: No such device or address" in found.blocks[1]


def test_secrets_are_masked(assistant: Assistant) -> None:
    found = assistant.call("show__secret")
    assert found.blocks == ["******** and ********\n"]
    assert SECRET not in "".join(found.progress)
    assert assistant.call("show__minted").blocks == ["<********>\n"]


def test_much_output_is_cut_in_the_middle(assistant: Assistant) -> None:
    found = assistant.call("odd__megabytes")
    head, missing, tail = re.split(
        r"\n… (\d+) bytes are missing here …\n", found.blocks[0]
    )
    assert len(head) + int(missing) + len(tail) == 2_000_004
    assert len(head) + len(tail) == 65536
    assert tail.endswith("xxx" + "end\n")


def test_bytes_that_are_no_text_are_told(assistant: Assistant) -> None:
    assert assistant.call("odd__binary").blocks == ["a\\xff\\x00\\x1b[1mb\n\\u202ec\n"]


def test_progress_comes_while_it_runs(assistant: Assistant, cli: Cli) -> None:
    (cli.home / "gate").unlink(missing_ok=True)
    running = assistant.start("odd__gate")
    until(lambda: assistant.progress == ["one"])
    (cli.home / "gate").touch()
    assert running.result(60).progress == ["one", "two"]


def test_jobs_beyond_the_limit_wait(assistant: Assistant) -> None:
    """Three calls of 0.6 s each, of which two run at once."""
    start = time.monotonic()
    running = [assistant.start("odd__slow") for _ in range(3)]
    assert all(one.result(60).text == "one\ntwo\n" for one in running)
    assert time.monotonic() - start > 1.2


def test_the_user_is_asked_before_something_is_destroyed(
    assistant: Assistant, cli: Cli
) -> None:
    dropped = cli.home / "dropped"
    dropped.unlink(missing_ok=True)
    for answer, said in (("decline", "did not agree"), ("cancel", "did not agree")):
        assistant.answer = answer
        found = assistant.call("risk__drop", words=["it all"])
        assert found.failed
        assert said in found.text
        assert found.text.endswith("by hand: cli risk drop 'it all'; nothing was run")
    assert not dropped.exists()
    assistant.answer = "accept"
    assert assistant.call("risk__drop", words=["it all"]).blocks == ["dropped it all\n"]
    assert (
        assistant.asked[-1] == "Run cli risk drop 'it all'? It may destroy something."
    )
    assert assistant.call("risk__sure").blocks == ["sure\n"]
    assert assistant.asked[-1] == "Run cli risk sure? Really?"


def test_texts_of_definitions_reach_the_client_escaped(assistant: Assistant) -> None:
    assistant.answer = "accept"
    assert assistant.tools()["odd__forged"].title == ESCAPED
    assert assistant.call("odd__forged", kind=FORGED).blocks == ["forged\n"]
    question = f"Run cli odd forged '{ESCAPED}'? {ESCAPED} It changes something."
    assert assistant.asked[-1] == question
    assert assistant.call("odd__forged", kind="b\n").text == (
        f"odd forged: kind: expected one of a, {ESCAPED}; found b\\n; nothing was run"
    )
    with pytest.raises(MCPError, match=r"unknown tool a\\nb"):
        assistant.call("a\nb")


@pytest.mark.parametrize("form", ["each", "search"])
def test_the_list_is_made_when_the_server_starts(tmp_path: Path, form: str) -> None:
    """A change or removal of a command has an effect at once; a new command is never offered."""
    cli = made(tmp_path)
    cli.command("odd changed", "echo first\n")
    cli.command("odd gone", "echo gone\n")
    cli.command("odd stays", "echo stays\n")
    with connected(cli, "2026-07-28", "--tools", form) as assistant:

        def call(name: str) -> str:
            if form == "search":
                return assistant.call("run", command=name).text
            return assistant.call(name.replace(" ", "__")).text

        def offered() -> set[str]:
            if form == "search":
                lines = assistant.call("find").text.splitlines()
                return {line.split(":")[0].replace(" ", "__") for line in lines}
            return set(assistant.tools())

        assert offered() == {"odd__changed", "odd__gone", "odd__stays"}
        assert call("odd changed") == "first\n"
        cli.command("odd changed", "echo second\n")
        assert call("odd changed") == "second\n"
        cli.command("odd changed", "echo third\n", **{"x-mcp": "never"})
        assert call("odd changed") == (
            'odd changed: its definition has "x-mcp": "never"; nothing was run'
        )
        cli.command("odd new", "echo new\n")
        shutil.rmtree(cli.root / "commands/odd/gone")
        assert call("odd gone") == "odd gone no longer exists; nothing was run"
        assert offered() == {"odd__stays"}
        if form == "search":
            assert call("odd new").startswith("unknown command odd new")
            assert call("self info").startswith("unknown command self info")
        else:
            with pytest.raises(MCPError, match="unknown tool odd__new"):
                call("odd new")


def test_words_of_a_longer_command_are_refused(assistant: Assistant, cli: Cli) -> None:
    """A plugin can add the command `show words deeper` to the command `show words`."""
    deeper = cli.root / "plugins" / "deep" / "show" / "words" / "deeper"
    deeper.mkdir(parents=True, exist_ok=True)
    (deeper / "command.json").write_text(
        '{"name": "D", "description": "d", "entrypoint": "main.sh", "effects": "destroy"}'
    )
    (deeper / "main.sh").write_text("echo deeper\n")
    found = assistant.call("show__words", words=["deeper"])
    assert found.text == "deeper\n" or "would run another command" in found.text
    assert cli.run("show", "words", "deeper").stdout == "deeper\n"


@pytest.mark.parametrize("mode", ["2025-11-25", "2026-07-28"])
def test_a_client_that_cannot_ask(cli: Cli, mode: str) -> None:
    """The client gets the command line for its user; --except and --tools apply."""
    options = ("--tools", "search", "--max-output", "1024")
    with connected(cli, mode, *options, "--except", "show", asks=False) as assistant:
        assert list(assistant.tools()) == ["find", "describe", "run"]
        assert len(str([one.model_dump() for one in assistant.tools().values()])) < 3000
        assert (
            "risk drop: Do risk drop (destroy)"
            in assistant.call("find", query="drop").text
        )
        assert "show args" not in assistant.call("find").text
        shown = assistant.call("describe", command="odd slow").text
        assert '"name": "odd__slow"' in shown
        found = assistant.call("run", command="risk drop", arguments={"words": ["x"]})
        assert found.text == (
            "the command needs the user's consent, and this client cannot ask; "
            "to run the command by hand: cli risk drop x; nothing was run"
        )
        assert (
            "unknown command show args"
            in assistant.call("run", command="show args").text
        )
        assert (
            "unknown argument force"
            in assistant.call("run", command="odd slow", arguments={"force": True}).text
        )
        assert (
            "expected an object"
            in assistant.call("run", command="odd slow", arguments=[1]).text
        )


def test_secrets_of_settings_that_take_long(tmp_path: Path) -> None:
    """settings.conf takes long: later calls run at the same time, and all mask its secrets."""
    cli = made(tmp_path)
    (cli.root / "config/settings.conf").write_text(
        "sleep 0.6\nSLOW_TOKEN=from-slow-settings\n"
    )
    cli.command("show slow", 'echo "<$SLOW_TOKEN>"\n')
    with connected(cli, "2026-07-28") as assistant:
        assert assistant.call("show__slow").blocks == ["<********>\n"]
        running = [assistant.start("show__slow") for _ in range(3)]
        assert [one.result(60).blocks for one in running] == [["<********>\n"]] * 3


def test_a_secret_is_requested_once(tmp_path: Path) -> None:
    """The provider returns a new value each time: the value that the run got is masked."""
    cli = made(tmp_path)
    mint = tmp_path / "mint"
    mint.write_text(f'#!/bin/sh\necho x >>{tmp_path}/requests\necho "$1minted-$$"\n')
    mint.chmod(0o755)
    (cli.root / "config/settings.conf").write_text(f"API_TOKEN=$({mint})\n")
    cli.command(
        "show fresh",
        'echo "<$API_TOKEN> <$DB> <$PLACE>"\n',
        secrets={"DB": f"run:{mint}"},
        env_files=[f"run:{mint} PLACE="],
    )
    with connected(cli, "2026-07-28") as assistant:
        assert assistant.call("show__fresh").blocks == [
            "<********> <********> <********>\n"
        ]
    assert (tmp_path / "requests").read_text() == 3 * "x\n"
