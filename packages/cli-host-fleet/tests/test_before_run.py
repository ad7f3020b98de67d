"""The hooks of another plugin: a run on hosts passes `before_run` before anything connects."""

from __future__ import annotations

import os
import shutil
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Cli

_MODULES = Path(sysconfig.get_path("purelib"), f"cli_host_fleet_rules_{os.getpid()}")
_HOOKS = f"""
from host import AfterRun, BeforeRun, hookimpl

@hookimpl
def before_run(installation):
    yield BeforeRun("rules", "{_MODULES.name}:check")

@hookimpl
def after_run(installation):
    yield AfterRun("log", "{_MODULES.name}:log")
"""
_RULES = """
import os
from host import Ask, Refuse

def log(run):
    with open(os.environ["HOME"] + "/log", "a") as file:
        print(*run.words, run.origin, *[host["host"] for host in run.hosts], file=file)

def check(run):
    if "hunter2" in str(run.arguments):
        return Refuse("this is a secret")
    if run.words[0] != "demo":
        return None
    if run.origin in ("agent", "mcp") and run.effects == "destroy":
        return Refuse(f"not for {run.client['name']}")
    if "prod" in run.arguments:
        return Refuse(f"not by {run.origin} on {', '.join(run.hosts)}")
    return Ask("Deploy on a Friday?")
"""


@pytest.fixture
def ruled(cli: Cli) -> Iterator[Cli]:
    _MODULES.mkdir()
    (_MODULES / "__init__.py").write_text(_RULES)
    folder = cli.home / "rules"
    folder.mkdir()
    (folder / "plugin.json").write_text('{"hooks": "hooks.py"}')
    (folder / "hooks.py").write_text(_HOOKS)
    added = cli.installed.run("--yes", "self", "plugin", "add", str(folder))
    assert added.status == 0
    pin = {"name": "--pin", "value": "PIN", "secret": True}
    cli.command("echo ran\n", effects="destroy", args=[{"name": "stage"}, pin])
    yield cli
    shutil.rmtree(_MODULES)


_FRIDAY = (
    "nobody can answer for other machines: Deploy on a Friday?; "
    "to run it by hand, on each of them: cli demo do dev '--pin=********'"
)
_EDITOR = {"CLI_RECORDED": "0123456789ab:mcp:name=Editor"}


def test_a_run_passes_the_rules_of_plugins(ruled: Cli) -> None:
    refused = "refused (plugin rules: rules):"
    for argument, env, said in (
        ("prod", {}, f"{refused} not by fleet on web01, web02"),
        ("dev", {}, _FRIDAY),
        ("dev", {"CLAUDECODE": "1"}, f"{refused} not for claude-code"),
        ("dev", _EDITOR, f"{refused} not for Editor"),
    ):
        words = ("demo", "do", argument, "--pin=hunter2")
        done = ruled.run("web[01-02]", "--yes", *words, env=env)
        assert (done.status, done.stdout) == (1, b"")
        assert done.stderr == f"cli fleet run: demo do: {said}\n"


def test_a_plugin_gets_a_finished_run_once(ruled: Cli) -> None:
    assert ruled.fleet("exec", *ruled.on("web01"), "true").status == 0
    assert (ruled.home / "log").read_text() == "fleet exec fleet web01\n"
