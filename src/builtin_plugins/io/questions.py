"""Questions to whoever is at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from host import OperationError


def is_attended() -> bool:
    """Tell whether somebody can see a question on stderr, and answer it on stdin."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def confirm(question: str, yes: bool, otherwise: str) -> None:
    """Ask on a terminal; without one, or with --yes, the command itself is the answer.

    Raises OperationError with what is so `otherwise` where the answer is no.
    """
    if yes or not is_attended():
        return
    import click

    if not _asked(click.confirm, question):
        raise OperationError(otherwise)


def answer(question: str, usual: str | None = None, choices: Sequence[str] = ()) -> str:
    """Return the answer of somebody at a terminal: one of the `choices`, where there are any.

    Without a terminal it is the `usual` one.
    """
    if usual is not None and not is_attended():
        return usual
    import click

    kind = click.Choice(choices) if choices else str
    return str(_asked(click.prompt, question, default=usual, type=kind))


def _asked(ask: Callable[..., Any], question: str, **how: Any) -> Any:
    import click

    try:
        return ask(question, err=True, **how)
    except click.Abort as stopped:
        if isinstance(stopped.__context__, KeyboardInterrupt):
            raise stopped.__context__ from None
        raise OperationError("stopped; nothing was changed") from None
