"""The hook `after_run`: a plugin's function gets each finished run, and cannot change it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.installation import IMPORTABLE, Made, command

MODULE = f"after_run_{os.getpid()}"  # each worker has its own
HOOKS = f"""
from host import AfterRun, hookimpl

@hookimpl
def after_run(installation):
    yield AfterRun("report", "cli_host_tests.{MODULE}:report", words=("a",))
    traced = ("COLLECTOR",)
    yield AfterRun("trace", "cli_host_tests.{MODULE}:report", ("a", "all"), traced)
"""
REPORT = """
import json, os, sys, time

def report(run):
    if "slow" in run.words:
        time.sleep(60)
    if "failing" in run.words:
        raise RuntimeError("no network")
    if "leaving" in run.words:
        os._exit(3)
    print("reported")
    with open(os.environ["HOME"] + "/runs", "a") as file:
        file.write(json.dumps(run.values()) + "\\n")

def start(args):
    print("ran")
"""


@pytest.fixture(scope="module", autouse=True)
def _module() -> Iterator[None]:
    file = IMPORTABLE / f"{MODULE}.py"
    file.write_text(REPORT)
    yield
    file.unlink()


@pytest.fixture
def made(install: Callable[..., Made]) -> Made:
    files = {
        f"commands/{words}": f"#!/bin/bash\necho ran; exit {status}\n"
        for words, status in [
            ("a/s", 3),
            ("a/slow", 4),
            ("a/failing", 5),
            ("a/leaving", 6),
        ]
    }
    return install(
        {
            **files,
            "commands/a/all/command.json": command(
                entrypoint=f"cli_host_tests.{MODULE}:start",
                starts_commands=True,
                record=False,
            ),
            "commands/b": "#!/bin/bash\necho ran\n",
            "plugins/reporter/plugin.json": {"name": "reporter", "hooks": "hooks.py"},
            "plugins/reporter/hooks.py": HOOKS,
        }
    )


def reported(made: Made) -> list[dict[str, Any]]:
    file: Path = made.home / "runs"
    return (
        [json.loads(line) for line in file.read_text().splitlines()]
        if file.exists()
        else []
    )


def test_the_function_gets_the_finished_run(made: Made) -> None:
    done = made.run("a", "s", "x", "tok5e6f", env={"A_TOKEN": "tok5e6f"})
    assert done.all == (3, "ran\n", "reported\n")
    [run] = reported(made)
    assert (run["words"], run["status"]) == (["a", "s"], 3)
    assert run["arguments"] == ["x", "********"]
    assert (run["signal"], run["origin"], run["hosts"]) == (0, "script", [])
    assert not list(
        made.home.glob(".local/state/cli-host/history/*")
    )  # nobody asked for a record


def test_runs_of_other_words_are_ordinary(made: Made) -> None:
    assert made.run("b").all == (0, "ran\n", "")
    assert reported(made) == []


@pytest.mark.parametrize(("collector", "stderr"), [("", ""), ("x", "reported\n")])
def test_a_command_that_records_what_it_starts_has_a_parent_only_in_a_trace(
    made: Made, collector: str, stderr: str
) -> None:
    done = made.run("a", "all", env={"COLLECTOR": collector})
    assert done.all == (0, "ran\n", stderr)


@pytest.mark.parametrize(
    ("word", "status", "reason"),
    [
        ("slow", 4, "did not return within 5 s"),
        ("failing", 5, "raised RuntimeError: no network"),
        ("leaving", 6, "ended the process instead of answering"),
    ],
)
def test_a_failing_function_is_a_warning(
    made: Made, word: str, status: int, reason: str
) -> None:
    began = time.monotonic()
    done = made.run("a", word)
    assert done.all[:2] == (status, "ran\n")
    function = f"cli_host_tests.{MODULE}:report"
    assert (
        done.stderr == f"cli: warning: plugin reporter: report: {function}: {reason}\n"
    )
    assert time.monotonic() - began < 30


@pytest.mark.slow
def test_a_disabled_plugin_is_not_called(made: Made) -> None:
    assert made.run("self", "plugin", "disable", "reporter").status == 0
    assert made.run("a", "s").all == (3, "ran\n", "")


def test_an_invalid_record_marks_its_plugin(made: Made) -> None:
    made.write({"plugins/reporter/hooks.py": HOOKS.replace("tests.", "tests ")})
    done = made.run("a", "s")
    assert done.all[:2] == (3, "ran\n")
    assert 'function must have the form "module:attr"' in done.stderr
