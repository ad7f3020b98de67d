"""Tab completion of the words of `test`."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from host import HostError, Program

_WITHOUT_TESTS = ("help", "self", "test")


def complete_words(
    context: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Return the words of categories and commands that can follow the words so far."""
    words = list(context.params.get("words") or ())
    try:
        program = Program.current()
        # After a whole command, the program would offer the command's arguments.
        if words and len(program.find(words).words) == len(words):
            return []
    except HostError:
        pass  # the words are those of a category

    try:
        candidates = program.candidates(words, typed)
    except HostError:
        return []

    items = []
    for word, description in candidates:
        if words or word not in _WITHOUT_TESTS:
            items.append(CompletionItem(word, help=description))
    return items
