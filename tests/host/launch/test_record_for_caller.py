"""`Program.record`: a caller writes a run to the history, and the run is not recorded again."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from typing import Any

import pytest

from host import Program, RecordedRun, UsageError
from testing.installation import CLI, Made, command

CLIENT = {"name": "Editor", "version": "1.0, beta:2", "tool": "a=b\0"}
ARGUMENTS = ["x", "in hunter2", "--pin", "4711"]


@pytest.fixture
def made(install: Callable[..., Made]) -> Made:
    return install(
        {
            "commands/app/ship/command.json": command(
                record=True,
                effects="destroy",
                envs={"APP_TOKEN": "hunter2"},
                args=[
                    {"name": "words..."},
                    {"name": "--pin", "value": "PIN", "secret": True},
                ],
            ),
            "commands/app/ship/main.sh": "#!/bin/bash\ncli log note\nexit 3\n",
            "commands/log/note": '#!/bin/bash\n# /// command\n# {"record": true}\n# ///\n'
            'echo "$CLI_RUN" > "$HOME/inner"\n',
            "commands/plain": '#!/bin/bash\necho "${CLI_RECORDED-unset}"\n',
        }
    )


def program_of(made: Made) -> Program:
    path = f"{made.root}/core:{os.environ['PATH']}"
    return Program.at(made.root, {**os.environ, "HOME": str(made.home), "PATH": path})


def add_reporter(made: Made, word: str) -> None:
    """Add a plugin whose function prints what it gets after each run below `word`."""
    hooks = f"""
from host import AfterRun, hookimpl

@hookimpl
def after_run(installation):
    yield AfterRun("report", "pprint:pprint", words=("{word}",))
"""
    made.write(
        {"plugins/reporter/plugin.json": {"name": "reporter", "hooks": "hooks.py"}}
    )
    made.write({"plugins/reporter/hooks.py": hooks})


def history(made: Made, *options: str) -> list[dict[str, Any]]:
    shown = made.run("self", "history", *options, "--format", "json")
    assert (shown.status, shown.stderr) == (0, "")
    runs: list[dict[str, Any]] = json.loads(shown.stdout)["runs"]
    return runs


def ship(made: Made, **options: Any) -> tuple[Program, RecordedRun]:
    program = program_of(made)
    return program, program.record(("app", "ship"), ARGUMENTS, origin="mcp", **options)


@pytest.mark.slow
def test_a_run_is_recorded_once(made: Made) -> None:
    program, recorded = ship(made, client=CLIENT, secrets=["s3cr3t"])
    [running] = history(made, "--running")
    assert (running["id"], running["status"]) == (recorded.id, None)
    done = program.run(("app", "ship"), ARGUMENTS, environ=recorded.environment())
    hosts = [
        {
            "host": "web1",
            "status": 3,
            "reason": "no s3cr3t 4711",
            "seconds": 0.5,
            "address": None,
        }
    ]
    recorded.finish(done.returncode, hosts=hosts)
    recorded.finish(0)
    inner, outer = history(made)
    assert (inner["words"], inner["outer"]) == (["log", "note"], recorded.id)
    # A server for assistants ends all processes of a call, which have its id.
    ids = (made.home / "inner").read_text().strip().rpartition(":")[2]
    assert ids == f"{inner['id']}.{recorded.id}"

    # A run that another server records inside keeps the ids around it, too.
    other = "abcdefabcdef"
    environ = {"CLI_RUN": (made.home / "inner").read_text().strip()}
    made.run("log", "note", env={**environ, "CLI_RECORDED": f"{other}:mcp:"})
    last = (made.home / "inner").read_text().strip().rpartition(":")[2]
    assert last.endswith(f".{other}.{ids}")
    assert (outer["words"], outer["status"], outer["signal"]) == (["app", "ship"], 3, 0)
    assert outer["arguments"] == ["x", "in ********", "--pin", "********"]
    assert (outer["origin"], outer["client"]) == ("mcp", {**CLIENT, "tool": "a=b"})
    assert outer["hosts"] == [{**hosts[0], "reason": "no ******** ********"}]
    shown = made.run("self", "history", "show", recorded.id).stdout
    assert (
        "  host: web1, status: 3, reason: no ******** ********, seconds: 0.5\n" in shown
    )
    for file in made.home.rglob("cli-host/history/*"):
        for secret in (b"hunter2", b"4711", b"s3cr3t"):
            assert secret not in file.read_bytes()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("--on x app ship --pin 4711 y", "--on x app ship --pin ******** y"),
        ("--pin app ship y --pin=4711", "--pin app ship y --pin=********"),
        ("also --on x app ship --pin 4711", "also --on x app ship --pin ********"),
        ("app ship --pen 4711", "app ship ******** ********"),
        ("app --pin 4711", "app --pin 4711"),
        ("-c 'cli app ship --pin 4711 y'", "-c 'cli app ship --pin ******** y'"),
        ("-c 'app ship --pin \"4 7\"&'", "-c ********"),
        ('"app ship --pin 4\'7"', '"app ship --pin ********"'),
        ("app wrong --pin 4711", "app wrong --pin 4711"),
    ],
)
def test_a_command_that_starts_others_masks_their_secrets(
    made: Made, words: str, shown: str
) -> None:
    made.write(
        {
            "commands/also/command.json": command(starts_commands=True),
            "commands/also/main.sh": "true",
            "commands/app/wrong/command.json": "{",
        }
    )
    program = program_of(made)
    masked = program.masked_arguments(program.find(["also"]), shlex.split(words))
    assert masked == shlex.split(shown)


def test_a_command_that_has_moved(made: Made) -> None:
    """What runs in its place says what is secret, and what it does."""
    made.write(
        {
            "commands/old/command.json": {
                "name": "Old",
                "description": "Formerly",
                "moved_to": "app ship",
            }
        }
    )
    program = program_of(made)
    old = program.find(("old",))
    shown = ["x", "in hunter2", "--pin", "********"]
    assert program.masked_arguments(old, ARGUMENTS) == shown
    assert program.arguments(old, ARGUMENTS)["ARG_PIN"] == "4711"
    assert program.effects(old, ARGUMENTS) == "destroy"
    program.record(("old",), ARGUMENTS, origin="fleet").finish(0)
    [run] = history(made)
    shown[1] = "in ********"
    assert (run["words"], run["arguments"]) == (["app", "ship"], shown)


def test_a_signal(made: Made) -> None:
    recorded = program_of(made).record(("plain",), origin="fleet")
    recorded.finish(-15)
    [run] = history(made, "--origin", "fleet")
    assert (run["status"], run["signal"]) == (143, 15)

    # It ran on other machines: this one is not the place to run it again.
    refused = made.run("self", "history", "rerun", run["id"], "--yes")
    assert (refused.status, refused.stdout) == (1, "")
    assert "ran on other machines" in refused.stderr


def test_nothing_is_recorded_if_cli_json_forbids_it(made: Made) -> None:
    made.write({"core/cli.json": {**CLI, "record": False}})
    program = program_of(made)
    recorded = program.record(("plain",), origin="mcp")
    done = program.run(
        ("plain",),
        environ=recorded.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    recorded.finish(0)
    assert done.stdout == "unset\n"
    assert history(made) == []


def test_the_command_does_not_see_who_recorded_it(made: Made) -> None:
    program = program_of(made)
    recorded = program.record(("plain",), origin="mcp")
    environ = recorded.environment({"PATH": os.environ["PATH"], "HOME": str(made.home)})
    done = program.run(("plain",), environ=environ, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("unset\n", "")


def test_no_argument_is_recorded_if_the_secrets_are_unknown(made: Made) -> None:
    made.write({"config/settings.conf": "exit 1\n"})
    program = program_of(made)
    program.record(("plain",), ["hunter2"], origin="mcp").finish(1)
    [run] = history(made)
    assert (run["arguments"], run["status"]) == (["********"], 1)


@pytest.mark.slow
def test_a_caller_that_learns_the_secrets_from_the_run(made: Made) -> None:
    made.write({"config/settings.conf": "touch $HOME/read\n"})
    program = program_of(made)
    given = ("app", "ship"), ["s3cr3t", "in t0p", "--pin=4711"]
    recorded = program.record(*given, origin="mcp", starts=False)
    [run] = history(made)
    assert (run["id"], run["arguments"]) == (recorded.id, ["********"] * 3)
    recorded.start(["s3cr3t"])
    recorded.start(["t0p"])
    recorded.finish(0)
    [run] = history(made)
    assert run["arguments"] == ["********", "in t0p", "--pin=********"]
    assert not (made.home / "read").exists()
    program.record(*given, origin="mcp", starts=False).finish(1)
    unknown = history(made)[0]
    assert unknown["arguments"] == ["********"] * 3


@pytest.mark.parametrize("given", ["x", "0123456789ab", "0123456789ab:mcp:name=x"])
def test_only_an_id_in_the_history_counts_as_recorded(made: Made, given: str) -> None:
    assert made.run("log", "note", env={"CLI_RECORDED": given}).status == 0
    [run] = history(made)
    assert run["words"] == ["log", "note"]
    assert run["id"] != given[:12]


def test_unknown_words(made: Made) -> None:
    with pytest.raises(UsageError, match="unknown command"):
        program_of(made).record(("app", "shpi"), origin="mcp")
    assert history(made) == []


def test_a_history_that_cannot_be_written_is_a_warning(
    made: Made, capfd: pytest.CaptureFixture[str]
) -> None:
    (made.home / ".local").write_text("no directory")
    recorded = program_of(made).record(("plain",), origin="mcp")
    recorded.finish(0)
    [warning] = capfd.readouterr().err.splitlines()
    assert "warning: the run is not recorded: " in warning


@pytest.mark.slow
def test_after_run_gets_the_id_the_origin_and_the_client(made: Made) -> None:
    add_reporter(made, "plain")
    program = program_of(made)
    recorded = program.record(("plain",), origin="mcp", client=CLIENT)
    done = program.run(
        ("plain",), environ=recorded.environment(), capture_output=True, text=True
    )
    recorded.finish(done.returncode)
    for text in (recorded.id, "'mcp'", "1.0, beta:2"):
        assert text in done.stderr


@pytest.mark.parametrize("record", [None, False], ids=["recorded", "not recorded"])
def test_after_run_gets_the_hosts(
    made: Made, record: bool | None, capfd: pytest.CaptureFixture[str]
) -> None:
    add_reporter(made, "app")
    made.write({"core/cli.json": {**CLI, "record": record}} if record is False else {})
    _, recorded = ship(made, secrets=["s3cr3t"])
    recorded.finish(3, hosts=[{"host": "web1", "reason": "no s3cr3t"}])
    recorded.finish(0, hosts=[{"host": "web2"}])
    shown = capfd.readouterr().err
    assert shown.count("FinishedRun(") == 1
    for text in (
        "hosts=[{'host': 'web1', 'reason': 'no ********'}]",
        "status=3",
        "'in ********'",
    ):
        assert text in shown
