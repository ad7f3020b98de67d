"""Stdout: what it can show, and writing to it."""

from __future__ import annotations

import os
import sys

from host.errors import OperationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from host.listing_records import Terminal
    from host.run.text import Messages

_WIDTH = 80  # columns if nothing says how many there are


def terminal_of(environ: Mapping[str, str], messages: Messages) -> Terminal:
    """Return what stdout can show, by what it is, COLUMNS and the settings of colours."""
    from host.listing_records import Terminal

    columns, chosen, is_terminal = _WIDTH, environ.get("COLUMNS", ""), os.isatty(1)
    if is_terminal:
        own = int(chosen) if chosen.isdecimal() else 0
        columns = own or os.get_terminal_size(1).columns or _WIDTH
    encoding, colour = encoding_of(environ), messages.colours(1)
    return Terminal(columns, colour, encoding, is_interactive=is_terminal)


def encoding_of(environ: Mapping[str, str]) -> str:
    """Return the encoding of stdout's characters.

    Python takes UTF-8 for the C locale. Without any locale that is a good guess; a caller who
    chose C wants ASCII.
    """
    locale = next(filter(None, map(environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    return "ascii" if locale in ("C", "POSIX") else getattr(sys.stdout, "encoding", "utf-8")


def write(text: str, encoding: str) -> None:
    """Write what the user asked to see to stdout.

    A closed pipe ends the process as it ends any Unix program; a full disk raises
    OperationError.
    """
    try:
        content = text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.replace("…", "...").replace("←", "<-")
        content = plain.encode(encoding, "backslashreplace")
    try:
        while content:
            content = content[os.write(1, content) :]
    except OSError as failure:
        raise OperationError(f"cannot write to stdout: {failure.strerror}") from None
