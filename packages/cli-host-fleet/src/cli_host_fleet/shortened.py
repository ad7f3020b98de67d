"""A list of names in a message: the first few, and how many more."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_NAMED = 5


def shortened(names: Sequence[str]) -> str:
    """Return the first names, as in "a, b, c, d, e and 3 more"."""
    text = ", ".join(names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        text += f" and {len(names) - _MOST_NAMED} more"
    return text
