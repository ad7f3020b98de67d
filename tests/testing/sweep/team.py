"""The ground of a sweep: `self init --from` in a colleague's home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from host.__main__ import main as run_main
from testing.sweep.ground import Ground, Outcome, fingerprint

_PASSING = ("cli.lock", ".cli.lock", ".git", "registry.local.json")
_STAGE = ".cli-stage"


class Colleague(Ground):
    """A home that is put back from `before`; `words` are run by the program at `program`."""

    one_line = False  # git's own line may come before ours

    def __init__(self, home: str, before: str, program: str, words: list[str]) -> None:
        super().__init__(Path(home))
        self.before, self.program, self.words = before, program, words
        self.root = self.place / ".local/share/acme"

    def restore(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.before, self.place, symlinks=True)

    def change(self) -> int:
        sys.argv = [self.program, *self.words]
        return run_main()

    def state(self) -> dict[str, Any]:
        """Return the parts that are old or new each, and what is there beside them."""
        parts: dict[str, Any] = {"beside": self._beside()}
        if self.root.is_dir():
            parts["commands"] = (
                fingerprint(self.root / "commands"),
                self._git("rev-parse", "HEAD"),
            )
            link = self.root / "plugins/ops"
            parts["plugin"] = os.path.lexists(link) and sorted(os.listdir(link / "ops"))
            parts["library"] = fingerprint(self.root / "core")
            parts["status"] = self._git("status", "--porcelain")
        return parts

    def _git(self, *words: str) -> str:
        command = ["git", "-C", str(self.root), *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=False
        ).stdout

    def _beside(self) -> list[str]:
        names = (".local/bin/acme", ".bashrc")
        return [name for name in names if os.path.lexists(self.place / name)]

    def _stages(self) -> list[str]:
        places = (self.root.parent, self.root / "plugins")
        names: list[str] = []
        for place in places:
            if place.is_dir():
                names += os.listdir(place)
        return [name for name in names if name.startswith(_STAGE)]

    def broken(
        self,
        old: dict[str, Any],
        new: dict[str, Any],
        state: dict[str, Any],
        outcome: Outcome,
    ) -> Iterator[str]:
        del outcome
        for name in ("commands", "plugin", "library", "status"):
            if state.get(name) not in (old.get(name), new.get(name)):
                yield f"{name}: neither old nor new: {state.get(name)}"
        if len({"commands", "plugin", "library"} & state.keys()) not in (0, 3):
            yield f"half an installation: {state}"

    def unsettled(
        self, new: dict[str, Any], state: dict[str, Any], again: Outcome
    ) -> Iterator[str]:
        del state
        if again.status or self.state() != new:
            yield f"{again} {self.state()}"
        if left := self._stages():
            yield f"left {left}"


make = Colleague
