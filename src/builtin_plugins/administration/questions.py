"""Questions to whoever is at the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from host import OperationError
from host.run.confirm import is_agreed, is_attended


def confirm(question: str, yes: bool, otherwise: str) -> None:
    """Ask on a terminal; without one, or with --yes, the command itself is the answer.

    Raises OperationError with what is so `otherwise` where the answer is no.
    """
    if not yes and is_attended() and not is_agreed(question):
        raise OperationError(otherwise)


def answer(question: str, usual: str | None = None, choices: Sequence[str] = ()) -> str:
    """Return the answer of somebody at a terminal: one of the `choices`, where there are any.

    Without a terminal it is the `usual` one.
    """
    if usual is not None and not is_attended():
        return usual
    import click

    kind = click.Choice(choices) if choices else str
    try:
        return str(click.prompt(question, default=usual, type=kind, err=True))
    except click.Abort as stopped:
        if isinstance(stopped.__context__, KeyboardInterrupt):
            raise stopped.__context__ from None
        raise OperationError("stopped; nothing was changed") from None
