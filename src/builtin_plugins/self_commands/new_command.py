"""`self new command` and `self new category`: among the installation's own, working at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from builtin_plugins.self_commands.scripts import (
    SCRIPTS,
    category_files,
    command_files,
    shown_name,
)
from builtin_plugins.self_commands.staged import write_directory
from host import OperationError, UsageError
from host.cli.session import Session
from host.run.definition import is_word
from host.run.lock import NOT_CATEGORIES

_BASH = "bash"


@click.command
@click.argument("words", nargs=-1)
@click.option("--lang", type=click.Choice(list(SCRIPTS)), help="What its script is written in.")
@click.option("--description", help="What it is for, in a line.")
@click.pass_obj
def new_command(
    session: Session, words: tuple[str, ...], lang: str | None, description: str | None
) -> None:
    """Make the command WORDS, with a script that runs; its categories too.

    What is not given is asked for on a terminal; elsewhere it is bash.
    """
    words = words or _asked_words("words of the command, such as: team hello")
    if len(words) < 2:
        raise UsageError(
            f"{words[0]}: a command has a category and a word of its own",
            f"write them apart, such as: {session.program} self new command team hello",
        )
    _check(session, words)
    lang = lang or _asked("language", _BASH, list(SCRIPTS))
    description = (
        _asked("what it is for", f"What {words[-1]} does") if description is None else (description)
    )
    _make(session, words, command_files(words[-1], lang, description))
    called = " ".join([session.program, *words])
    session.show_lines(
        f"try it:     {called}",
        f"its help:   {session.program} help {' '.join(words)}",
        f"change it:  {session.program} self edit {' '.join(words)}",
    )


@click.command
@click.argument("words", nargs=-1)
@click.option("--description", help="What it is for, in a line.")
@click.pass_obj
def new_category(session: Session, words: tuple[str, ...], description: str | None) -> None:
    """Make the category WORDS, for commands to come."""
    words = words or _asked_words("words of the category, such as: team")
    _check(session, words)
    description = (
        _asked("what it is for", f"What {words[-1]} is for")
        if description is None
        else (description)
    )
    _make(session, words, category_files(words[-1], description))
    session.show_lines(f"next:  {session.program} self new command {' '.join(words)} hello")


def _check(session: Session, words: tuple[str, ...]) -> None:
    """Raise UsageError or OperationError unless `words` can become something new."""
    for word in words:
        if not is_word(word):
            raise UsageError(
                f"{word}: no word for a command or a category", "use letters, digits and ._-"
            )
    if words[0] in NOT_CATEGORIES:
        raise UsageError(f"{words[0]}: is this program's own word", "choose another one")
    for count in range(1, len(words) + 1):
        found = session.find(words[:count])
        if found.kind == "command" and len(found.words) == count:
            raise OperationError(
                f"{' '.join(words[:count])} is a command already",
                f"see: {session.program} self which {' '.join(words[:count])}",
            )


def _make(session: Session, words: tuple[str, ...], files: dict[str, object]) -> None:
    """Write the files below the commands' directory, with categories that are missing."""
    at = Path(session.installation.commands_dir)
    made: dict[str, object] = {}
    left = list(words)
    while len(left) > 1 and (at / left[0]).is_dir():
        at /= left.pop(0)
    target = at / left[0]
    if os.path.lexists(target):
        raise OperationError(f"{target}: is there already", "choose other words, or remove it")
    for depth in range(len(left) - 1):
        inside = "/".join(left[1 : depth + 1])
        about = f"What {shown_name(left[depth])} is for"
        for name, content in category_files(left[depth], about).items():
            made[f"{inside}/{name}" if inside else name] = content
    inside = "/".join(left[1:])
    made |= {f"{inside}/{name}" if inside else name: content for name, content in files.items()}
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_directory(target, made)
    except OSError as failure:
        raise OperationError(f"{failure.filename or target}: {failure.strerror}") from None
    session.show_lines("made", *(f"  {target}/{name}" for name in sorted(made)))


def _is_attended() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _asked_words(label: str) -> tuple[str, ...]:
    if not _is_attended():
        raise UsageError("which words? name them, such as: team hello")
    return tuple(str(click.prompt(label, err=True)).split())


def _asked(label: str, usual: str, choices: list[str] | None = None) -> str:
    """Return the answer of somebody at a terminal; without one, the usual one."""
    if not _is_attended():
        return usual
    kind = click.Choice(choices) if choices else str
    return str(click.prompt(label, default=usual, type=kind, err=True))
