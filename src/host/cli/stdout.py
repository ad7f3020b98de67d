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
_PLAIN = {"…": "...", "←": "<-"}  # for a stdout that cannot print what pages use


def terminal_of(environ: Mapping[str, str], messages: Messages) -> Terminal:
    """Return what stdout can show, by what it is, COLUMNS and the settings of colours."""
    from host.listing_records import Terminal

    try:
        is_terminal = sys.stdout.isatty()
    except (AttributeError, ValueError):  # stdout is closed
        is_terminal = False
    columns = _columns(environ) if is_terminal else _WIDTH
    encoding, colour = encoding_of(environ), messages.colours(1)
    return Terminal(columns, colour, encoding, is_interactive=is_terminal)


def encoding_of(environ: Mapping[str, str]) -> str:
    """Return the encoding of stdout's characters.

    Python takes UTF-8 for the C locale. Without any locale that is a good guess; a caller who
    chose C wants ASCII.
    """
    locale = next(filter(None, map(environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    usual = "ascii" if locale in ("C", "POSIX") else getattr(sys.stdout, "encoding", None)
    encoding = environ.get("PYTHONIOENCODING", "").partition(":")[0] or usual or "utf-8"
    try:
        "".encode(encoding)
    except LookupError:
        return "utf-8"
    return encoding


def _columns(environ: Mapping[str, str]) -> int:
    chosen = environ.get("COLUMNS", "")
    if chosen.isdecimal() and int(chosen):
        return int(chosen)
    try:
        return os.get_terminal_size(1).columns or _WIDTH
    except OSError:
        return _WIDTH


def write(text: str, encoding: str) -> None:
    """Write what the user asked to see to stdout.

    A closed pipe ends the process as it ends any Unix program; a full disk raises
    OperationError.
    """
    try:
        content = text.encode(encoding)
    except UnicodeEncodeError:
        for sign, plain in _PLAIN.items():
            text = text.replace(sign, plain)
        content = text.encode(encoding, "backslashreplace")
    try:
        while content:
            content = content[os.write(1, content) :]
    except OSError as failure:
        raise OperationError(f"cannot write to stdout: {failure.strerror}") from None
