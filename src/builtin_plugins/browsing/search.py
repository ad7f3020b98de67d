"""`self search`."""

from collections.abc import Iterable

from builtin_plugins.self_commands.decorator import (
    ALL,
    LISTING_FORMAT,
    argument,
    self_command,
)
from host import Category, Command, OperationError
from host.pages.listings import rendered
from host.session.session import Session


@self_command(
    "search",
    "Find commands that you have, by name or description",
    argument("text...", required=True, complete="none"),
    ALL,
    LISTING_FORMAT,
)
def search(session: Session, text: tuple[str, ...], all: bool, format: str) -> None:
    """List the commands that contain TEXT in their names, descriptions, groups or arguments.

    A command must contain every word of TEXT; case is ignored.
    """
    terms = [word.casefold() for word in text]
    listing = session.listed((), deep=True, everything=all)
    commands = [command for command in listing.commands if _has(command, terms)]
    if not commands:
        what = f"no command matches {' '.join(text)}"
        raise OperationError(what, f"see: {session.program} self list")

    # The formats `tree` and `json` also show the categories above the commands.
    matching = listing.replaced(
        categories=tuple(_above(commands, listing.categories)),
        commands=tuple(commands),
    )
    root = session.find(())
    session.show(rendered(session, root, matching, format, deep=True))


def _above(
    commands: Iterable[Command], categories: Iterable[Category]
) -> list[Category]:
    """Return the categories that contain one of the commands, directly or not."""
    above = set()
    for command in commands:
        for count in range(1, len(command.words)):
            above.add(command.words[:count])
    return [category for category in categories if category.words in above]


def _has(command: Command, terms: list[str]) -> bool:
    definition = command.definition
    texts = [*command.words, definition.name, definition.description, definition.group]
    texts += definition.aliases
    for declared in definition.shown_args:
        texts += (declared.name, declared.description, *declared.choices)
    if definition.click is not None:
        for subcommand in definition.click.subcommands:
            if not subcommand.hidden:
                texts += (*subcommand.words, subcommand.description)

    text = "\n".join(texts).casefold()
    return all(term in text for term in terms)
