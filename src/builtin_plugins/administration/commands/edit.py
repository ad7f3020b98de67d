"""`self edit`."""

import os
import re
from collections.abc import Mapping

from builtin_plugins.administration.declared import WORDS, argument, self_command
from host import DefinitionError, MissingError, OperationError, find_program
from host.cli.lookup import find_whole
from host.cli.session import Session

_EDITORS = ("vi", "nano")
_PLAIN = re.compile(
    r"(?!(exec|command)$)[A-Za-z0-9_./+-]+"
)  # a program, not words of the shell


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
    editor = session.environ.get("VISUAL") or session.environ.get("EDITOR")
    if not editor:
        editor = next(
            (name for name in _EDITORS if find_program(name, session.environ)), None
        )
    if not editor:
        what = (
            f"there is no editor: $VISUAL and $EDITOR are not set, and no "
            f"{_EDITORS[0]} is on PATH"
        )
        raise OperationError(what, f"set EDITOR, or open {path} yourself")
    _check_editor(editor, path, session.environ)
    # The shell splits the editor's command line, as git does.
    os.execvpe(
        "sh", ["sh", "-c", f'{editor} "$@"', editor, path], dict(session.environ)
    )


def _check_editor(editor: str, path: str, environ: Mapping[str, str]) -> None:
    """Raise MissingError if the program of the editor's command line is not there.

    A command line that only a shell understands is left to the shell.
    """
    program = [*editor.split(), ""][0]
    if _PLAIN.fullmatch(program) and not find_program(program, environ):
        what = f"there is no editor {program}, which $VISUAL or $EDITOR names"
        raise MissingError(what, f"set EDITOR, or open {path} yourself")


def _file(session: Session, words: tuple[str, ...], *, definition: bool) -> str:
    """Return the file to open; for an invalid definition, the file that contains it."""
    try:
        match = find_whole(session, words)
    except DefinitionError as wrong:
        session.messages.warn(wrong.problem)
        return wrong.problem.path
    chosen = match.definition
    file = chosen.file if chosen else ""
    has_script = chosen is not None and chosen.entrypoint != "" and not chosen.in_python
    if match.kind == "command" and chosen and has_script and not definition:
        return os.path.join(chosen.directory, chosen.entrypoint)
    if match.kind == "category":
        files = (
            os.path.join(directory, "category.json") for directory in match.directories
        )
        file = file or next(filter(os.path.isfile, files), "")
    if not file:
        raise OperationError(f"{' '.join(words)} has no file that can be edited")
    return file
