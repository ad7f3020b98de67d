"""Questions to the user at the terminal."""

from host import OperationError
from host.asking.terminal import FORBIDDEN, is_agreed
from host.session.session import Session


def ask_to_continue(
    session: Session,
    question: str,
    yes: bool,
    otherwise: str,
    *,
    required: bool = False,
) -> None:
    """Ask on a terminal; if nobody can be asked, or with --yes, continue without asking.

    With `required`, an answer or --yes is needed. Raises OperationError with the text `otherwise`
    if the user does not agree.
    """
    if yes:
        return
    if session.can_ask:
        if not is_agreed(question):
            raise OperationError(otherwise)
    elif required:
        what = f"{otherwise}, because {why_not_asked(session)}"
        raise OperationError(what, "to skip the question, add --yes")


def why_not_asked(session: Session) -> str:
    """Return why `session.can_ask` is false."""
    if session.may_ask:
        return "there is no terminal to ask on"
    return FORBIDDEN
