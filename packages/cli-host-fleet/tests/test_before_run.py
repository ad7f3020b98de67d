"""The hook `before_run` of another plugin: a run on hosts passes it before anything connects."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Cli

_MODULES = Path(sysconfig.get_path("purelib"), f"cli_host_fleet_rules_{os.getpid()}")
_HOOKS = f"""
from host import BeforeRun, hookimpl

@hookimpl
def before_run(installation):
    yield BeforeRun("rules", "{_MODULES.name}:check", words=("demo",))
"""
_RULES = """
from host import Ask, Refuse

def check(run):
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
    add = [cli.argv("run")[0], "--yes", "self", "plugin", "add", folder]
    subprocess.run(add, env=cli.environ(), check=True, capture_output=True)
    cli.command("echo ran\n")
    yield cli
    shutil.rmtree(_MODULES)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (
            "prod",
            "demo do: refused (plugin rules: rules): not by fleet on web01, web02\n",
        ),
        (
            "dev",
            "demo do: nobody can answer for other machines: Deploy on a Friday?; "
            "to run it by hand, on each of them: cli demo do dev\n",
        ),
    ],
)
def test_a_run_passes_the_rules_of_plugins(
    ruled: Cli, argument: str, said: str
) -> None:
    done = ruled.run("web[01-02]", "--yes", "demo", "do", argument)
    assert (done.status, done.stdout) == (1, b"")
    assert done.stderr == f"cli fleet run: {said}"
