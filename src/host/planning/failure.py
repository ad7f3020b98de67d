"""What a plugin's own code raised, as one line that says where."""

from __future__ import annotations

import os
import sys
import traceback

from host.run.text import is_on

_LONGEST = 300  # characters of a reason


def placed_reason(failure: BaseException, package: str) -> str:
    """Return an exception as one line that ends in the place in `package` that it came through.

    Where DEBUG is on the whole traceback goes to stderr.
    """
    if is_on(os.environ.get("DEBUG")):
        traceback.print_exception(failure, file=sys.stderr)
    place = _place(failure, package)
    return f"{reason_of(failure)} ({place})" if place else reason_of(failure)


def reason_of(failure: BaseException) -> str:
    """Return an exception as one line that a list can show."""
    text = short_reason(" ".join(str(failure).split()))
    return f"{type(failure).__name__}: {text}" if text else type(failure).__name__


def short_reason(text: str) -> str:
    """Return `text`, cut where it is longer than anybody reads."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _place(failure: BaseException, package: str) -> str:
    """Return "file:line" of the innermost frame that is the package's own, "" for none."""
    if isinstance(failure, SyntaxError) and failure.filename:
        return f"{failure.filename}:{failure.lineno or 1}"
    found = ""
    for frame, line in traceback.walk_tb(failure.__traceback__):
        module = frame.f_globals.get("__name__")
        if isinstance(module, str) and f"{module}.".startswith(f"{package}."):
            found = f"{frame.f_code.co_filename}:{line}"
    return found
