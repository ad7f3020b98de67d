"""Find the command or category with exactly the given words."""

from host.catalog.catalog import Match
from host.catalog.definition import Definition
from host.errors import UsageError
from host.session.session import Session
from host.session.unknown_words import Words, unknown_word


def find_whole(session: Session, words: Words) -> Match:
    """Return the command or category that `words` name; raise UsageError if a word is unknown."""
    match = session.find(words)
    rest = words[len(match.words) :]
    if rest:
        raise unknown_word(session, match, rest)
    return match


def find_command(session: Session, words: Words) -> tuple[Match, Definition]:
    """Return the command that all of `words` name, or raise UsageError if they name none."""
    match = find_whole(session, words)
    if match.definition is not None and match.definition.is_command:
        return match, match.definition

    category = " ".join(words) or "the root"
    raise UsageError(
        f"{category} is a category, not a command",
        "name a command in the category",
    )
