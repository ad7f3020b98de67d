"""The `self` commands that look: version, list, lock, env, which, init."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.installation import Made, command

Install = Callable[..., Made]

BASH = "#!/bin/bash\necho ran\n"


def test_version(install: Install) -> None:
    made = install()
    for words in (["--version"], ["-V"], ["self", "version"]):
        assert made.run(*words).all == (0, "Test CLI 1.2.3\n", "")


@pytest.fixture
def traced(install: Install) -> Made:
    """SPEC's worked case, with secrets."""
    return install(
        {
            "commands/a/b/command.json": command(
                envs={"TIMEOUT": "60", "API_TOKEN": "in-envs"}, env_files=[".env"]
            ),
            "commands/a/b/.env": "TIMEOUT=40\nONLY_FILE=x\n",
            "commands/a/b/main.sh": BASH,
            "config/settings.conf": "TIMEOUT=30\nDB_PASSWORD=hunter2\n",
        }
    )


def rows_of(made: Made, *options: str, **env: str) -> dict[str, dict[str, object]]:
    shown = made.run("self", "env", "a", "b", "--format", "json", *options, env=env)
    assert (shown.status, shown.stderr) == (0, "")
    return {row.pop("name"): row for row in json.loads(shown.stdout)}


def test_env_says_who_won_and_what_it_shadows(traced: Made) -> None:
    definition = f"{traced.root}/commands/a/b/command.json"
    env_file = f"{traced.root}/commands/a/b/.env"
    settings = f"{traced.root}/config/settings.conf"
    shadowed = [
        {"value": "30", "source": settings, "rank": 3},
        {"value": "40", "source": f"{env_file}:1", "rank": 4},
    ]
    envs = {"value": "60", "source": f"{definition}: envs.TIMEOUT", "rank": 2}
    assert rows_of(traced)["TIMEOUT"] == {**envs, "shadows": shadowed}
    assert rows_of(traced, TIMEOUT="90")["TIMEOUT"] == {
        "value": "90",
        "source": "system",
        "rank": 1,
        "shadows": [envs, *shadowed],
    }
    assert rows_of(traced)["ONLY_FILE"] == {
        "value": "x",
        "source": f"{env_file}:2",
        "rank": 4,
        "shadows": [],
    }
    assert rows_of(traced)["COMMAND_NAME"]["rank"] is None


def test_env_masks_secrets_unless_asked(traced: Made) -> None:
    for options in ([], ["--all"]):
        shown = traced.run("self", "env", "a", "b", *options, env={"MY_key": "abc"}).stdout
        assert "hunter2" not in shown
        assert "in-envs" not in shown
        assert "abc" not in shown
    traced.write({"config/settings.conf": "DB_PASSWORD=hunter2\nURL=db://me:hunter2@host\n"})
    rows = rows_of(traced)
    assert (rows["DB_PASSWORD"]["value"], rows["URL"]["value"]) == (
        "********",
        "db://me:********@host",
    )
    shown = traced.run("self", "env", "a", "b", "--show-secrets").stdout
    assert "db://me:hunter2@host" in shown
    assert "in-envs" in shown


def test_env_shows_the_callers_own_with_all_only(traced: Made) -> None:
    assert "HOME" not in rows_of(traced)
    assert rows_of(traced, "--all", MINE="1")["MINE"] == {
        "value": "1",
        "source": "system",
        "rank": 1,
        "shadows": [],
    }


def test_env_runs_nothing_of_the_command(traced: Made) -> None:
    assert "\nran\n" not in traced.run("self", "env", "a", "b").stdout


@pytest.mark.parametrize("words", [["env"], ["which"]])
def test_env_and_which_want_a_command(traced: Made, words: list[str]) -> None:
    category = traced.run("self", *words, "a")
    assert category.all == (2, "", "cli: a is a category; name one of its commands\n")
    assert traced.run("self", *words, "a", "c").status == 2
    assert traced.run("self", *words, "a", "b", "c").status == 2
    missing = traced.run("self", *words)
    assert (missing.status, missing.stdout) == (2, "")
    assert missing.stderr.startswith("cli: missing argument 'WORDS...'; see: cli self ")


def test_which_names_file_interpreter_origin_and_shadows(install: Install) -> None:
    made = install(
        {
            "commands/a/b/command.json": command(),
            "commands/a/b/main.sh": BASH,
            "commands/a/py/command.json": command(entrypoint="json.tool:main"),
            "plugins/one/a/b/command.json": command(),
            "plugins/one/a/c/command.json": command(),
            "plugins/one/a/c/main.sh": "echo no shebang\n",
            "plugins/two/a/c/command.json": command(),
        }
    )
    shown = json.loads(made.run("self", "which", "a", "b", "--format", "json").stdout)
    assert shown == {
        "file": f"{made.root}/commands/a/b/main.sh",
        "interpreter": "/bin/bash",
        "definition": f"{made.root}/commands/a/b/command.json",
        "origin": "commands",
        "plugin": None,
        "shadows": [f"{made.root}/plugins/one/a/b"],
    }
    listed = made.run("self", "list").stdout
    assert f"  a b   Description\n        hides {made.root}/plugins/one/a/b\n" in listed
    assert "hides" not in made.run("a").stdout
    text = made.run("self", "which", "a", "c", "--all").stdout
    assert f"file:        {made.root}/plugins/one/a/c/main.sh\n" in text
    assert "plugin:      one\n" in text
    assert f"shadows:     {made.root}/plugins/two/a/c\n" in text
    assert "shadows" not in made.run("self", "which", "a", "c").stdout
    python = json.loads(made.run("self", "which", "a", "py", "--format", "json").stdout)
    assert python["file"] == "json.tool:main"
    assert Path(python["interpreter"]).samefile(sys.executable)


def test_lock_is_built_and_named(install: Install) -> None:
    made = install()
    shown = made.run("self", "lock")
    assert shown.status == 0
    assert shown.stdout.startswith(f"{made.root}/cli.lock\n")
    assert (made.root / "cli.lock").exists()


def test_init_never_overwrites(install: Install, tmp_path: Path) -> None:
    made = install()
    target = tmp_path / "new place"
    (target / "core").mkdir(parents=True)
    (target / "core" / "cli.json").write_text('{"name": "Mine", "version": "9.9.9"}')
    first = made.run("self", "init", str(target), "--name", "acme")
    assert first.status == 0
    assert f"start it with: '{target}/core/acme'\n" in first.stdout
    fresh = Made(target, target / "core" / "acme", made.home)
    assert fresh.run("--version").stdout == "Mine 9.9.9\n"
    assert fresh.run("demo", "hello", "Ada").all == (0, "Hello, Ada!\n", "")
    (target / "commands" / "demo" / "hello" / "main.sh").write_text("echo mine\n")
    again = made.run("self", "init", str(target), "--name", "acme")
    assert "nothing to do: every file is there" in again.stdout
    assert fresh.run("demo", "hello").stdout == "mine\n"


@pytest.mark.parametrize("name", ["../x", "lib", "cli.json", "-x", "a b", ""])
def test_init_refuses_a_bad_name(install: Install, tmp_path: Path, name: str) -> None:
    made = install()
    shown = made.run("self", "init", str(tmp_path / "new"), f"--name={name}")
    assert (shown.status, shown.stdout, shown.stderr.count("\n")) == (2, "", 1)
    assert not (tmp_path / "new").exists()


def test_init_into_what_cannot_be_written(install: Install, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shown = install().run("self", "init", str(tmp_path / "file" / "x"))
    assert (shown.status, shown.stdout) == (1, "")
    assert shown.stderr.startswith(f"cli: {tmp_path}/file/x")
    assert shown.stderr.endswith(": Not a directory\n")


def test_every_command_has_a_help_page(install: Install) -> None:
    made = install()
    pending = [("self",)]
    pages = 0
    while pending:
        words = pending.pop()
        shown = made.run(*words, "--help")
        assert (shown.status, shown.stderr) == (0, "")
        assert f"Usage: cli {' '.join(words)}" in shown.stdout
        assert max(map(len, shown.stdout.splitlines())) <= 80, shown.stdout
        assert "\\" not in shown.stdout
        pages += 1
        _, _, below = shown.stdout.partition("\nCommands:\n")
        pending += [(*words, line.split()[0]) for line in below.splitlines() if line.strip()]
    assert pages > 15


def test_self_is_reserved(install: Install) -> None:
    made = install(
        {
            "commands/self/version/command.json": command(),
            "commands/self/version/main.sh": BASH,
            "commands/self/mine/command.json": "{",
        }
    )
    assert made.run("self", "version").stdout == "Test CLI 1.2.3\n"
    listed = made.run("self")
    assert (listed.status, listed.stderr, "mine" in listed.stdout) == (0, "", False)
    left_out = f"{made.root}/commands/self: left out; the word self is this program's own"
    assert made.run().stderr == f"cli: warning: {left_out}\n"


def test_self_works_without_a_home(install: Install) -> None:
    made = install()
    bare = Made(made.root, made.launcher, made.home)
    shown = bare.run("self", "version", env={"HOME": "", "PATH": os.environ["PATH"]})
    assert shown.stdout == "Test CLI 1.2.3\n"
