"""Options that several `self` commands have."""

from __future__ import annotations

from host import UsageError

FORMAT = {"name": "--format", "value": "FORMAT", "choices": ["text", "json"], "default": "text"}
YES = {"name": "--yes", "description": "Do not ask."}

USUAL_SECONDS = 600.0  # for each download, clone or run of pip
_LONGEST = 86_400.0
TIMEOUT = {
    "name": "--timeout",
    "value": "SECONDS",
    "type": "number",
    "default": f"{USUAL_SECONDS:g}",
    "description": "For each download.",
}


def checked_timeout(seconds: float) -> float:
    """Return a time that can be waited; raises UsageError for any other."""
    if not 0 < seconds <= _LONGEST:
        raise UsageError(f"--timeout: {seconds:g}: expected above 0 and at most {_LONGEST:g}")
    return seconds
