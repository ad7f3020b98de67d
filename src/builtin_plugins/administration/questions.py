"""Questions to the user at the terminal."""

from __future__ import annotations

from host import OperationError
from host.run.confirm import is_agreed, is_attended


def confirm(question: str, yes: bool, otherwise: str) -> None:
    """Ask on a terminal; without one, or with --yes, continue without asking.

    Raises OperationError with the text `otherwise` if the answer is no.
    """
    if not yes and is_attended() and not is_agreed(question):
        raise OperationError(otherwise)
