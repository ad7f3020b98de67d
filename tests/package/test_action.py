"""The steps of action.yml, as GitHub runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from testing.installation import PROJECT
from testing.team import Team, script

STEPS: list[dict[str, Any]] = yaml.safe_load((PROJECT / "action.yml").read_text())[
    "runs"
]["steps"]


def run_steps(inputs: dict[str, str], environ: dict[str, str], files: Path) -> None:
    """Run the shell steps with bash, with the values that GitHub puts in place of `${{ … }}`."""
    outputs: dict[str, str] = {}
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    for step in STEPS:
        if "run" not in step:
            continue
        own = {}
        for name, text in step["env"].items():
            [value] = re.findall(r"^\$\{\{ (.+) \}\}$", text)
            own[name] = values[value]
        output = files / "output"
        output.write_text("")
        files_of_github = {
            "GITHUB_OUTPUT": str(output),
            "GITHUB_PATH": str(files / "path"),
        }
        subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            env=environ | own | files_of_github,
            check=True,
        )
        for line in output.read_text().splitlines():
            name, _, value = line.partition("=")
            outputs[f"steps.{step['id']}.outputs.{name}"] = value
        values |= outputs


@pytest.mark.night
def test_the_teams_commands_run_after_its_steps_and_are_new_each_time(
    environment_of_all: Path, offline: dict[str, str], tmp_path: Path
) -> None:
    team = Team(tmp_path)
    [wheel] = (environment_of_all / "own").glob("*.whl")
    home = team.colleague.home
    inputs = {"name": "acme", "source": team.repository.url, "package": str(wheel)}
    environ = {
        **offline,
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(PROJECT),
        "CI": "true",
    }
    run_steps(inputs, environ, tmp_path)
    made = (home / ".local/share/cli-host-environment/pyvenv.cfg").stat()
    [on_path] = (tmp_path / "path").read_text().splitlines()

    def output(*words: str) -> str:
        command = [f"{on_path}/acme", *words]
        return subprocess.run(
            command, env=environ, check=True, capture_output=True, text=True
        ).stdout

    assert output("deploy", "staging") == "staging\n"
    assert output("ops", "hi")

    team.repository.commit({"commands/deploy/live.sh": script("live")})
    run_steps(inputs, environ, tmp_path)
    assert output("deploy", "live") == "live\n"
    again = (home / ".local/share/cli-host-environment/pyvenv.cfg").stat()
    assert again.st_ino == made.st_ino, "the environment was made again"


def test_actions_are_pinned_and_no_input_is_part_of_a_script() -> None:
    for step in STEPS:
        if "uses" in step:
            assert re.search(r"@[0-9a-f]{40}$", step["uses"]), step["uses"]
        assert "${{" not in step.get("run", "")
