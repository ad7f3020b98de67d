"""`self list`."""

from builtin_plugins.self_commands.decorator import (
    ALL,
    LISTING_FORMAT,
    WORDS,
    self_command,
)
from host import UsageError
from host.pages.listings import listing_text
from host.session.lookup import find_whole
from host.session.session import Session


@self_command(
    "list",
    "List every command",
    {**WORDS, "required": False},
    ALL,
    LISTING_FORMAT,
    synonyms=("ls", "commands", "all", "tasks"),
)
def list_(session: Session, words: tuple[str, ...], all: bool, format: str) -> None:
    """List all commands, or those in the category WORDS."""
    match = find_whole(session, words)
    if match.kind == "command" and not match.has_below:
        command = " ".join(match.words)
        remedy = "name a category, or omit WORDS"
        raise UsageError(f"{command} is a command", remedy)
    text = listing_text(session, match, format, everything=all, deep=True)
    session.show(text)
