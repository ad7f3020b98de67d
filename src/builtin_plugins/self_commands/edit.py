"""`self edit`."""

from __future__ import annotations

import os
import shlex
import shutil

import click

from host import OperationError, UsageError
from host.cli.session import Session
from host.cli.unknown import unknown

_USUAL = ("editor", "nano", "vi")


@click.command
@click.argument("words", nargs=-1, required=True)
@click.option("--definition", is_flag=True, help="Its command.json, not its script.")
@click.pass_obj
def command(session: Session, words: tuple[str, ...], definition: bool) -> None:
    """Open the script of the command WORDS in your editor; of a category its category.json.

    The editor is VISUAL, else EDITOR, else one that is there.
    """
    path = _file(session, words, definition=definition)
    editor = session.environ.get("VISUAL") or session.environ.get("EDITOR")
    try:
        argv = shlex.split(editor or "")
    except ValueError:
        raise UsageError(f"VISUAL or EDITOR is {editor}: a quote is not closed") from None
    if not argv:
        search = session.environ.get("PATH")
        argv = [one for one in _USUAL if shutil.which(one, path=search)][:1]
    if not argv:
        raise OperationError("no editor is set", f"set EDITOR, or open {path} yourself")
    try:
        os.execvpe(argv[0], [*argv, path], dict(session.environ))
    except OSError as failure:
        raise OperationError(
            f"{argv[0]}: {failure.strerror}", "set VISUAL or EDITOR to an editor that is there"
        ) from None


def _file(session: Session, words: tuple[str, ...], *, definition: bool) -> str:
    found = session.find(words)
    if found.kind == "unknown" or len(found.words) < len(words):
        raise unknown(session, found, words[len(found.words) :])
    if found.plugin and not found.dev:
        session.messages.warn(
            f"{' '.join(words)} is of the plugin {found.plugin}: its next update undoes changes"
        )
    told = found.definition
    if told is None or not told.file:
        raise OperationError(f"{' '.join(words)}: has no file of its own to edit")
    if definition or found.kind == "category" or told.in_python:
        return told.file
    return os.path.join(os.path.dirname(told.file), told.entrypoint)
