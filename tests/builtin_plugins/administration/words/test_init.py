"""`self init` that is killed on its way."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from testing.installation import Made

Install = Callable[..., Made]


# A call, and at which of its times a file is half made: fsync is of a directory in between.
@pytest.mark.parametrize(("call", "at"), [("link,linkat", 3), ("unlink,unlinkat", 2), ("fsync", 3)])
def test_what_a_kill_leaves_goes_with_the_next_one(
    install: Install, tmp_path: Path, call: str, at: int
) -> None:
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    made = install()
    root = tmp_path / "new"
    kill = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={at}"]
    subprocess.run(
        ["strace", "-f", "-qqq", "-o", "/dev/null", *kill, made.launcher, "self", "init", root],
        env={"PATH": "/usr/bin:/bin", "HOME": str(made.home)},
        capture_output=True,
        check=False,
    )
    assert len([*root.rglob(".*.tmp")]) == 1
    done = made.run("self", "init", str(root))
    assert (done.status, done.stderr) == (0, "")
    assert "files made\n" in done.stdout
    assert [path.name for path in root.rglob(".*.tmp")] == []
    assert made.run("self", "init", str(root)).stdout.startswith(
        f"{root}: nothing to do: every file is there\n"
    )


def test_the_demos_end_quietly_where_nobody_reads_on(install: Install, tmp_path: Path) -> None:
    made = install()
    root = tmp_path / "new"
    assert made.run("self", "init", str(root)).status == 0
    (tmp_path / "text").write_text("\n".join(f"word{n}" for n in range(50_000)))
    line = f"{root}/core/cli demo words 50000 < {tmp_path}/text | head -1"
    assert made.run("-c", line, executable=Path("/bin/bash")).all == (0, "1 word0\n", "")


@pytest.mark.parametrize("text", ["#!/bin/sh\n", None], ids=["a file", "a dangling link"])
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
    said = f"cli: {theirs}: is in the way and is no launcher; move it, or use --name\n"
    assert made.run("self", "init", str(tmp_path / "new")).all == (1, "", said)
    assert [*(tmp_path / "new").rglob("*")] == [theirs.parent, theirs]
    assert made.run("self", "init", str(tmp_path / "new"), "--name", "acme").status == 0


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
    [launcher] = (path for path in (root / "core").iterdir() if path.name in ("cli", "acme", "zed"))
    new = Made(root, launcher, made.home)
    assert new.run("--version").all == (0, f"{name} 1.0.0\n", "")
    assert new.run().stdout.startswith(f"{name} 1.0.0\n")
    facts = json.loads(new.run("self", "version", "--format", "json").stdout)
    assert (facts["version"], facts["host"]) == ("1.0.0", version("cli-host"))
    new.write({"core/cli.json": {"name": "Ours", "version": "7.0.1"}})
    facts = json.loads(new.run("self", "version", "--format", "json").stdout)
    assert (facts["version"], facts["host"]) == ("7.0.1", version("cli-host"))
