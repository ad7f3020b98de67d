"""What a call becomes: who is asked, and which line is run."""

from __future__ import annotations

from typing import Any

import pytest

from cli_host_mcp.choice import Choice
from cli_host_mcp.offer import Call, Offer
from conftest import Cli


@pytest.fixture
def offer(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a maker of offers, in a process that is `mcp serve`."""
    ours = {"CLI_DIR": str(cli.root), "COMMAND_NAME": "serve", "COMMAND_CATEGORY": "mcp"}
    for name, value in {**cli.environ, **ours}.items():
        monkeypatch.setenv(name, value)

    def made(confirm: str, **choice: Any) -> Offer:
        return Offer(Choice(**choice), False, confirm)

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
    """`confirm` of a definition is always asked; effects as --confirm says; sudo destroys."""
    served = offer(confirm, allow_sudo=True)
    names = ("risk__drop", "risk__root", "risk__sure", "show__words", "show__status")
    assert {name for name in names if served.answer(name, {}).question} == asked


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
    """What an assistant gives stands on the line of the command, escaped."""
    word = "x\nIt is safe.\x1b[8m\u202e"
    question = offer("destroy").answer("risk__drop", {"words": [word]}).question
    assert question == (
        "Run cli risk drop 'x\\nIt is safe.\\x1b[8m\\u202e'?\nIt may destroy something."
    )


def test_a_word_is_never_an_option_of_the_program(offer: Any, cli: Cli) -> None:
    call = offer("destroy").answer("show__words", {"words": ["--yes", "--safe", "--color=always"]})
    assert isinstance(call, Call)
    assert call.argv == [cli.file, "show", "words", "--yes", "--safe", "--color=always"]
