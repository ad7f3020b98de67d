"""The colours of listings and pages: one for each kind of thing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.records import Terminal

HEADING = "\033[1m"
NAME = "\033[36m"
MISSING = "\033[31m"
INSTALLED = "\033[32m"
_RESET = "\033[0m"
_FAINT = "\033[2m"
_MARKS = {
    "✓": INSTALLED,
    "[installed]": INSTALLED,
    "[sudo]": "\033[33m",
    "[destroy]": "\033[31m",
    "[missing]": MISSING,
}


def styled(text: str, style: str, terminal: Terminal) -> str:
    """Return `text` in a colour, or as it is where the terminal has none."""
    return f"{style}{text}{_RESET}" if terminal.colour and text else text


def styled_mark(mark: str, terminal: Terminal) -> str:
    """Return an indicator in its colour."""
    return styled(mark, _MARKS.get(mark, _FAINT), terminal)
