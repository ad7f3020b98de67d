"""The grounds of sweeps: an installation in which `self new` or `self uninstall` runs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from host.__main__ import main as run_main
from testing.sweep.ground import Ground, Outcome

_STAGE = ".cli-stage-"


def _without_stage(state: list[str]) -> list[str]:
    return [path for path in state if _STAGE not in path]


class Words(Ground):
    """An installation that is put back from `before`; `words` are run by its launcher."""

    def __init__(self, root: str, before: str, words: list[str]) -> None:
        super().__init__(Path(root))
        self.before, self.words = before, words

    def restore(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.before, self.place, symlinks=True)

    def change(self) -> int:
        sys.argv = [f"{self.place}/core/cli", *self.words]
        return run_main()

    def state(self) -> list[str]:
        """Return the paths of all that is there, without what one run builds anew."""
        paths = (str(path.relative_to(self.place)) for path in self.place.rglob("*"))
        return sorted(
            path for path in paths if not path.startswith(("cli.lock", ".cli.lock"))
        )


class New(Words):
    def broken(
        self, old: list[str], new: list[str], state: list[str], outcome: Outcome
    ) -> Iterator[str]:
        if _without_stage(state) not in (old, new):
            yield f"neither old nor new: {state}"
        if outcome.failed and state != old:
            yield f"failed and left {state}"

    def unsettled(
        self, new: list[str], state: list[str], again: Outcome
    ) -> Iterator[str]:
        there = _without_stage(state) == new and "is already a command" in again.err
        if (again.status and not there) or _without_stage(self.state()) != new:
            yield f"{again} {self.state()}"


class Uninstall(Words):
    def broken(
        self, old: list[str], new: list[str], state: list[str], outcome: Outcome
    ) -> Iterator[str]:
        del old, outcome
        rest = set(state) - set(new)
        if "core/cli" not in rest and rest - {"core", "core/cli.json"}:
            yield f"cannot go on without its launcher: {rest}"
        if "core/cli" in rest and not (self.place / "core/cli.json").exists():
            yield f"cannot go on without cli.json: {rest}"

    def unsettled(
        self, new: list[str], state: list[str], again: Outcome
    ) -> Iterator[str]:
        rest = (
            {*state} - {*new} - {"core"}
        )  # if nothing is left, the program is not there
        if rest and (again.status or self.state() != new):
            yield f"{again} {self.state()}"


def make(root: str, before: str, words: list[str]) -> Words:
    return (Uninstall if "uninstall" in words else New)(root, before, words)
