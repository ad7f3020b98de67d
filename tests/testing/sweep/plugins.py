"""The ground of a sweep: an installation with plugins, and a change of them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from host.__main__ import main as run_main
from testing.sweep.ground import Ground, Outcome, fingerprint, in_fork

_PASSING = ("installedAt", "path", "source")


class Plugins(Ground):
    """An installation whose `plugins` is put back from `before`; the change is `words`."""

    progress = ("looking for ", "installing ")

    def __init__(self, root: str, before: str, launcher: str, words: list[str]) -> None:
        super().__init__(Path(root) / "plugins")
        self.before, self.launcher, self.words = before, launcher, words

    def restore(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.before, self.place, symlinks=True)

    def change(self) -> int:
        sys.argv = [self.launcher, *self.words]
        return run_main()

    def state(self) -> Any:
        """Return what `list` says, or why it does not, and what is there once it has run."""
        return {
            "list": self.ask(lambda: fingerprint(self.place), self._listed),
            "visible": [*self._visible()],
            # How many copies there are of what only this installation has.
            "own": len(list(self.place.rglob("dropped/hi/main.sh"))),
        }

    def _visible(self) -> Iterator[str]:
        """Yield what is in `plugins/` but the links to versions, which the next change sets."""
        for path in sorted(self.place.iterdir()):
            is_ours = path.is_symlink() and "/.versions/" in f"/{path.readlink()}"
            if not is_ours and not path.name.startswith("."):
                yield path.name

    def _listed(self) -> Any:
        def list_them() -> int:
            sys.argv = [self.launcher, "self", "plugin", "list", "--format", "json"]
            return run_main()

        listed = in_fork(list_them)
        if listed.status:
            return f"list: {listed}"
        rows = json.loads(listed.out)["plugins"]
        return [_without_passing(row) for row in rows]

    def broken(self, old: Any, new: Any, state: Any, outcome: Outcome) -> Iterator[str]:
        if state not in (old, new):
            yield f"neither old nor new: {state}"
        # What a kill leaves of a link that is being replaced, the next change removes.
        elif left := [one for one in self._leftovers() if not one.endswith(".tmp")]:
            yield f"left {left}"
        if outcome.failed and state != old:
            yield f"failed, yet the state is new: {outcome.err}"

    def unsettled(self, new: Any, state: Any, again: Outcome) -> Iterator[str]:
        gone = "there is no plugin" in again.err and state == new
        if (again.status and not gone) or self.state() != new:
            yield f"{again} {self.state()}"
        if left := self._leftovers():
            yield f"left {left}"

    def _leftovers(self) -> list[str]:
        return sorted(
            name
            for name in os.listdir(self.place)
            if name.startswith(".") and name != ".versions"
        )


def _without_passing(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the list without what differs from run to run."""
    return {key: value for key, value in row.items() if key not in _PASSING}


make = Plugins
