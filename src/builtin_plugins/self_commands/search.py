"""`self search`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from host import Command
from host.cli.listing import select
from host.cli.pages import rendered
from host.cli.session import Session
from host.errors import OperationError


@click.command
@click.argument("text", nargs=-1, required=True)
@click.option("--all", "everything", is_flag=True, help="Hidden ones and other systems' too.")
@click.option("--format", default="text", show_default=True, help="text, json, tree or a plugin's.")
@click.pass_obj
def command(session: Session, text: tuple[str, ...], everything: bool, format: str) -> None:
    """List the commands that have TEXT in their words, names, descriptions, groups or arguments.

    Of several words each must be there somewhere; the case of letters makes no difference.
    """
    wanted = [word.casefold() for word in text]
    inside = select(session.contents((), deep=True), everything=everything)
    commands = tuple(one for one in inside.commands if _has(one, wanted))
    if not commands:
        raise OperationError(
            f"no command has {' and '.join(text)} in its words, name, description, group or "
            "arguments",
            f"see: {session.program} self list",
        )
    holding = {one.words[:count] for one in commands for count in range(1, len(one.words))}
    categories = tuple(one for one in inside.categories if one.words in holding)
    found = inside.replaced(categories=categories, commands=commands)
    session.show(rendered(session, session.find(()), found, format, deep=True))


def _has(command: Command, wanted: list[str]) -> bool:
    said = "\n".join(_texts(command)).casefold()
    return all(word in said for word in wanted)


def _texts(command: Command) -> Iterator[str]:
    definition = command.definition
    yield " ".join(command.words)
    yield from (definition.name, definition.description, definition.group, *definition.aliases)
    for argument in definition.args:
        yield from (argument.name, argument.description, *argument.choices)
