"""`self edit`."""

from __future__ import annotations

import os
import shlex

from host import DefinitionError, OperationError, UsageError, find_program, is_word
from host.cli.session import Session
from host.cli.unknown_words import find_whole

_USUAL = ("editor", "nano", "vi")


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
        argv = [one for one in _USUAL if find_program(one, session.environ)][:1]
    if not argv:
        raise OperationError("no editor is set", f"set EDITOR, or open {path} yourself")
    try:
        os.execvpe(argv[0], [*argv, path], dict(session.environ))
    except OSError as failure:
        raise OperationError(
            f"{argv[0]}: {failure.strerror}", "set VISUAL or EDITOR to an editor that is there"
        ) from None


def _file(session: Session, words: tuple[str, ...], *, definition: bool) -> str:
    try:
        found = find_whole(session, words)
    except DefinitionError as wrong:  # it is opened to be mended
        session.messages.warn(wrong.what)
        file = _definition_file(session, words)
        if not file:
            raise
        return file
    if found.plugin and not found.dev:
        session.messages.warn(
            f"{' '.join(words)} is of the plugin {found.plugin}: its next update undoes changes"
        )
    told = found.definition
    file = (told.file if told else "") or _definition_file(session, words)
    if not file:
        raise OperationError(f"{' '.join(words)}: has no file of its own to edit")
    if told is None or definition or found.kind == "category" or told.in_python:
        return file
    return os.path.join(os.path.dirname(file), told.entrypoint)


def _definition_file(session: Session, words: tuple[str, ...]) -> str:
    """Return the definition in the folder that `words` spell, right or wrong; "" for none."""
    folders = [os.path.join(tree.path, *words) for tree in session.lock.trees]
    names = ("command.json", "category.json")
    files = [os.path.join(folder, name) for folder in folders for name in names]
    return next(filter(os.path.isfile, files if all(map(is_word, words)) else ()), "")
