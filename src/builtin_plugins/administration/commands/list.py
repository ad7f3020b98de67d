"""`self list`."""

from host import UsageError
from host.cli.listings import listing_text
from host.cli.lookup import find_whole
from host.cli.session import Session


def command(session: Session, words: tuple[str, ...], all: bool, format: str) -> None:
    """List all commands, or those in the category WORDS."""
    found = find_whole(session, words)
    if found.kind == "command" and not found.has_below:
        raise UsageError(f"{' '.join(found.words)} is a command", "name a category, or omit WORDS")
    session.show(listing_text(session, found, format, everything=all, deep=True))
