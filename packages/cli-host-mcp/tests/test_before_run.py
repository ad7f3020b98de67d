"""The hook `before_run` of another plugin: calls of an assistant pass it, too."""

from __future__ import annotations

import json
import os
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Cli, connected, made

_MODULES = Path(sysconfig.get_path("purelib"), f"cli_host_mcp_rules_{os.getpid()}")
_HOOKS = f"""
from host import BeforeRun, hookimpl

@hookimpl
def before_run(installation):
    yield BeforeRun("rules", "{_MODULES.name}:check", words=("app",))
"""
_RULES = """
from host import Ask, Refuse

def check(run):
    if run.words[-1] == "drop":
        return Refuse(f"not by {run.origin}: {' '.join(run.arguments)}")
    if run.words[-1] == "ship":
        return Ask("Deploy on a Friday?")
"""


@pytest.fixture
def ruled(tmp_path: Path) -> Iterator[Cli]:
    _MODULES.mkdir()
    (_MODULES / "__init__.py").write_text(_RULES)
    cli = made(tmp_path)
    rules = cli.home / "rules"
    rules.mkdir()
    (rules / "plugin.json").write_text('{"hooks": "hooks.py"}')
    (rules / "hooks.py").write_text(_HOOKS)
    assert cli.run("--yes", "self", "plugin", "add", "./rules").returncode == 0
    # The rule of `drop` knows the origin of a run that is not recorded, too.
    config = cli.root / "core" / "cli.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "record": False}))
    for word in ("drop", "ship", "show"):
        is_recorded = word != "drop"
        cli.command(f"app {word}", "echo ran\n", effects="change", record=is_recorded)
    yield cli
    shutil.rmtree(_MODULES)


def test_calls_pass_the_rules_of_plugins(ruled: Cli) -> None:
    ruled.env["CLI_YES"] = "1"  # answers no rule
    with connected(ruled, "2026-07-28", "app") as client:
        refused = client.call("app__drop", words=["prod"])
        asked = client.call("app__ship")
        shown = client.call("app__show")
    assert [refused.failed, asked.failed, shown.failed] == [True, True, False]
    said = "refused (plugin rules: rules): not by mcp: prod"
    assert said in refused.text
    assert (
        "a person must answer on a terminal: Deploy on a Friday?; "
        "to run it by hand: cli app ship"
    ) in asked.text
    done = ruled.run("self", "history", "--format", "json")
    runs = json.loads(done.stdout)["runs"]
    assert [(run["words"][1], run["status"]) for run in runs] == [
        ("show", 0),
        ("ship", 1),
    ]
