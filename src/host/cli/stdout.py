"""Stdout: what it can show, and writing to it."""

from __future__ import annotations

import os
import sys

from host.cli.cached_property import cached_property
from host.errors import OperationError
from host.run.text import Messages, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from host.listing_records import Terminal

_WIDTH = 80  # columns where nobody knows
_PLAIN = {"…": "...", "←": "<-"}  # for a stdout that cannot print what pages use


class Output:
    """Where what the user asked to see goes, as the caller's variables describe it."""

    def __init__(self, environ: Mapping[str, str], messages: Messages) -> None:
        self.environ = environ
        self._messages = messages

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
        """What stdout can show, from what it is, COLUMNS and what says whether it has colours."""
        from host.listing_records import Terminal

        try:
            is_terminal = sys.stdout.isatty()
        except (AttributeError, ValueError):  # stdout is closed
            is_terminal = False
        columns = self.columns() if is_terminal else _WIDTH
        colour = self._messages.colours(1)
        return Terminal(columns, colour, self.encoding, is_interactive=is_terminal)

    def columns(self) -> int:
        """Return the width of the terminal: COLUMNS, else what it says itself."""
        chosen = self.environ.get("COLUMNS", "")
        if chosen.isdecimal() and int(chosen):
            return int(chosen)
        try:
            return os.get_terminal_size(1).columns or _WIDTH
        except OSError:
            return _WIDTH

    def show_lines(self, lines: Iterable[str]) -> None:
        """Write lines that may hold anything: what a terminal would act on is shown escaped."""
        self.show("".join(f"{printable(line)}\n" for line in lines))

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
