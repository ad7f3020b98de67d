"""`self list`."""

from __future__ import annotations

import click

from host.cli.pages import listing_text
from host.cli.session import Session
from host.cli.unknown import unknown
from host.errors import UsageError


@click.command
@click.argument("words", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Hidden ones and other systems' too.")
@click.option("--format", default="text", show_default=True, help="text, json, tree or a plugin's.")
@click.pass_obj
def command(session: Session, words: tuple[str, ...], everything: bool, format: str) -> None:
    """List every command below WORDS, or all there are."""
    found = session.find(words)
    rest = words[len(found.words) :]
    if found.kind != "command" and rest:
        raise unknown(session, found, rest)
    if found.kind == "command":
        raise UsageError(f"{' '.join(found.words)} is a command", "name a category, or nothing")
    session.show(listing_text(session, found, format, everything=everything, deep=True))
