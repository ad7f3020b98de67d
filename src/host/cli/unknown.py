"""Words that must name something: what they name, or the error with the nearest names."""

from __future__ import annotations

import os

from host.cli.session import Session
from host.errors import DefinitionError, UsageError
from host.run.definition import USUAL_COMMANDS_DIR, Definition, is_word
from host.run.locate import Found, roots
from host.run.lock import RESERVED, Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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
    where = " ".join([session.program, *found.words])
    word = rest[0]
    if word.startswith("-"):
        return UsageError(f"unknown option {word} of {where}; see: {where} --help")
    told: list[str] = []
    names = _words_in(session.lock, found, told.append)
    for text in told:  # what is wrong here may be why
        if names <= {RESERVED} or text.startswith(
            tuple(f"{place.at}/{word}" for place in found.places)
        ):
            session.messages.warn(text)
    places = session.places
    if places.config.commands_dir != USUAL_COMMANDS_DIR and not os.path.isdir(places.commands_dir):
        config = places.layout.config_file
        session.messages.warn(f'{config}: "commands_dir": there is no {places.commands_dir}')
    kind = "command" if found.words else "category"
    near = [one for one in nearest(word, names) if _is_listed(session, (*found.words, one))]
    hint = f"did you mean {' or '.join(near)}?" if near else f"see: {where} --help"
    for place in roots(session.lock.trees) if is_word(word) else ():
        hint = place.finder.remark(place.at, "/".join([*found.words, word])) or hint
    inside = f" in {' '.join(found.words)}" if found.words else ""
    return UsageError(f"unknown {kind} {word or EMPTY}{inside}; {hint}")


def _words_in(lock: Lock, found: Found, tell: Callable[[str], None]) -> set[str]:
    """Return the words below a category, from names alone: there may be a hundred thousand."""
    depth = len(found.words)
    words = {one.words[depth] for one in lock.commands if one.words[:depth] == found.words[:depth]}
    for place in found.places:
        words |= {word for word, _ in place.finder.inner(place.at, tell)}
    return words


def _is_listed(session: Session, words: tuple[str, ...]) -> bool:
    """Tell whether listings show what `words` name."""
    try:
        found = session.find(words)
    except DefinitionError:
        return False
    definition = found.definition
    if found.kind == "command" and definition is not None:
        return definition.compatible and not definition.hidden
    return found.kind == "category"


def nearest(word: str, names: Iterable[str]) -> list[str]:
    """Return the names most like `word`, whatever the case of its letters, at most three."""
    import difflib

    by_letters = {name.lower(): name for name in names if abs(len(name) - len(word)) < len(word)}
    found = difflib.get_close_matches(word.lower(), by_letters, n=_MOST, cutoff=_NEAR)
    return [by_letters[one] for one in found]
