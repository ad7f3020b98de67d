"""Questions to the user at the terminal."""

from host import OperationError
from host.run.questions import is_agreed, is_attended


def ask_to_continue(question: str, yes: bool, otherwise: str, *, required: bool = False) -> None:
    """Ask on a terminal; without one, or with --yes, continue without asking.

    With `required`, a terminal or --yes is needed. Raises OperationError with the text `otherwise`
    if the user does not agree.
    """
    if yes:
        return
    if required and not is_attended():
        what = f"{otherwise}, because there is no terminal to ask on"
        raise OperationError(what, "to skip the question, add --yes")
    if is_attended() and not is_agreed(question):
        raise OperationError(otherwise)
