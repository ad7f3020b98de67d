"""Run one change of plugins again and again, ended or failed at its 1st, 2nd, … change on disk.

Started by the tests as a program with `faults.c` preloaded; prints one JSON object:
the number of steps, of runs, and every broken promise. Each run is a fork of this
process, so it costs little.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host.__main__ import main as run_main

_PASSING = ("installedAt", "path", "source")


@dataclass
class Ground:
    """An installation whose `plugins` is put back from `before` for each run."""

    root: Path
    before: Path
    launcher: Path

    def restore(self) -> None:
        shutil.rmtree(self.root / "plugins", ignore_errors=True)
        shutil.copytree(self.before, self.root / "plugins", symlinks=True)

    def run(
        self,
        words: list[str],
        arm: Callable[[], None] = lambda: None,
        told: Callable[[], None] = lambda: None,
    ) -> tuple[int, str, str]:
        """Run the program in a fork, between `arm` and `told`; return wait status and output."""
        out, err = self.root.parent / "out", self.root.parent / "err"
        child = os.fork()
        if not child:
            status = 70
            try:
                for number, path in ((1, out), (2, err)):
                    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                    os.dup2(target, number)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                sys.argv = [str(self.launcher), *words]
                arm()
                status = run_main()
                told()
            except BaseException:  # noqa: BLE001 - to be told, not to leave the fork
                os.write(2, traceback.format_exc().encode())
            os._exit(status)
        _, status = os.waitpid(child, 0)
        return status, out.read_text(), err.read_text()

    def state(self) -> Any:
        """Return what `list` says, or why it does not."""
        status, out, err = self.run(["self", "plugin", "list", "--format", "json"])
        if status:
            return f"list: {status} {err}"
        rows = json.loads(out)["plugins"]
        return [{key: one for key, one in row.items() if key not in _PASSING} for row in rows]

    def visible(self) -> list[str]:
        return sorted(
            name for name in os.listdir(self.root / "plugins") if not name.startswith(".")
        )

    def own_files(self) -> int:
        """Return how many copies there are of what only this installation has."""
        return len(list((self.root / "plugins").rglob("dropped/hi/main.sh")))

    def leftovers(self) -> list[str]:
        plugins = self.root / "plugins"
        kept = {".registry.lock", ".versions", ".removed"}
        return sorted(
            name for name in os.listdir(plugins) if name.startswith(".") and name not in kept
        )


def sweep(ground: Ground, words: list[str], error: int, stride: int) -> dict[str, Any]:
    """Break `words` at every `stride`-th step; return figures and broken promises."""
    faults = ctypes.CDLL(None)
    faults.faults_seen.restype = ctypes.c_long
    ground.restore()
    old = ground.state()
    ground.restore()
    status, _, said = ground.run(words)
    assert status == 0, said
    new, shown, own = ground.state(), ground.visible(), ground.own_files()
    broken: list[str] = []
    outcomes = {"old": 0, "new": 0}
    at, runs = 1, 0
    end = ground.root.parent / "end"
    while not end.exists():
        ground.restore()

        def arm(at: int = at) -> None:
            faults.faults_arm(os.fsencode(ground.root / "plugins"), at, error, False)

        def told(at: int = at) -> None:
            if faults.faults_seen() < at:  # nothing was hit: the last step is behind us
                end.touch()

        status, _, said = ground.run(words, arm, told)
        runs += 1
        where = f"{' '.join(words)} {'kill' if not error else os.strerror(error)} at {at}"
        state = ground.state()
        if state == new and (new != old or status == 0):
            outcomes["new"] += 1
        elif state == old:
            outcomes["old"] += 1
        else:
            broken.append(f"{where}: neither old nor new: {state}")
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) not in (0, 1):
            broken.append(f"{where}: status {status} {said}")
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1:
            if said.count("\n") != 1:
                broken.append(f"{where}: not one line: {said!r}")
            if state != old:
                broken.append(f"{where}: failed, yet the state is new")
        if ground.leftovers() and state in (old, new):
            broken.append(f"{where}: left {ground.leftovers()}")
        again, _, complaint = ground.run(words)
        gone = "there is no plugin" in complaint and state == new
        if (again and not gone) or ground.state() != new or ground.visible() != shown:
            broken.append(f"{where}: second run: {again} {complaint!r} {ground.visible()}")
        if ground.leftovers():
            broken.append(f"{where}: second run left {ground.leftovers()}")
        if ground.own_files() != own:
            broken.append(f"{where}: the user's own files are gone")
        at += stride
    return {"steps": at - stride - 1, "runs": runs, "outcomes": outcomes, "broken": broken[:20]}


def main() -> None:
    asked = json.loads(sys.argv[1])
    ground = Ground(Path(asked["root"]), Path(asked["before"]), Path(asked["launcher"]))
    result = sweep(ground, asked["words"], asked["error"], asked["stride"])
    sys.__stdout__.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
