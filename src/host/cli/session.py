"""One invocation that does not run a command: what `self` commands and listings work with."""

from __future__ import annotations

import os
import sys
from functools import cached_property

from host.errors import OperationError, PluginError
from host.run.installation import Layout, Places, open_places
from host.run.locate import Found, locate
from host.run.lock import BUILTIN, Lock, read_lock, write_lock
from host.run.messages import Messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from host.planning.loading import Loaded
    from host.records import Terminal

_PLAIN = {"…": "...", "←": "<-"}  # for a stdout that cannot print what pages use


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
        if self.held is None:
            from host.planning.discovery import refresh

            return refresh(self.places, self.messages, self.safe)
        for warning in self.held.warnings:
            self.messages.warn(warning)
        return self.held

    @cached_property
    def known(self) -> Lock:
        """The lock when it holds, else what is known without anybody's Python.

        What manages plugins works with this, so that no plugin can get in its way.
        """
        if self.held is not None:
            return self.held
        from host.planning.discovery import refresh

        return refresh(self.places, self.messages, safe=True)

    @cached_property
    def plugins_known(self) -> Lock:
        """What plugins are, without running anything of a directory plugin.

        The lock when it holds; else installed distributions are asked, unless in safe mode.
        """
        if self.held is not None:
            return self.held
        from host.planning.discovery import ask

        return ask(self.places, directory_hooks=False, python=not self.safe)

    @cached_property
    def held(self) -> Lock | None:
        """The lock as it is on disk, None when it does not hold, or in safe mode."""
        return None if self.safe else read_lock(self.places.locks, self.places.key)

    def refresh_lock(self) -> Lock:
        """Ask all plugins again and write the lock anew."""
        from host.planning.discovery import refresh

        lock = refresh(self.places, self.messages, self.safe)
        self.__dict__["lock"] = lock
        return lock

    def find(self, words: tuple[str, ...]) -> Found:
        """Return what the leading `words` name; raises DefinitionError."""
        return locate(words, self.lock.trees, self.lock.commands)

    def ask(self, hook: str, calls: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return what plugins answer to each of `calls` of a listing hook, None where nothing.

        Third-party plugins come first, the last of them at the front, each in a process of
        its own: one that fails is told, and is left out until something of it changes.
        """
        found: list[Any] = [None] * len(calls)
        for name, origin, reference, file in reversed(self.lock.speakers):
            left = [index for index, answer in enumerate(found) if answer is None]
            if name.startswith(BUILTIN) or hook not in self.lock.hooks[name] or not left:
                continue
            from host.planning.child import asked
            from host.planning.loading import from_file, from_reference

            speaker = (
                from_file(name, origin, file) if file else from_reference(name, origin, reference)
            )
            try:
                said = asked(speaker, hook, [calls[index] for index in left])
            except PluginError as failure:
                self._leave_out(name, f"{origin}: {failure}")
            else:
                for index, answer in zip(left, said, strict=True):
                    found[index] = answer
        return [
            self._builtins.first(hook, **call) if answer is None else answer
            for call, answer in zip(calls, found, strict=True)
        ]

    @cached_property
    def _builtins(self) -> Loaded:
        """The built-in plugins that speak when a listing is shown; others are not imported."""
        from host.planning.loading import from_reference, load

        return load(
            from_reference(name, origin, reference)
            for name, origin, reference, _ in self.lock.speakers
            if name.startswith(BUILTIN)
        )

    def _leave_out(self, name: str, reason: str) -> None:
        """Warn of a plugin that failed just now, and note it in the lock."""
        known = set(self.lock.warnings)
        self.lock.broken[name] = reason
        self.lock.speakers = [one for one in self.lock.speakers if one[0] != name]
        for warning in self.lock.warnings:
            if warning not in known:
                self.messages.warn(warning)
        write_lock(self.places.locks, self.places.key, self.lock)

    @cached_property
    def encoding(self) -> str:
        """What stdout's characters are encoded in.

        Python takes UTF-8 for the C locale. Without any locale that is a good guess;
        whoever chose C wants ASCII.
        """
        chosen = self.environ.get("PYTHONIOENCODING", "").partition(":")[0]
        named = (self.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
        if not chosen and next(filter(None, named), "") in ("C", "POSIX"):
            chosen = "ascii"
        for encoding in (chosen, getattr(sys.stdout, "encoding", None)):
            try:
                if encoding:
                    "".encode(encoding)
                    return encoding
            except LookupError:
                continue
        return "utf-8"

    @cached_property
    def terminal(self) -> Terminal:
        """What stdout can show, from what it is and NO_COLOR, TERM, COLUMNS."""
        from shutil import get_terminal_size

        from host.records import Terminal

        try:
            is_terminal = sys.stdout.isatty()
        except (AttributeError, ValueError):  # stdout is closed
            is_terminal = False
        colour = (
            is_terminal
            and not self.environ.get("NO_COLOR")
            and self.environ.get("TERM", "dumb") != "dumb"
        )
        columns = get_terminal_size().columns if is_terminal else 80
        return Terminal(columns, colour, self.encoding)

    def show(self, text: str) -> None:
        """Write what the user asked to see to stdout.

        A reader that went away ends the process as it ends any Unix program; a full
        disk raises OperationError.
        """
        try:
            content = text.encode(self.encoding)
        except UnicodeEncodeError:
            for sign, plain in _PLAIN.items():
                text = text.replace(sign, plain)
            content = text.encode(self.encoding, "backslashreplace")
        try:
            while content:
                content = content[os.write(1, content) :]
        except OSError as failure:
            raise OperationError(f"cannot write to stdout: {failure.strerror}") from None
