"""`--explain` shows what then runs, and starts and writes nothing of it."""

import json
import os
import random
import re
import shutil
import subprocess

import pytest

from host import printable, width_of
from testing.installation import IMPORTABLE, command

DUMP = """printf '%s\\0' "$0" "$@" > "$HOME/argv"; pwd > "$HOME/directory"
env -0 > "$HOME/environment"
"""
SHEBANGS = ("#!/bin/sh\n", "#!/bin/bash\n", "#!/usr/bin/env bash\n", "")
OF_THE_SHELL = {"_", "PWD", "OLDPWD", "SHLVL", "CLI_RUN"}
VALUES = (
    "plain",
    "two words",
    "",
    "a  b",
    "ü",
    "$HOME/x",
    "${NONE:-other}",
    "'quoted'",
    "a=b",
)
DEFINITIONS = 25
PIN = "pin4711"
MINTED = "minted0815"
MASKED = {
    MINTED: "file:$HOME/minted",
    PIN: "********",
    f"--pin={PIN}": "--pin=********",
}


def explained(made, *words, options=(), **run):
    result = made.run(*options, "--format", "json", "--explain", *words, **run)
    return result, json.loads(result.stdout)


def definition(chance):
    """Return a definition, the files beside it, and the arguments of a run, made by chance."""
    names = ["A", "B", "C", "FROM_CALLER", "FROM_SETTINGS"]
    fields = {
        "envs": {name: chance.choice(VALUES) for name in names if chance.random() < 0.4}
    }
    beside = {}
    arguments = chance.sample(
        ["x", "-v", "--long=1", "", "b  c", "*", "$HOME", "--"], k=3
    )
    if chance.random() < 0.5:
        fields["env_files"] = ["own.env", "missing.env"]
        value = chance.choice(["1", "$A", '"$B c"'])
        beside["own.env"] = f"A='from file'\nD={value}\n"
    if chance.random() < 0.4:
        fields["args"] = [
            {"name": "stage", "default": "dev"},
            {"name": "--fast"},
            {"name": "--jobs", "value": "N", "env": "FROM_CALLER"},
        ]
        arguments = chance.sample(["prod", "--fast", "--jobs=3"], k=chance.randrange(4))
    elif chance.random() < 0.4:
        fields["args"] = [
            {"name": "stage", "required": True, "choices": ["dev", "prod"]},
            {"name": "--pin", "value": "PIN", "secret": True},
            {"name": "rest...", "passthrough": True},
        ]
        arguments = ["--pin=" + PIN] if chance.random() < 0.5 else []
        arguments += ["prod", *chance.sample(["--any", "-x", "--", "", "a b"], k=2)]
    if chance.random() < 0.3:
        fields["secrets"] = {"MINTED": "file:$HOME/minted"}
    if chance.random() < 0.3:
        fields["path"] = ["bin"]
        beside["bin/tool"] = "#!/bin/sh\n"
    if chance.random() < 0.3:
        fields |= {"timeout": "1m", "effects": "destroy", "requires": ["sh"]}
    return fields, beside, arguments


@pytest.mark.slow
def test_what_it_prints_is_what_runs(install, tmp_path):
    chance = random.Random(20)  # noqa: S311 - not for secrets
    files = {
        "config/settings.conf": "FROM_SETTINGS=1\nC=settings\n",
        "commands/two/category.json": {"name": "Two", "envs": {"B": "of the category"}},
    }
    runs = []
    for number in range(DEFINITIONS):
        fields, beside, arguments = definition(chance)
        words = (chance.choice(["one", "two"]), f"c{number}")
        folder = f"commands/{'/'.join(words)}"
        files[f"{folder}/command.json"] = command(**fields)
        files[f"{folder}/main.sh"] = chance.choice(SHEBANGS) + DUMP
        files |= {f"{folder}/{name}": content for name, content in beside.items()}
        runs.append((words, arguments))
    made = install(files)
    (made.home / "minted").write_text(MINTED)
    directory = tmp_path / "a folder"
    directory.mkdir()
    for words, arguments in runs:
        caller = {"FROM_CALLER": "7"} if chance.random() < 0.5 else {}
        ordinary = {"PATH": os.environ["PATH"], "HOME": str(made.home), **caller}
        run = {"env": caller, "cwd": directory}
        result, plan = explained(made, *words, *arguments, **run)
        assert (result.status, plan["status"], plan["errors"]) == (0, 0, []), result
        assert made.run(*words, *arguments, **run).status == 0
        assert PIN not in result.stdout
        assert MINTED not in result.stdout
        argv, started_in, environment = [
            (made.home / name).read_text()
            for name in ("argv", "directory", "environment")
        ]
        assert argv.split("\0")[1:-1] == arguments
        argv = [MASKED.get(word, word) for word in argv.split("\0")[:-1]]
        assert plan["argv"][-len(argv) :] == argv
        assert plan["arguments"] == argv[1:]
        assert f"{plan['directory']}\n" == started_in == f"{directory}\n"
        variables = dict(line.split("=", 1) for line in environment.split("\0") if line)
        added = {
            name: MASKED.get(value, value)
            for name, value in variables.items()
            if ordinary.get(name) != value and name not in OF_THE_SHELL
        }
        shown = {variable["name"]: variable["value"] for variable in plan["variables"]}
        assert {
            name: text for name, text in shown.items() if ordinary.get(name) != text
        } == added


MARK = '#!/bin/sh\ntouch "$HOME/marks/{name}"\necho {name} 2.0\n'


MODULE = f"explained_{os.getpid()}"  # each worker has its own
HOOKS = f"""
from host import EnvSource, SecretScheme, hookimpl

@hookimpl
def env_sources():
    yield EnvSource("vault", rank=2.5, provider="cli_host_tests.{MODULE}:read")

@hookimpl
def secret_schemes():
    yield SecretScheme("vault", provider="cli_host_tests.{MODULE}:secrets")
"""
PROVIDERS = """
def read(words, environ):
    return {"FROM_PROVIDER": " ".join(words)}

def secrets(references, environ):
    open(environ["HOME"] + "/marks/scheme", "w").close()
    return {reference: "x" for reference in references}
"""


@pytest.fixture
def everything(install):
    """Return an installation with a command that has all that a run would start or ask."""
    module = IMPORTABLE / f"{MODULE}.py"
    module.write_text(PROVIDERS)
    made = install(
        {
            "plugins/vault/plugin.json": {"name": "vault", "hooks": "hooks.py"},
            "plugins/vault/hooks.py": HOOKS,
            "config/settings.conf": "FROM_SETTINGS=1\n",
            "commands/deploy/category.json": {"name": "Deploy", "timeout": "10m"},
            "commands/deploy/app/command.json": command(
                description="Deploy the application",
                args=[
                    {
                        "name": "stage",
                        "required": True,
                        "choices": {"program": "stages"},
                    },
                    {"name": "--code", "value": "CODE", "secret": True},
                ],
                confirm="Deploy it?",
                effects="destroy",
                requires=["tool>=2", {"program": "sh"}],
                secrets={"TOKEN": "run:sh -c 'touch marks/secret'", "OTHER": "vault:x"},
                envs={
                    "API_KEY": "hunter22",
                    "ADDRESS": "https://me:hunter22@example.org/",
                },
                record=True,
                exclusive="database",
            ),
            "commands/deploy/app/main.sh": MARK.format(name="ran"),
            "commands/deploy/app/stages": MARK.format(name="stages"),
            "bin/tool": MARK.format(name="version"),
        }
    )
    (made.home / "marks").mkdir(exist_ok=True)
    environ = {"PATH": f"{made.root}/bin:{os.environ['PATH']}"}
    yield made, {"env": environ, "cwd": made.home}
    module.unlink()


def test_the_page(everything):
    made, run = everything
    words = ("deploy", "app", "prod", "--code=opensesame")
    result = made.run("--yes", "--explain", *words, **run)
    assert (result.status, result.stderr) == (0, "")
    page = result.stdout
    for line in (
        "cli deploy app",
        "Deploy the application",
        "effects      destroy",
        "question     Deploy it? (--yes answers it)",
        "arguments    prod '--code=********'",
        "tool>=2  not checked",
        "sh       found",
        "timeout    10m  ← commands/deploy/category.json",
        "record     true  ← commands/deploy/app/command.json",
        "exclusive  database  ← commands/deploy/app/command.json",
        "FROM_SETTINGS",
        "FROM_PROVIDER",
        "← config/settings.conf:1 (rank 3)",
    ):
        assert line in page
    assert "secrets.TOKEN, not asked (rank 4.5)" in " ".join(page.split())
    assert "hunter22" not in page
    assert "opensesame" not in page
    assert [*(made.home / "marks").iterdir()] == []
    narrow = [line for line in page.splitlines() if str(made.root) not in line]
    assert max(map(width_of, narrow)) <= 80
    made.write({"core/cli.json": {"name": "x", "version": "1", "record": False}})
    _, plan = explained(made, *words, options=["--yes"], **run)
    assert plan["limits"]["record"]["value"] is True
    assert plan["status"] == 0


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_it_starts_bash_and_writes_the_lock(everything, tmp_path):
    made, run = everything
    words = ("--yes", "--explain", "deploy", "app", "prod")
    assert made.run(*words, **run).status == 0  # Python writes its caches
    (made.root / "cli.lock").unlink()
    trace = tmp_path / "trace"
    done = subprocess.run(
        [
            "strace",
            "-f",
            "-qq",
            "-e",
            "trace=execve,%file",
            "-o",
            trace,
            made.launcher,
            *words,
        ],
        env={"HOME": str(made.home), **run["env"]},
        cwd=made.home,
        check=True,
        capture_output=True,
    )
    assert done.stderr == b""
    assert (
        b"deploy app" in done.stdout.partition(b"FROM_PROVIDER")[2]
    )  # the provider was called
    calls = [line for line in trace.read_text().splitlines() if " = -1 " not in line]
    started = [re.search(r'execve\("([^"]*)"', line) for line in calls]
    programs = {os.path.basename(call[1]) for call in started if call}
    assert {name for name in programs if not name.startswith(("python", "cli"))} == {
        "bash"
    }
    writing = re.compile(
        r"O_WRONLY|O_RDWR|O_CREAT| (mkdir|rename|unlink|link|symlink|chmod)\w*\("
    )
    written = [
        line for line in calls if writing.search(line) and '"/dev/null"' not in line
    ]
    assert written
    assert [line for line in written if "cli.lock" not in line] == []
    assert [*(made.home / "marks").iterdir()] == []


@pytest.mark.parametrize(
    ("fields", "arguments", "status", "reason"),
    [
        ({"required_envs": ["STAGE"]}, [], 1, "STAGE"),
        ({"requires": ["nowhere"]}, [], 127, "nowhere (not on PATH)"),
        ({"args": [{"name": "--fast"}]}, ["--slow"], 2, "--slow"),
        ({"args": [{"name": "stage", "required": True}]}, [], 2, "stage"),
        ({"confirm": "Really?"}, [], 1, "needs confirmation"),
        ({"entrypoint": "missing.sh"}, [], 127, "the entrypoint is missing"),
        ({"env_files": ["folder"]}, [], 1, "folder"),
    ],
    ids=lambda value: next(iter(value), None) if isinstance(value, dict) else None,
)
def test_a_run_that_would_fail(install, fields, arguments, status, reason):
    made = install(
        {
            "commands/a/b/command.json": command(**fields),
            "commands/a/b/main.sh": "#!/bin/sh\n",
            "commands/a/b/folder/file": "",
        }
    )
    result, plan = explained(made, "a", "b", *arguments)
    assert (result.status, plan["status"], result.stderr) == (status, status, "")
    assert reason in plan["errors"][0]["message"]
    page = made.run("--explain", "a", "b", *arguments)
    assert page.status == status
    assert f"status {status}" in page.stdout
    ran = made.run("a", "b", *arguments)
    assert ran.status == status
    assert plan["errors"][0]["message"] in ran.stderr


@pytest.mark.parametrize("arguments", [["--purge"], ["--purge", "prod"]], ids=" ".join)
def test_a_given_option_strengthens_the_effects(install, arguments):
    args = [
        {"name": "stage", "required": True},
        {"name": "--purge", "effects": "destroy"},
    ]
    made = install(
        {
            "commands/a/b/command.json": command(effects="read", args=args),
            "commands/a/b/main.sh": "#!/bin/sh\n",
        }
    )
    _, plan = explained(made, "a", "b", *arguments)
    assert plan["effects"] == "destroy"


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (["a", "mca"], 2, "unknown command mca"),
        (["nowhere"], 2, "unknown command"),
        (["a"], 2, "runs nothing"),
        (["a", "b", "--help"], 2, "runs nothing"),
        (["self", "list"], 2, "self is a part of cli itself"),
        (["help", "a", "b"], 2, "help is a part of cli itself"),
        ([], 2, "no command is given"),
        (["a", "mac"], 126, "runs on mac only"),
        (["a", "broken"], 1, "trailing comma"),
    ],
    ids=lambda value: " ".join(value) or "none" if isinstance(value, list) else None,
)
def test_words_that_run_nothing(install, words, status, reason):
    made = install(
        {
            "commands/a/b/command.json": command(),
            "commands/a/b/main.sh": "",
            "commands/a/mac/command.json": command(os=["mac"]),
            "commands/a/broken/command.json": '{"name": "x",}',
        }
    )
    result = made.run("--explain", *words)
    assert (result.status, result.stdout) == (status, "")
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (made.root / "cli.lock.index").exists()


def test_other_options_beside_it(install):
    made = install({"commands/hi": "#!/bin/sh\necho ran\n"})
    assert made.run("--explain", "--all", "hi").status == 2
    assert made.run("--explain", "--format", "tree", "hi").status == 2
    assert made.run("--explain", "--version").stdout == "Test CLI 1.2.3\n"
    assert made.run("hi", "--explain").stdout == "ran\n"
    completion = made.run("--complete", "zsh", "--explain", "h").stdout
    assert "hi\t" in completion
    assert "--explain\t" in made.run("--complete", "zsh", "--ex").stdout
    escaped = made.run("--explain", "hi", "\x1b[31m")
    assert "\x1b" not in escaped.stdout
    assert printable("\x1b") in escaped.stdout


def test_an_untrusted_project_is_not_read(install, tmp_path):
    made = install()
    project = tmp_path / "project/.cli/commands"
    project.mkdir(parents=True)
    (project / "build").write_text("#!/bin/sh\ntouch ran\n")
    (project / "build").chmod(0o755)
    result, plan = explained(made, "build", cwd=tmp_path / "project")
    assert (result.status, plan["argv"]) == (1, [])
    assert "is not trusted" in plan["errors"][0]["message"]
    trusted = {"CLI_TRUST": str(tmp_path / "project")}
    result, plan = explained(made, "build", cwd=tmp_path / "project", env=trusted)
    assert (result.status, plan["argv"]) == (0, [str(project / "build")])
    assert plan["arguments"] == []


def test_a_recorded_run(install):
    made = install({"commands/hi": "#!/bin/sh\n"})
    _, plan = explained(made, "hi", env={"CLI_RECORD": "1"})
    assert plan["limits"] == {"record": {"value": True, "source": "CLI_RECORD"}}
    made.write(
        {
            "core/cli.json": {
                "name": "x",
                "version": "1",
                "record": False,
                "timeout": "5s",
            }
        }
    )
    _, plan = explained(made, "hi", env={"CLI_RECORD": "1"})
    cli = str(made.root / "core/cli.json")
    assert plan["limits"]["timeout"] == {"value": "5s", "source": cli}
    assert plan["limits"]["record"] == {"value": False, "source": cli}


def test_functions_after_the_run(install):
    hooks = """
from host import AfterRun, hookimpl

@hookimpl
def after_run(installation):
    yield AfterRun("chat", "json:dumps", words=("hi",))
    yield AfterRun("all", "json:loads", words=("other",))
"""
    made = install(
        {
            "commands/hi": "#!/bin/sh\n",
            "plugins/reporter/plugin.json": {"name": "reporter", "hooks": "hooks.py"},
            "plugins/reporter/hooks.py": hooks,
        }
    )
    _, plan = explained(made, "hi")
    assert plan["after_run"] == [
        {"plugin": "reporter", "name": "chat", "function": "json:dumps"}
    ]
    page = made.run("--explain", "hi").stdout
    assert "After the run:\n  chat  json:dumps  ← plugin reporter\n" in page
