"""`self init` that is killed on its way."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from testing.installation import Made, command
from testing.plugin_sources import Repository

Install = Callable[..., Made]


# A call, and at which of its times a file is half made: fsync is of a directory in between.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "at"), [("rename,renameat,renameat2", 3), ("fsync", 3)]
)
def test_what_a_kill_leaves_goes_with_the_next_one(
    install: Install, tmp_path: Path, call: str, at: int
) -> None:
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    made = install()
    root = tmp_path / "new"
    kill = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={at}"]
    subprocess.run(
        [
            "strace",
            "-f",
            "-qqq",
            "-o",
            "/dev/null",
            *kill,
            made.launcher,
            "self",
            "init",
            root,
        ],
        env={"PATH": "/usr/bin:/bin", "HOME": str(made.home)},
        capture_output=True,
        check=False,
    )
    assert len([*root.rglob(".*.tmp")]) == 1
    path = {"PATH": f"{made.home}/.local/bin:/usr/bin:/bin"}
    done = made.run("self", "init", str(root), env=path)
    assert (done.status, done.stderr) == (0, "")
    assert "files made\n" in done.stdout
    assert [path.name for path in root.rglob(".*.tmp")] == []
    assert made.run("self", "init", str(root)).stdout.startswith(
        f"{root}: all files exist already\n"
    )


@pytest.mark.slow
def test_the_demos_end_quietly_where_nobody_reads_on(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    root = tmp_path / "new"
    assert made.run("self", "init", str(root)).status == 0
    (tmp_path / "text").write_text("\n".join(f"word{n}" for n in range(50_000)))
    line = f"{root}/core/cli demo words 50000 < {tmp_path}/text | head -1"
    assert made.run("-c", line, executable=Path("/bin/bash")).all == (
        0,
        "1 word0\n",
        "",
    )


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\n", None], ids=["a file", "a dangling link"]
)
def test_what_is_in_the_launchers_place_and_is_none_is_told_before_anything_is_made(
    install: Install, tmp_path: Path, text: str | None
) -> None:
    made = install()
    theirs = tmp_path / "new/core/cli"
    theirs.parent.mkdir(parents=True)
    if text is None:
        theirs.symlink_to("gone")
    else:
        theirs.write_text(text)
    said = f"cli: {theirs}: already exists and is not a launcher; move that file, or use --name\n"
    assert made.run("self", "init", str(tmp_path / "new")).all == (1, "", said)
    assert [*(tmp_path / "new").rglob("*")] == [theirs.parent, theirs]
    assert made.run("self", "init", str(tmp_path / "new"), "--name", "acme").status == 0


@pytest.mark.parametrize("name", ["a b", "lib", "cli.json"])
def test_a_name_that_no_program_can_have(
    install: Install, tmp_path: Path, name: str
) -> None:
    refused = install().run("self", "init", str(tmp_path / "new"), "--name", name)
    rule = "use letters, digits, ., _ and -, but not cli.json, lib or schema"
    assert refused.all == (
        2,
        "",
        f'cli: "{name}" is not a valid program name; {rule}\n',
    )
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "words", "name"),
    [
        ("cli", [], "CLI"),
        ("acme", [], "acme"),
        ("cli", ["--name", "zed"], "zed"),
        ("acme", ["--name", "cli"], "CLI"),
    ],
)
def test_an_installation_has_its_programs_name_and_a_version_of_its_own(
    install: Install, tmp_path: Path, program: str, words: list[str], name: str
) -> None:
    made = install(program=program)
    root = tmp_path / "new"
    assert made.run("self", "init", str(root), *words).status == 0
    [launcher] = (
        path
        for path in (root / "core").iterdir()
        if path.name in ("cli", "acme", "zed")
    )
    new = Made(root, launcher, made.home)
    assert new.run("--version").all == (0, f"{name} 1.0.0\n", "")
    assert new.run().stdout.startswith(f"{name} 1.0.0\n")
    facts = json.loads(new.run("self", "version", "--format", "json").stdout)
    assert (facts["version"], facts["host"]) == ("1.0.0", version("cli-host"))
    new.write({"core/cli.json": {"name": "Ours", "version": "7.0.1"}})
    facts = json.loads(new.run("self", "version", "--format", "json").stdout)
    assert (facts["version"], facts["host"]) == ("7.0.1", version("cli-host"))


def files_of(root: Path) -> set[str]:
    return {str(one.relative_to(root)) for one in root.rglob("*") if not one.is_dir()}


@pytest.mark.slow
def test_a_second_one_restores_what_is_needed_and_no_examples(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    root = tmp_path / "new"
    assert made.run("self", "init", str(root)).status == 0
    everything = files_of(root)
    needed = {one for one in everything if one.startswith(("core/", ".gitignore"))}
    for name in ("commands/demo", "config", "plugins"):
        shutil.rmtree(root / name)
    kept = {one for one in everything if one.startswith("commands/")} & files_of(root)
    nothing = f"{root}: all files exist already\n"
    assert made.run("self", "init", str(root)).stdout.startswith(nothing)
    assert files_of(root) == needed | kept
    shutil.rmtree(root / "core/lib")
    for name in ("core/cli", "core/schema/cli.schema.json", ".gitignore"):
        (root / name).unlink()
    assert made.run("self", "init", str(root)).status == 0
    assert files_of(root) == needed | kept
    shutil.rmtree(
        root / "commands"
    )  # as a clone has it, for git keeps no empty directories
    assert made.run("self", "init", str(root), "--name", "zed").status == 0
    assert files_of(root) == needed | {"core/zed"}


@pytest.mark.slow
def test_one_that_was_interrupted_is_completed_with_all_examples(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    whole, root = tmp_path / "whole", tmp_path / "new"
    assert made.run("self", "init", str(whole)).status == 0
    (root / "core").mkdir(parents=True)
    (root / "core/schema").write_text("in the way")
    assert made.run("self", "init", str(root)).status == 1
    (root / "core/schema").unlink()
    assert 0 < len(files_of(root)) < len(files_of(whole))
    assert made.run("self", "init", str(root)).status == 0
    assert files_of(root) == files_of(whole)


def git(root: Path, *words: str) -> str:
    command = ["git", "-c", "core.excludesFile=", *words]
    return subprocess.run(
        command, cwd=root, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.slow
def test_git_gets_what_works_elsewhere_and_nothing_of_this_machine(
    install: Install, tmp_path: Path
) -> None:
    made = install()
    root = tmp_path / "new"
    assert made.run("self", "init", str(root), "--name", "acme").status == 0
    new = Made(root, root / "core/acme", made.home)
    shipped = files_of(root) - {"core/acme"}
    plugin = Repository(
        tmp_path / "gp", {"gp/x/command.json": command(), "gp/x/main.sh": "true"}
    )
    assert new.run("self", "plugin", "add", plugin.url).status == 0
    linked = ("self", "plugin", "add", str(plugin.path), "--name", "linked", "--force")
    assert new.run(*linked).status == 0
    ours = {
        "commands/mine/x/command.json": command(),
        "commands/mine/x/main.sh": "echo mine\n",
        "plugins/dropped/drop/x/command.json": command(),
        "plugins/dropped/drop/x/main.sh": "echo dropped\n",
    }
    new.write(ours)
    new.write(
        {"config/settings.conf": "TOKEN=1\n", "commands/mine/x/.env.local": "TOKEN=1\n"}
    )
    new.write(
        {
            "commands/mine/.cli-stage-1/y/main.sh": "",
            "core/other": "",
            "core/.acme.tmp": "",
        }
    )
    for words in (
        ["mine", "x"],
        ["gp", "x"],
        ["drop", "x"],
        [],
        ["self", "plugin", "list"],
    ):
        assert new.run(*words).status == 0, words
    git(root, "init", "-q")
    git(root, "add", ".")
    there = set(git(root, "ls-files").splitlines())
    assert there == shipped | ours.keys() | {"plugins/registry.json"}


def test_a_gitignore_of_the_user_stays(install: Install, tmp_path: Path) -> None:
    made = install()
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone/.gitignore").write_text("*.log")
    assert made.run("self", "init", str(tmp_path / "clone")).status == 0
    assert (tmp_path / "clone/.gitignore").read_text() == "*.log"


def test_init_help_makes_no_folder(install: Install, tmp_path: Path) -> None:
    done = install().run("self", "init", "help", cwd=tmp_path)
    remedy = (
        "see: cli self init --help; for a directory of this name: cli self init ./help"
    )
    assert done.all == (2, "", f"cli: help is no name of a directory; {remedy}\n")
    assert not (tmp_path / "help").exists()
