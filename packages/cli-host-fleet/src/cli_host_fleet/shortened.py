"""Long texts in messages: the first names of a list, the beginning of what a host says."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_NAMED = 5
_LONGEST = 500


def shortened(names: Sequence[str]) -> str:
    """Return the first names, as in "a, b, c, d, e and 3 more"."""
    text = ", ".join(names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        text += f" and {len(names) - _MOST_NAMED} more"
    return text


def beginning(text: str) -> str:
    """Return the beginning of a text, which a host chooses."""
    if len(text) <= _LONGEST:
        return text
    return text[:_LONGEST] + "…"
