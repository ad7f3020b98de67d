"""Errors that users and assistants see, as one line each."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from host import OperationError, UsageError


class ChoiceError(UsageError):
    """Unusable options of `mcp serve`, `tools` or `install`; the exit status is 2."""


class CallError(UsageError):
    """A refused call: nothing was run, and the message is for the assistant."""


class SecretsUnknownError(OperationError):
    """A command was ended: its secrets are unknown, so its output cannot be masked."""


def closest(word: str, names: Iterable[str]) -> str:
    """Return `; did you mean …?` with the nearest names, or "" if there are none."""
    candidates = sorted(set(names))
    near = get_close_matches(word, candidates, 3)
    if not near:
        return ""
    return f"; did you mean {' or '.join(near)}?"
