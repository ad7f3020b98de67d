"""One invocation that does not run a command: what `self` commands and listings work with."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from host.errors import OperationError
from host.layout import Layout
from host.locate import Found, locate
from host.lock import Lock, read_lock
from host.messages import Messages
from host.places import Places, open_places
from host.records import Terminal

if TYPE_CHECKING:
    from host.plugins import Loaded


class Session:
    """The caller's environment, the installation, and what is found in it on demand.

    This is what `self` commands get as click's `ctx.obj`. `places`, `lock` and
    `plugins` raise HostError when the installation is missing or wrong.
    """

    def __init__(
        self, layout: Layout, environ: Mapping[str, str], messages: Messages, *, safe: bool
    ) -> None:
        self.layout = layout
        self.environ = environ
        self.messages = messages
        self.safe = safe

    @property
    def program(self) -> str:
        return self.layout.program

    @cached_property
    def places(self) -> Places:
        return open_places(self.layout, self.environ)

    @cached_property
    def lock(self) -> Lock:
        from host.discovery import current

        return current(self.places, self.messages, self.safe)

    @cached_property
    def known(self) -> Lock:
        """The lock when it holds, else what is known without anybody's Python.

        What manages plugins works with this, so that no plugin can get in its way.
        """
        if self.held is not None:
            return self.held
        from host.discovery import refresh

        return refresh(self.places, self.messages, safe=True)

    @cached_property
    def plugins_known(self) -> Lock:
        """What plugins are, without running anything of a directory plugin.

        The lock when it holds; else installed distributions are asked, unless in safe mode.
        """
        if self.held is not None:
            return self.held
        from host.discovery import ask

        return ask(self.places, directory_hooks=False, python=not self.safe)

    @cached_property
    def held(self) -> Lock | None:
        """The lock as it is on disk, None when it does not hold, or in safe mode."""
        return None if self.safe else read_lock(self.places.locks, self.places.key)

    def refresh_lock(self) -> Lock:
        """Ask all plugins again and write the lock anew."""
        from host.discovery import refresh

        lock = refresh(self.places, self.messages, self.safe)
        self.__dict__["lock"] = lock
        return lock

    def find(self, words: tuple[str, ...]) -> Found:
        """Return what the leading `words` name; raises DefinitionError."""
        return locate(words, self.lock.trees, self.lock.commands)

    @cached_property
    def plugins(self) -> "Loaded":
        """The plugins that speak when a listing is shown; the others are not imported."""
        speaking = {
            name
            for name, hooks in self.lock.hooks.items()
            if "render_listing" in hooks or "is_installed" in hooks
        }
        from host.plugins import entry_points, load, third_party

        points = list(entry_points())
        candidates = [one for one in points if one.builtin]
        if speaking and not self.safe:
            others = third_party(points, self.places.plugins_dir, {})
            candidates += [one for one in others if one.name in speaking]
        return load(candidates)

    @cached_property
    def terminal(self) -> Terminal:
        """What stdout can show, from what it is and NO_COLOR, TERM, COLUMNS."""
        try:
            is_terminal = sys.stdout.isatty()
        except (AttributeError, ValueError):  # stdout is closed
            is_terminal = False
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        chosen = self.environ.get("PYTHONIOENCODING", "").partition(":")[0]
        try:
            "".encode(chosen or encoding)
        except LookupError:
            chosen = ""
        colour = (
            is_terminal
            and not self.environ.get("NO_COLOR")
            and self.environ.get("TERM", "dumb") != "dumb"
        )
        columns = shutil.get_terminal_size().columns if is_terminal else 80
        return Terminal(columns, colour, chosen or encoding)

    def show(self, text: str) -> None:
        """Write what the user asked to see to stdout.

        A reader that went away ends the process as it ends any Unix program; a full
        disk raises OperationError.
        """
        content = text.encode(self.terminal.encoding, "backslashreplace")
        try:
            while content:
                content = content[os.write(1, content) :]
        except OSError as failure:
            raise OperationError(f"cannot write to stdout: {failure.strerror}") from None
