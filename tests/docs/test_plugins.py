"""The guide, the templates and the example: everything that they tell is run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.environments import add_build_tools
from testing.httpserver import Site
from testing.installation import PROJECT, Made
from testing.pages import matches, run_all, steps_of
from testing.plugin_sources import Repository, plugin_files, tar_of, wheel, write_tree

Install = Callable[..., Made]


def _shell(
    made: Made, script: str, cwd: Path, packages: Path
) -> subprocess.CompletedProcess[str]:
    """Run a script in bash with `cli` on PATH, stopping at the first failure."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=cwd,
        env=_environ(made, packages),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _environ(made: Made, packages: Path) -> dict[str, str]:
    """Return what a reader's shell has, whose package index is the folder `packages`."""
    return {
        "PATH": f"{made.home}/.local/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(made.home),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(packages),
        "PIP_COMPILE": "0",
    }


def _installation(venv: Path, tmp_path: Path) -> Made:
    """Make an installation where a reader has it: in ~/.local/share, its program on PATH."""
    home = tmp_path / "home"
    (home / ".local/bin").mkdir(parents=True)
    (home / ".gitconfig").write_text(
        "[user]\n  name = Reader\n  email = reader@example.com\n"
    )
    root = home / ".local/share/cli"
    made = Made(root, root / "core/cli", home)
    assert made.run("self", "init", executable=venv / "bin/cli").status == 0
    assert (
        home / ".local/bin/cli"
    ).resolve() == made.launcher.resolve()  # `self init` links it
    return made


@pytest.mark.night
def test_every_command_of_the_guide(
    venv: Path, new_venv: Callable[[Path], Path], packages: Path, tmp_path: Path
) -> None:
    made = _installation(venv, tmp_path)
    text = (PROJECT / "docs/writing-plugins.md").read_text()
    script = "set -x\n" + "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    first = "plugin add ./greet --yes\n"  # builds in isolation, as a reader's does
    assert first in script
    work = tmp_path / "work"
    work.mkdir()
    prepared = new_venv(
        work / ".venv"
    )  # which `python3 -m venv` takes as it is: it has pip
    [(name, value)] = add_build_tools(prepared, packages).items()
    script = script.replace(first, f"{first}export {name}={value}\n", 1)
    done = _shell(made, script, work, packages)
    assert done.returncode == 0, done.stderr[-3000:]
    for said in (
        "Hello, Ada!\n",
        "Goodbye, Ada!\n",
        "Goodbye, world!\n",
        "3\nhello\n",
        "Usage: cli greet count [words...]\n",
    ):
        assert said in done.stdout, said
    assert re.search("ACME_REGION +north", done.stdout)
    assert "greet tour - Show the program's data\n" in done.stdout
    assert "{'ARG_NAME': 'Ada'}\nGREET_GREETING=Ahoy  from system\n" in done.stdout
    assert "output: Ahoy, Ada!\n" in done.stdout
    assert "plan: change 2 []\n" in done.stdout
    assert "warning: that is all\n" in done.stderr


@pytest.mark.night
def test_an_editable_package_where_the_program_has_no_pip(
    new_venv: Callable[[Path], Path], packages: Path, tmp_path: Path
) -> None:
    program = new_venv(tmp_path / "program")
    [(name, value)] = add_build_tools(
        program, packages
    ).items()  # it is what the build runs in
    for path in program.glob("lib/python*/site-packages/pip*"):
        shutil.rmtree(path)
    made = _installation(program, tmp_path)
    config = made.home / ".config/uv/uv.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'no-index = true\nfind-links = ["{packages}"]\n')
    text = (PROJECT / "docs/writing-plugins.md").read_text()
    part = text[text.index("## A package\n") :]
    script = "\n".join(re.findall(r"```sh\n(.*?)```", part, re.DOTALL)[:2])
    assert "plugin add ./greet" in script
    work = tmp_path / "work"
    work.mkdir()
    new_venv(work / ".venv")
    makes = "python3 -m venv .venv\n"  # which would only look for pip again
    assert makes in script
    script = script.replace(makes, f"export {name}={value}\n", 1)
    done = _shell(made, f"{script}\ncli self plugin list", work, packages)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "\n3\n" in done.stdout, done.stdout
    assert re.search(r"greet +0.1.0 +pip \[dev\] +enabled", done.stdout), done.stdout


HOOKS = """
from pathlib import Path

from host import CommandTree, hookimpl

@hookimpl
def discover_commands(installation):
    yield CommandTree(str(Path(__file__).parent / "commands"), plugin="greet")
"""


@pytest.mark.night
def test_every_command_of_the_page_for_users(
    new_venv: Callable[[Path], Path], tmp_path: Path, daemon: str, site: Site
) -> None:
    """The page's servers are played by a git daemon, a web server and a folder of wheels."""
    made = _installation(new_venv(tmp_path / "venv"), tmp_path)
    repository = Repository(
        tmp_path / "team/deploy.git", plugin_files("deploy/app", "deploying")
    )
    repository.git("tag", "v1.0")
    site.add("/report.tar.gz", tar_of(plugin_files("report/weekly", "all is well")))
    work = write_tree(tmp_path / "work", {"home": ""})
    write_tree(work / "notes", plugin_files("notes/list", "no notes"))
    wheel(
        tmp_path / "wheels",
        "greet",
        "1.0",
        HOOKS,
        plugin_files("commands/greet/hello", "hello"),
    )
    env = _environ(made, tmp_path / "wheels")
    text = (PROJECT / "docs/plugins.md").read_text()
    text = text.replace("https://git.example.com", daemon)
    text = text.replace("https://files.example.com", site.address)
    before, after = text.split("## Update", maxsplit=1)
    for part in (before, after):
        steps = steps_of(part)
        shown = run_all(steps, work, env, strict=True)
        assert len(shown) == len(steps), shown
        for step, output in zip(steps, shown, strict=True):
            assert matches(step.expected, output), f"$ {step.command}\n{output}"
        repository.commit(plugin_files("deploy/site", "deploying the site"))


@pytest.mark.night
def test_the_example(venv: Path, packages: Path, tmp_path: Path) -> None:
    made = _installation(venv, tmp_path)
    text = (PROJECT / "examples/greetings/README.md").read_text()
    script = "\n".join(re.findall(r"^    (.*)$", text, re.MULTILINE))
    script += (
        "\ncli greetings shout Ada\necho GREETING=Welcome > "
        "~/.local/share/cli/config/greetings.env"
    )
    (made.root / "config").mkdir(exist_ok=True)
    script += "\ncli greetings hello; cli self plugin remove greetings"
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    done = _shell(made, script, tmp_path, packages)
    assert done.returncode == 0, done.stderr
    assert "\nHello, Ada!\n" in done.stdout
    assert "| greetings hello | Greet somebody |\n" in done.stdout
    assert "HELLO, ADA!\nWelcome, world!\n" in done.stdout
    _check_own_tests("greetings")


@pytest.mark.night
def test_the_example_that_waits_for_runs(
    venv: Path, packages: Path, tmp_path: Path
) -> None:
    made = _installation(venv, tmp_path)
    made.write({"commands/fail": "#!/bin/bash\nexit 3\n"})
    text = (PROJECT / "examples/webhook/README.md").read_text()
    script = "\n".join(re.findall(r"^    (.*)$", text, re.MULTILINE))
    script = script.replace("https://chat.example.com/", "http://127.0.0.1:1/")
    (tmp_path / "examples").symlink_to(PROJECT / "examples")
    done = _shell(made, f"{script}\ncli fail || echo ended with $?", tmp_path, packages)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("ended with 3\n")
    assert re.search(
        "webhook: the failed run [0-9a-f]{12} is not reported", done.stderr
    )
    _check_own_tests("webhook")


def _check_own_tests(example: str) -> None:
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*tests, PROJECT / "examples" / example],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_a_new_plugin_says_how_to_go_on(install: Install, tmp_path: Path) -> None:
    made = install()
    done = made.run("self", "new", "plugin", "my-tool", cwd=tmp_path)
    assert done.status == 0
    assert done.stdout.endswith(
        "add it:    cli self plugin add ./my-tool\ntry it:    cli my-tool hello\n"
    )
    assert made.run("self", "plugin", "add", "./my-tool", cwd=tmp_path).status == 0
    assert made.run("my-tool", "hello").stdout == "Hello, world!\n"
    assert (
        made.run("my-tool", "hello", env={"MY_TOOL_GREETING": "Hi"}).stdout
        == "Hi, world!\n"
    )
    again = made.run("self", "new", "plugin", "my-tool", cwd=tmp_path)
    assert (again.status, "already exists" in again.stderr) == (1, True)
    assert made.run("self", "new", "plugin", "../x", cwd=tmp_path).status == 2
    assert (
        sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("."))
        == []
    )
