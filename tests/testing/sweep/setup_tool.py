"""The ground of a sweep: paths for a tool, and one action of `setup`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from builtin_plugins.library.progress import QuietMessages
from builtin_plugins.setup import command as setup
from builtin_plugins.setup.linux import install, swap
from builtin_plugins.setup.tool_settings import ToolSettings
from host.errors import HostError
from testing.sweep.ground import Ground, Outcome, in_fork

_KEPT = {
    "home/Tool/collection": "mine",
    "home/.config/Tool/settings": "mine too",
    "opt/neighbour/file": "a neighbour",
    "bin/other": "another command",
    "share/other.desktop": "another entry",
}
_MENU = "share/tool.desktop"
_OPTIONS = {"install": [], "upgrade": ["--upgrade"], "uninstall": ["--uninstall"]}


class Tool(Ground):
    """Paths below `root`; `action` is an option's word, or put and put new: the elevated step."""

    def __init__(
        self,
        root: str,
        addresses: Mapping[str, str],
        action: str,
        target: str,
        run: Mapping[str, str],
    ) -> None:
        super().__init__(Path(root))
        self.addresses, self.action, self.target = addresses, action, target
        self.former = "" if action in ("install", "put new") else "one"
        self.later = "" if action == "uninstall" else target
        self.before = Path(f"{root}.before")
        self.run = run
        for name, content in _KEPT.items():
            path = self.place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        if self.former:
            made = in_fork(
                lambda: _told(lambda: setup.run(["-q"], self._environ("one"), "linux"))
            )
            assert made.status == 0, made
        shutil.copytree(self.place, self.before, symlinks=True)
        if action.startswith("put"):
            self._prepare()

    def _environ(self, version: str) -> dict[str, str]:
        root = self.place
        return {
            "PATH": f"/usr/bin:/bin:{root}/bin",
            "HOME": f"{root}/home",
            **self.run,
            "TOOL_INSTALL_DIR": f"{root}/opt/tool",
            "TOOL_BIN_DIR": f"{root}/bin",
            "TOOL_DESKTOP_FILE": f"{root}/{_MENU}",
            "TOOL_DOWNLOAD_URL": self.addresses[version],
            "TOOL_LAUNCHER": "Moved" if version == "moved" else "Tool",
            # Another menu entry, so that something can break after the directories changed.
            "TOOL_CATEGORIES": "Utility;" if version == "one" else "Development;",
        }

    def _prepare(self) -> None:
        """Prepare a version as an unprivileged run does before it asks for the elevated step."""
        self.prepared = self.place.parent / "prepared"
        self.prepared.mkdir()
        self.settings = ToolSettings.read("tool", "Tool", self._environ(self.target))
        messages = QuietMessages("cli", self.settings.environ)
        self.application = install.fetch(self.settings, messages, str(self.prepared))

    def restore(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.before, self.place, symlinks=True)

    def change(self) -> int:
        environ = self._environ(self.target)
        if not self.action.startswith("put"):
            options = [*_OPTIONS[self.action], "--quiet"]
            return _told(lambda: setup.run(options, environ, "linux"))
        arguments = [*self.settings.paths.row(), *self.application]
        return _told(lambda: swap.main(arguments))

    def state(self) -> str:
        """Return which version the command starts: "" when there is no command."""
        link = self.place / "bin/tool"
        if not os.path.lexists(link):
            return ""
        if not os.access(link, os.X_OK):
            return "dangling"
        return link.read_text().split()[-1]

    def broken(self, old: Any, new: Any, state: Any, outcome: Outcome) -> Iterator[str]:
        assert (old, new) == (self.former, self.later)
        if state not in (old, new):
            yield f"the command starts {state!r}"
        if not self._kept():
            yield "something that is not setup's was touched"
        named = (
            not new and "cannot be removed" in outcome.err
        )  # uninstalled, but for that
        if outcome.failed and old and state != old and not named:
            yield f"failed, yet the command starts {state!r}"

    def unsettled(self, new: Any, state: Any, again: Outcome) -> Iterator[str]:
        del state
        if again.status or self.state() != new:
            yield f"{again} {self.state()!r}"
        if self._left() != (["bin/tool", _MENU] if new else []) or not self._kept():
            yield f"left {self._left()}"
        store = self.place / "opt/tool"
        names = sorted(os.listdir(store)) if store.exists() else []
        if new and names != sorted(["current", (store / "current").readlink().name]):
            yield f"versions {names}"
        if not new and names:  # an empty directory, whose removal failed, is nobody's
            yield f"left the application: {names}"

    def _left(self) -> list[str]:
        """Return what is there beside the kept files and the application's own."""
        names: list[str] = []
        for above, directories, files in os.walk(self.place):
            if above == str(self.place / "opt/tool"):
                directories.clear()
                continue
            hidden = [
                name
                for name in directories
                if name.startswith(".") and name != ".config"
            ]
            names += [
                os.path.relpath(os.path.join(above, name), self.place)
                for name in files + hidden
            ]
        return sorted(set(names) - set(_KEPT))

    def _kept(self) -> bool:
        return all(
            (self.place / name).exists() and (self.place / name).read_text() == content
            for name, content in _KEPT.items()
        )


def _told(work: Any) -> int:
    """Do what the host does with a failure: one line and its status."""
    try:
        return int(work())
    except HostError as failure:
        os.write(2, f"error: {failure}\n".encode())
        return failure.status


make = Tool
