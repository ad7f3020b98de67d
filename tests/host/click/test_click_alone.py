"""Ten programs of click and Typer are the same under this program as alone.

The same words give the same output, the same exit status and the same completions.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from testing.installation import IMPORTABLE, Made

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("command_forks")]

PROGRAMS = Path(__file__).parents[2] / "testing/click_programs"
PACKAGE = f"click_programs_{os.getpid()}"  # each worker has its own
HOOKS = f"""
from host import CommandDeclaration, hookimpl

@hookimpl
def discover_commands(installation):
    for name in {sorted(path.stem for path in PROGRAMS.glob("[a-z]*.py"))}:
        attribute = "app" if name.startswith("typer") else "cli"
        entrypoint = f"{IMPORTABLE.name}.{PACKAGE}.{{name}}:{{attribute}}"
        keys = {{"name": name, "description": "D", "entrypoint": entrypoint}}
        yield CommandDeclaration(("k", name), keys)
"""
# The lines of each program.
RUNS = {
    "group_argument": [
        "status deploy",  # ENV is `status`
        "-vv prod deploy --no-wait",
        "prod",
        "prod nosuch",
        "prod status --help",
        "prod deploy --bad --help",
    ],
    "chained": [
        "-i f uppercase strip --chars x",
        "",
        "uppercase strip --help",
        "uppercase --bad",
    ],
    "lazy": ["env prod status", "paint --help", "nosuch"],
    "typed": [
        "1f --color GREEN --point 1 2 -out f --tag a --tag b --case north",
        "zz",
        "1f --size 11",
        "1f -h",
    ],
    "login": [
        "-v --token=t login --password=x --pair-key a b",
        "--token t login",
        "login --help",
    ],
    "errors": ["leave 7", "fail", "abort", "nohelp --help", "rest -- --help", ""],
    "aliases": [
        "--debug rem add origin --url u",
        "--version --help",
        "rem a --help",
        "--debug rem a --help",  # behind what the group prints
        "remote",
    ],
    "typer_groups": [
        "--verbose hello x --count 2 --shade light",
        "hello x --count 9",
        "users create ann --password p --tag a",
        "users leave 5",
        "users --help",
        "helo",
    ],
    "typer_single": ["/dev/null", "/nonexistent", "--help"],
    "required": ["--token t go a b", "go --help", "--token t go --help", "--token t"],
}
# The lines up to the cursor.
TABS = {
    "group_argument": ["prod ", "prod deploy --", "-v prod s"],
    "chained": ["uppercase ", "uppercase strip --"],
    "lazy": ["env x ", "paint --color "],
    "typed": ["0", "--color G", "--case NO", "-out "],
    "login": ["--token t "],
    "errors": ["l"],
    "aliases": ["--debug rem add ", "--"],
    "typer_groups": ["users create ", "hello x --shade ", "--verbose u"],
    "required": ["--token x "],
}
# Runs each line in a fork with its variables, and writes the results as JSON.
ALONE = """
import importlib, json, os, sys, tempfile
module, attribute, program, lines = json.loads(sys.argv[1])
command = getattr(importlib.import_module(module), attribute)
if "typer" in sys.modules:  # else each fork would import what shows a page
    from contextlib import redirect_stdout, suppress
    with suppress(SystemExit), redirect_stdout(tempfile.TemporaryFile("w")):
        command(["--help"])
results = []
for line, variables in lines:
    files = [tempfile.TemporaryFile() for _ in range(2)]
    child = os.fork()
    if child == 0:
        os.environ.update(variables)
        for descriptor, file in enumerate(files, 1):
            os.dup2(file.fileno(), descriptor)
        command(line.split(), prog_name=program)
        sys.exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    results.append([status, *(os.pread(file.fileno(), 1 << 20, 0).decode() for file in files)])
print(json.dumps(results))
"""


@pytest.fixture(scope="module", autouse=True)
def _package() -> Iterator[None]:
    folder = IMPORTABLE / PACKAGE
    shutil.copytree(PROGRAMS, folder)
    yield
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def made(shared_install: Callable[..., Made]) -> Made:
    return shared_install(
        {
            "plugins/ten/plugin.json": {"name": "ten", "hooks": "hooks.py"},
            "plugins/ten/hooks.py": HOOKS,
        }
    )


def target(name: str) -> tuple[str, str]:
    attribute = "app" if name.startswith("typer") else "cli"
    return f"{IMPORTABLE.name}.{PACKAGE}.{name}", attribute


def alone(
    made: Made, name: str, program: str, lines: list[tuple[str, dict[str, str]]]
) -> Any:
    """Return the status, stdout and stderr of each line, which comes with its variables."""
    request = json.dumps([*target(name), program, lines])
    done = subprocess.run(
        [sys.executable, "-I", "-c", ALONE, request],
        env={**os.environ, "HOME": str(made.home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.sampled
def test_the_same_words_give_the_same_result(made: Made, name: str) -> None:
    lines = RUNS[name]
    expected = alone(made, name, f"cli k {name}", [(line, {}) for line in lines])
    for line, result in zip(lines, expected, strict=True):
        words = line.split()
        env = {}
        # A run like any other shows help, too; of a recorded one, the child process does.
        if words[-1:] == ["--help"] and "--debug" not in words:
            env["CLI_RECORD"] = "1"
        done = made.run("k", name, *words, env=env)
        assert [done.status, done.stdout, done.stderr] == result, line


@pytest.mark.parametrize("name", TABS)
@pytest.mark.night
def test_tab_offers_the_same(made: Made, name: str) -> None:
    instruction = "bash_complete"
    if name.startswith("typer"):
        instruction = "complete_bash"
    questions = []
    for line in TABS[name]:
        variables = {
            "_CLI_COMPLETE": instruction,
            "COMP_WORDS": f"cli {line}",
            "COMP_CWORD": str(len(line.split(" "))),
        }
        questions.append(("", variables))
    answers = alone(made, name, "cli", questions)
    for line, (_, printed, _) in zip(TABS[name], answers, strict=True):
        words = line.split(" ")
        expected = []
        for row in filter(None, printed.splitlines()):
            kind, comma, value = row.partition(",")
            if not comma:
                kind, value = "plain", row
            expected.append(value if kind == "plain" else f"<{kind}>")

        beside, *rows = made.run(
            "--complete", "zsh", "k", name, *words
        ).stdout.splitlines()
        offered = [row.partition("\t")[0] for row in rows]
        if beside != "none":
            kind = beside.removesuffix("s").removesuffix("ectorie")
            offered.append(f"<{kind}>")
        assert offered == expected, line
