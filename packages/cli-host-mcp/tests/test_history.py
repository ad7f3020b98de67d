"""The history has each call of an assistant: who asked, and whether the user agreed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import MODES, Cli, connected, made, until


@pytest.fixture
def recording(tmp_path: Path) -> Cli:
    """An installation with a history of its own, whose commands ask to be recorded themselves."""
    cli = made(tmp_path)
    cli.env = {"API_TOKEN": "t0ken-here"}
    pin = {"name": "--pin", "value": "PIN", "secret": True}
    cli.command(
        "app show",
        'echo "$ARG_WHAT $MINTED_TOKEN"; exit 3\n',
        args=[{"name": "what"}, pin],
        effects="read",
        record=True,
    )
    cli.command("app drop", 'echo "dropped $1"\n', effects="destroy", record=True)
    cli.command("app hang", "echo up; sleep 300\n", effects="read")
    counted = 'echo read >> "$HOME/reads"\nMINTED_TOKEN=$(printf from-settings)\n'
    (cli.root / "config" / "settings.conf").write_text(counted)
    return cli


def _history(cli: Cli, *options: str) -> list[dict[str, Any]]:
    done = cli.run("self", "history", "--origin", "mcp", "--format", "json", *options)
    assert (done.returncode, done.stderr) == (0, "")
    runs: list[dict[str, Any]] = json.loads(done.stdout)["runs"]
    return runs


def test_a_call_is_recorded_once(recording: Cli) -> None:
    with connected(recording, "2025-11-25") as assistant:
        assistant.call("app__show", what="my from-settings", pin="4711")
    assert len((recording.home / "reads").read_text().splitlines()) == 1
    done = recording.run("self", "history", "--format", "json")
    (run,) = json.loads(done.stdout)["runs"]
    assert (run["words"], run["status"], run["origin"]) == (["app", "show"], 3, "mcp")
    assert run["arguments"] == ["--pin", "********", "my ********"]
    client = run["client"]
    assert client.pop("name")
    assert client.pop("version")
    assert client == {"tool": "app__show", "confirmation": "not needed"}
    secrets = "4711|from-settings|t0ken-here"
    files = recording.home / ".local" / "state"
    found = subprocess.run(
        ["grep", "-rEl", secrets, files], capture_output=True, check=False
    )
    assert (found.returncode, found.stdout) == (1, b"")


@pytest.mark.parametrize("mode", MODES)
def test_the_users_answer_is_recorded(recording: Cli, mode: str) -> None:
    with connected(recording, mode) as assistant:
        assistant.call("app__drop", words=["db"])
        assistant.answer = "decline"
        assistant.call("app__drop", words=["all"])
    refused, given = _history(recording)
    assert (given["arguments"], given["status"]) == (["db"], 0)
    assert given["client"]["confirmation"] == "given"
    assert (refused["arguments"], refused["status"]) == (["********"], 1)
    assert refused["client"]["confirmation"] == "refused"


def test_a_call_with_wrong_arguments(recording: Cli) -> None:
    stage = {"name": "stage", "choices": ["dev"]}
    pin = {"name": "--pin", "value": "PIN", "secret": True}
    recording.command("app up", "true\n", args=[stage, pin], effects="read")
    with connected(recording, "2025-11-25") as assistant:
        assert assistant.call("app__up", stage="dev", pn="4711").failed
        assert assistant.call("app__up", stage="prod", pin="4711").failed
    wrong_value, wrong_key = _history(recording, "--failed")
    assert (wrong_key["words"], wrong_key["arguments"]) == (["app", "up"], [])
    assert wrong_value["arguments"] == ["********"] * 3, "prod may be a secret, too"
    for run in (wrong_value, wrong_key):
        assert (run["status"], run["client"]["confirmation"]) == (2, "not asked")


def test_a_client_that_cannot_ask(recording: Cli) -> None:
    with connected(recording, "2026-07-28", asks=False) as assistant:
        assert assistant.call("app__drop", words=["db"]).failed
    (run,) = _history(recording, "--failed")
    assert run["client"]["confirmation"] == "refused"


def test_a_timeout(recording: Cli) -> None:
    with connected(recording, "2025-11-25", "--timeout", "2") as assistant:
        assert assistant.call("app__hang").failed
    (run,) = _history(recording)
    assert (run["status"], run["signal"]) == (124, 0)


def test_a_cancelled_call(recording: Cli) -> None:
    """While it runs, waits for its turn, or the user is asked."""
    with connected(recording, "2025-11-25", "--jobs", "1") as assistant:
        call = assistant.start("app__hang")
        until(lambda: _history(recording, "--running"))
        waiting = assistant.start("app__show", what="next")
        assistant.answer = "wait"
        asked = assistant.start("app__drop", words=["db"])
        until(lambda: assistant.asked)
        for number, cancelled in enumerate((asked, waiting, call), 1):
            cancelled.cancel()
            until(lambda: len(_history(recording, "--failed")) == number)  # noqa: B023
    runs = _history(recording)
    assert {(run["status"], run["signal"]) for run in runs} == {(143, 15)}
    assert sorted(" ".join([*run["words"], *run["arguments"]]) for run in runs) == [
        "app drop ********",
        "app hang",
        "app show ********",
    ]


def test_a_history_that_is_forbidden_or_cannot_be_written(recording: Cli) -> None:
    def call() -> str:
        with connected(recording, "2025-11-25") as assistant:
            return assistant.call("app__drop", words=["db"]).text

    config = recording.root / "core" / "cli.json"
    content = json.loads(config.read_text())
    config.write_text(json.dumps({**content, "record": False}))
    recording.command("app drop", 'echo "dropped $1"\n', effects="destroy")
    recording.command("app hang", "setsid sleep 301 & echo up; sleep 300\n")
    assert call() == "dropped db\n"
    with connected(recording, "2025-11-25") as assistant:
        hanging = assistant.start("app__hang")
        until(lambda: len(recording.marked()) >= 3)
        hanging.cancel()
        until(lambda: not recording.marked())
    assert _history(recording) == []
    config.write_text(json.dumps(content))
    state = recording.home / ".local" / "state"
    state.parent.mkdir(exist_ok=True)
    state.write_text("no directory")
    assert call() == "dropped db\n"
