"""Run `self update` again and again, ended or failed at its 1st, 2nd, … change on disk.

Started by the tests with the interpreter of the environment that is updated, and with
`faults.c` preloaded; prints one JSON object: the number of steps, of runs, and every
broken promise. pip, which is a program of its own, is played by `_pip`, so that a run
takes a fraction of a second; everything else is real.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import builtin_plugins.self_commands.update  # noqa: F401 - once, not in every fork
from builtin_plugins.self_commands import update_program
from builtin_plugins.venv.check import check_starts
from host.__main__ import main as run_main

NEW = "2.0.0"


def site_packages(prefix: Path) -> Path:
    return next((prefix / "lib").glob("python*")) / "site-packages"


def _pip(python: str, arguments: list[str], *_: Any) -> None:
    """Do to an environment what pip would: take the old distribution out, put the new one in."""
    del arguments
    packages = site_packages(Path(python).parent.parent)
    for old in packages.glob("cli_host-*"):
        shutil.rmtree(old)
    information = packages / f"cli_host-{NEW}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: cli-host\nVersion: {NEW}\n"
    )
    library = packages / "host/skeleton/core/lib/logger.sh"
    library.unlink()
    library.write_text(f"# {NEW}\n")


update_program.run_pip = _pip  # type: ignore[assignment]


@dataclass
class Ground:
    """A directory with everything, put back from `before` for each run."""

    root: Path
    before: Path
    launcher: Path
    python: Path

    def restore(self) -> None:
        subprocess.run(["rm", "-rf", self.root], check=True)
        subprocess.run(["cp", "-a", self.before, self.root], check=True)

    def update(
        self, arm: Callable[[], None] = lambda: None, told: Callable[[], None] = lambda: None
    ) -> tuple[int, str]:
        """Run `self update` in a fork, between `arm` and `told`; return wait status and stderr."""
        err = self.root.parent / "err"
        child = os.fork()
        if not child:
            status = 70
            try:
                os.dup2(os.open(err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
                null = os.open(os.devnull, os.O_RDWR)
                os.dup2(null, 0)
                os.dup2(null, 1)
                sys.argv = [str(self.launcher), "self", "update", "--yes"]
                arm()
                status = run_main()
                told()
            except BaseException:  # noqa: BLE001 - to be told, not to leave the fork
                os.write(2, traceback.format_exc().encode())
            os._exit(status)
        _, status = os.waitpid(child, 0)
        return status, err.read_text()

    def state(self) -> dict[str, str]:
        """Return what is installed, and what a command of the user's says."""
        done = subprocess.run(
            [self.launcher, "own", "hi"], capture_output=True, text=True, check=False
        )
        core = self.launcher.parent
        return {
            "version": check_starts(str(self.python), "this program"),
            "command": done.stdout + done.stderr,
            "library": (core / "lib/logger.sh").read_text(),
            "checkout": repr(_tracked(self.root / "root")),
            "left": " ".join(sorted(os.listdir(core)) + sorted(os.listdir(self.root)) + self.all()),
        }

    def all(self) -> list[str]:
        """Return all files of the checkout, and the names at the top of its .git.

        What is staged there and in the environment's copy may stay until the next change.
        """
        root = self.root / "root"
        names = [str(path.relative_to(root)) for path in root.rglob("*")]
        within = [name for name in names if not name.startswith((".git/", ".venv"))]
        return sorted([*within, *(path.name for path in (root / ".git").glob("[!c]*"))])


def _tracked(root: Path) -> dict[str, object]:
    """Return the branch, what git says of its files, and the files that an update may change."""
    if not (root / ".git").exists():
        return {}

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=True
        ).stdout

    files = {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mode)
        for path in [
            root / "NEWS",
            root / "notes",
            root / "run.sh",
            *root.glob("[dn]o*/**/*"),
            root / "node",
        ]
        if path.is_file()
    }
    status = git("--no-optional-locks", "status", "--porcelain")
    return files | {"branch": git("rev-parse", "HEAD"), "status": status}


def sweep(ground: Ground, error: int, stride: int) -> dict[str, Any]:
    """Break the update at every `stride`-th step; return figures and broken promises."""
    faults = ctypes.CDLL(None)
    ground.restore()
    old = ground.state()
    status, said = ground.update()
    assert status == 0, said
    new = ground.state()
    assert new["version"] == NEW != old["version"], (old, new)
    broken: list[str] = []
    outcomes = {"old": 0, "new": 0, "between": 0}
    at, runs = 1, 0
    end = ground.root.parent / "end"
    while not end.exists():
        ground.restore()

        def arm(at: int = at) -> None:
            faults.faults_arm(os.fsencode(ground.root), at, error, 0)

        def told(at: int = at) -> None:
            if faults.faults_seen() < at:  # nothing was hit: the last step is behind us
                end.touch()

        status, said = ground.update(arm, told)
        runs += 1
        where = f"{'kill' if not error else os.strerror(error)} at {at}"
        state = ground.state()
        parts = {key: one for key, one in state.items() if key != "left"}
        whole = [
            name
            for name, known in (("old", old), ("new", new))
            if all(known[key] == one for key, one in parts.items())
        ]
        outcomes[whole[0] if whole else "between"] += 1
        if "cli-stage" in state["checkout"] or ".tmp" in state["checkout"]:
            broken.append(f"{where}: git sees what is only ours: {state['checkout']}")
        if parts["command"] != old["command"] or parts["version"] not in (old["version"], NEW):
            broken.append(f"{where}: does not work: {state} {old}")
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) not in (0, 1):
            broken.append(f"{where}: status {status} {said}")
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1:
            if "Traceback" in said or not said.endswith("\n"):
                broken.append(f"{where}: {said!r}")
            if whole != ["old"]:
                broken.append(f"{where}: failed, yet is not the old state: {state} {said!r}")
        again, complaint = ground.update()
        if again or ground.state() != new:
            now = ground.state()
            left = set(now["left"].split()) ^ set(new["left"].split())
            broken.append(f"{where}: second run: {again} {complaint!r} {left} {now}")
        at += stride
    return {"steps": at - 1, "runs": runs, "outcomes": outcomes, "broken": broken[:20]}


def main() -> None:
    asked = json.loads(sys.argv[1])
    root = Path(asked["root"])
    ground = Ground(root, Path(asked["before"]), root / "root/core/cli", Path(sys.executable))
    result = sweep(ground, asked["error"], asked["stride"])
    sys.__stdout__.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
