"""Coding agents are known by their variables: in the history, and for questions."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from host.agents import agent_of, agent_variables
from testing.installation import Made
from testing.terminal import on_terminal

KNOWN = {
    "none": ({}, ""),
    "empty": ({"CLAUDECODE": "", "AGENT": ""}, ""),
    "configured by a person": ({"CODEX_HOME": "/x", "CLAUDE_CONFIG_DIR": "/x"}, ""),
    "Claude Code": ({"CLAUDECODE": "1"}, "claude-code"),
    "Cursor": ({"CURSOR_AGENT": "1"}, "cursor-cli"),
    "Gemini": ({"GEMINI_CLI": "1"}, "gemini-cli"),
    "Codex": ({"CODEX_SANDBOX": "seatbelt"}, "codex"),
    "goose": ({"GOOSE_TERMINAL": "1", "AGENT": "goose"}, "goose"),
    "Amp, which also sets that of Claude Code": (
        {"AGENT": "amp", "CLAUDECODE": "1"},
        "amp",
    ),
    "Claude Code, which also gives its version": (
        {"CLAUDECODE": "1", "AI_AGENT": "claude-code_2-1-197_agent"},
        "claude-code",
    ),
    "a name of its own": ({"AI_AGENT": "devin@1", "CLAUDECODE": "1"}, "devin@1"),
    "a switch": ({"AGENT": "1"}, "agent"),
    "a switch beside a name": ({"AGENT": "1", "OPENCODE": "1"}, "opencode"),
}


@pytest.mark.parametrize(("environ", "name"), KNOWN.values(), ids=KNOWN)
def test_the_name_of_an_agent(environ: dict[str, str], name: str) -> None:
    assert agent_of(environ) == name


def test_each_variable_is_enough() -> None:
    assert all(agent_of({variable: "1"}) for variable in agent_variables())


def test_an_agent_on_a_terminal_is_recorded_and_not_asked(
    install: Callable[..., Made],
) -> None:
    block = json.dumps({"record": True, "confirm": "Really?"})
    script = f"#!/bin/bash\n# /// command\n# {block}\n# ///\necho ran\n"
    made = install({"commands/s": script})
    status, shown = on_terminal(made, "s", CLAUDECODE="1")
    assert status == 1
    assert "a coding agent forbids the question" in shown
    assert "cli --yes s" in shown
    assert on_terminal(made, "--yes", "s", GEMINI_CLI="1") == (0, "ran\n")

    listed = made.run("self", "history", "--origin", "agent", "--format", "json")
    [run] = json.loads(listed.stdout)["runs"]
    assert (run["origin"], run["client"]) == ("agent", {"name": "gemini-cli"})
