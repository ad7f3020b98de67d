"""Find the command or category with exactly the given words."""

from host.cli.session import Session
from host.cli.unknown_words import Words, unknown_word
from host.errors import UsageError
from host.run.catalog import Match
from host.run.definition import Definition


def find_whole(session: Session, words: Words) -> Match:
    """Return the command or category that `words` name; raise UsageError if a word is unknown."""
    found = session.find(words)
    rest = words[len(found.words) :]
    if rest:
        raise unknown_word(session, found, rest)
    return found


def find_command(session: Session, words: Words) -> tuple[Match, Definition]:
    """Return the command that all of `words` name, or raise UsageError if they name none."""
    found = find_whole(session, words)
    if found.definition is not None and found.definition.is_command:
        return found, found.definition

    category = " ".join(words) or "the root"
    raise UsageError(
        f"{category} is a category, not a command",
        "name a command in the category",
    )
