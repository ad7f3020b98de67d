"""The guide, the templates and the example: everything that they tell is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from plugin_venv import venv as venv  # noqa: PLC0414 - a fixture

from installation import PROJECT, Made

Install = Callable[..., Made]


def _shell(made: Made, script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in bash with `cli` on PATH, stopping at the first failure."""
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    env = {
        **pip,
        "PATH": f"{made.launcher.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(made.home),
        "CLI_DIR": str(made.root),
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        **{
            f"GIT_{who}_{what}": "t@t"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _installation(venv: Path, tmp_path: Path) -> Made:
    home = tmp_path / "home"
    home.mkdir()
    root = tmp_path / "root"
    made = Made(root, root / "core/cli", home)
    assert made.run("self", "init", str(root), executable=venv / "bin/cli").status == 0
    (root / "config").mkdir(exist_ok=True)
    return made


def test_every_command_of_the_guide(venv: Path, tmp_path: Path) -> None:
    made = _installation(venv, tmp_path)
    text = (PROJECT / "docs/writing-plugins.md").read_text()
    script = "set -x\n" + "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    work = tmp_path / "work"
    work.mkdir()
    done = _shell(made, script, work)
    assert done.returncode == 0, done.stderr[-3000:]
    for said in (
        "Hello, Ada!\n",
        "Goodbye, Ada!\n",
        "Goodbye, world!\n",
        "3\n",
    ):
        assert said in done.stdout, said
    assert re.search("ACME_REGION +north", done.stdout)


def test_the_example(venv: Path, tmp_path: Path) -> None:
    made = _installation(venv, tmp_path)
    text = (PROJECT / "examples/greetings/README.md").read_text()
    script = "\n".join(re.findall(r"^    (.*)$", text, re.MULTILINE))
    script += "\ncli greetings shout Ada\necho GREETING=Welcome > $CLI_DIR/config/greetings.env"
    script += "\ncli greetings hello; cli self plugin remove greetings"
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    done = _shell(made, script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\nHello, Ada!\n" in done.stdout
    assert "| greetings hello | Greet somebody |\n" in done.stdout
    assert "HELLO, ADA!\nWelcome, world!\n" in done.stdout
    tests = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        PROJECT / "examples/greetings",
    ]
    assert subprocess.run(tests, check=False, capture_output=True).returncode == 0


def test_a_new_plugin_says_how_to_go_on(install: Install, tmp_path: Path) -> None:
    made = install()
    done = made.run("self", "new", "plugin", "my-tool", cwd=tmp_path)
    assert done.status == 0
    assert done.stdout.endswith(
        "add it:  cli self plugin add ./my-tool\ntry it:  cli my-tool hello\n"
    )
    assert made.run("self", "plugin", "add", "./my-tool", cwd=tmp_path).status == 0
    assert made.run("my-tool", "hello").stdout == "Hello, world!\n"
    assert made.run("my-tool", "hello", env={"MY_TOOL_GREETING": "Hi"}).stdout == "Hi, world!\n"
    again = made.run("self", "new", "plugin", "my-tool", cwd=tmp_path)
    assert (again.status, "is there already" in again.stderr) == (1, True)
    assert made.run("self", "new", "plugin", "../x", cwd=tmp_path).status == 2
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []
