"""`self edit`."""

import os
import re
from collections.abc import Mapping

from builtin_plugins.self_commands.decorator import WORDS, argument, self_command
from host import DefinitionError, MissingError, OperationError, find_program
from host.catalog.catalog import Match
from host.session.lookup import find_whole
from host.session.session import Session

_EDITORS = ("vi", "nano")
# A program, not words of the shell.
_PLAIN = re.compile(r"(?!(exec|command)$)[A-Za-z0-9_./+-]+")


@self_command(
    "edit",
    "Open a command's script in your editor",
    WORDS,
    argument("--definition", "Open the command.json instead of the script."),
)
def edit(session: Session, words: tuple[str, ...], definition: bool) -> None:
    """Open a command's script, or a category's category.json, in your editor.

    The editor is the first of $VISUAL and $EDITOR that is set; the default is vi, or nano if
    there is no vi.
    """
    path = _file(session, words, definition=definition)
    editor = _editor(session.environ)
    if not editor:
        first, *_ = _EDITORS
        what = f"there is no editor: $VISUAL and $EDITOR are not set, and no {first} is on PATH"
        raise OperationError(what, f"set EDITOR, or open {path} yourself")
    _check_editor(editor, path, session.environ)

    # The shell splits the editor's command line, as git does.
    argv = ["sh", "-c", f'{editor} "$@"', editor, path]
    os.execvpe("sh", argv, dict(session.environ))


def _editor(environ: Mapping[str, str]) -> str:
    """Return the command line of the user's editor, or "" if there is none."""
    for variable in ("VISUAL", "EDITOR"):
        if environ.get(variable):
            return environ[variable]

    for name in _EDITORS:
        if find_program(name, environ):
            return name
    return ""


def _check_editor(editor: str, path: str, environ: Mapping[str, str]) -> None:
    """Raise MissingError if the program of the editor's command line is not there.

    A command line that only a shell understands is left to the shell.
    """
    words = editor.split()
    if not words or not _PLAIN.fullmatch(words[0]):
        return

    program = words[0]
    if not find_program(program, environ):
        what = f"there is no editor {program}, which $VISUAL or $EDITOR names"
        raise MissingError(what, f"set EDITOR, or open {path} yourself")


def _file(session: Session, words: tuple[str, ...], *, definition: bool) -> str:
    """Return the file to open; for an invalid definition, the file that contains it."""
    try:
        match = find_whole(session, words)
    except DefinitionError as wrong:
        # The user may want to correct just this file.
        session.messages.warn(wrong.problem)
        return wrong.problem.path

    path = ""
    if match.kind == "command" and not definition:
        path = _script_of(match)
    if not path and match.definition is not None:
        path = match.definition.file
    if not path and match.kind == "category":
        path = _category_file(match)

    if not path:
        raise OperationError(f"{' '.join(words)} has no file that can be edited")
    return path


def _script_of(match: Match) -> str:
    """Return the path of a command's script, or "" for a command in Python, which has none."""
    command = match.definition
    if command is None or command.in_python:
        return ""
    if not command.entrypoint:
        return ""
    return os.path.join(command.directory, command.entrypoint)


def _category_file(match: Match) -> str:
    """Return the first category.json of a category, which several directories may have."""
    for directory in match.directories:
        path = os.path.join(directory, "category.json")
        if os.path.isfile(path):
            return path
    return ""
