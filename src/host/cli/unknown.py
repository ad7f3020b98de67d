"""Words that must name something: what they name, or the error with the nearest names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from host.cli.session import Session
from host.errors import UsageError
from host.run.definition import USUAL_COMMANDS_DIR, Definition, is_word
from host.run.locate import Found
from host.run.lock import RESERVED

_NEAR = 0.6  # how alike a name must be to be suggested
EMPTY = '""'  # how a word without letters is shown
_MOST = 3  # names in a suggestion


def find_command(session: Session, words: tuple[str, ...]) -> tuple[Found, Definition]:
    """Return the command that all of `words` name; raises UsageError when they name none."""
    found = session.find(words)
    rest = words[len(found.words) :]
    if found.kind == "unknown" or rest:
        raise unknown(session, found, rest)
    if found.definition is None or not found.definition.entrypoint:
        raise UsageError(f"{' '.join(words)} is a category; name one of its commands")
    return found, found.definition


def unknown(session: Session, found: Found, rest: Sequence[str]) -> UsageError:
    """Return the error for a word that names nothing, with the nearest names.

    Where there is a folder of that name, what keeps it from being a command is said, too.
    """
    from host.cli.catalog import contents
    from host.cli.rows import select

    where = " ".join([session.program, *found.words])
    word = rest[0]
    if word.startswith("-"):
        return UsageError(f"unknown option {word} of {where}; see: {where} --help")
    told: list[str] = []
    inside = select(contents(found.words, session.lock, told.append), everything=False)
    names = [one.words[-1] for one in inside.categories]
    names += [one.words[-1] for one in inside.commands]
    folders = [os.path.join(directory, word) for directory in found.directories]
    for text in told:  # what is wrong here may be why
        if set(names) <= {RESERVED} or text.startswith(tuple(folders)):
            session.messages.warn(text)
    places = session.places
    if places.config.commands_dir != USUAL_COMMANDS_DIR and not os.path.isdir(places.commands_dir):
        config = places.layout.config_file
        session.messages.warn(f'{config}: "commands_dir": there is no {places.commands_dir}')
    kind = "command" if found.words else "category"
    near = nearest(word, names)
    hint = f"did you mean {near}?" if near else f"see: {where} --help"
    for folder in filter(os.path.isdir, folders if is_word(word) else ()):
        hint = f"{folder} holds no command.json that makes it a command"
    place = f" in {' '.join(found.words)}" if found.words else ""
    return UsageError(f"unknown {kind} {word or EMPTY}{place}; {hint}")


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the names most like `word`, whatever the case of its letters: "one or another"."""
    import difflib

    by_letters = {name.lower(): name for name in names}
    found = difflib.get_close_matches(word.lower(), by_letters, n=_MOST, cutoff=_NEAR)
    return " or ".join(by_letters[one] for one in found)
