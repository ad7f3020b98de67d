"""Words that must name something: what they name, or the error with the nearest names."""

from __future__ import annotations

import os

from host.cli.session import Session
from host.cli.suggestions import suggestions
from host.errors import UsageError
from host.run.definition import USUAL_COMMANDS_DIR, Definition, is_word
from host.run.locate import RESERVED, Found, roots
from host.run.misspelt import nearest
from host.run.text import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


def find_whole(session: Session, words: tuple[str, ...]) -> Found:
    """Return what all of `words` name; raises UsageError when they name nothing."""
    found = session.find(words)
    rest = words[len(found.words) :]
    if found.kind == "unknown" or rest:
        raise unknown(session, found, rest)
    return found


def find_command(session: Session, words: tuple[str, ...]) -> tuple[Found, Definition]:
    """Return the command that all of `words` name; raises UsageError when they name none."""
    found = find_whole(session, words)
    if found.definition is None or not found.definition.entrypoint:
        what = f"{' '.join(words) or 'the root'} is a category"
        raise UsageError(what, "name one of its commands")
    return found, found.definition


def unknown(
    session: Session, found: Found, rest: Sequence[str], topics: Iterable[str] = ()
) -> UsageError:
    """Return the error for a word that names nothing, with the nearest names.

    Where there is a folder of that name, what keeps it from being a command is said, too.
    `topics` are what `help` explains besides.
    """
    where = " ".join([session.program, *found.words])
    word = rest[0]
    if word.startswith("-"):
        return UsageError(f"unknown option {word} of {where}", f"see: {where} --help")
    told: list[str] = []
    # A hundred thousand at times, so names alone are looked at.
    names = [name for place in found.places for name in place.finder.words(place.at, told.append)]
    for text in told:  # what is wrong here may be why
        if {*names} <= {RESERVED} or text.startswith(
            tuple(f"{place.at}/{word}" for place in found.places)
        ):
            session.messages.warn(text)
    installation = session.installation
    if installation.config.commands_dir != USUAL_COMMANDS_DIR and not os.path.isdir(
        installation.commands_dir
    ):
        config = installation.layout.config_file
        session.messages.warn(f'{config}: "commands_dir": there is no {installation.commands_dir}')
    kind = "command" if found.words else "category"
    inside = f" in {' '.join(found.words)}" if found.words else ""
    what = f"unknown {kind} {word or EMPTY}{inside}"
    for place in roots(session.lock.trees) if is_word(word) else ():
        remark = place.finder.remark(place.at, "/".join([*found.words, word]))
        if remark:
            return UsageError(what, remark)
    meant = suggestions(session, found, rest, names)
    meant += [("help", one) for one in nearest(word, topics)]
    if not meant:
        return UsageError(what, f"see: {where} --help")
    return UsageError(what, suggestions=[" ".join([session.program, *words]) for words in meant])


def unknown_word(
    word: str, where: str, names: Iterable[str], meant: Mapping[str, str]
) -> UsageError:
    """Return the error for a word that none of `names` is, in the category that `where` calls.

    `meant` has what other programs call them.
    """
    near = [meant[word]] if word in meant else nearest(word, names)
    what = f"unknown command {word or EMPTY} in {where.partition(' ')[2]}"
    if not near:
        return UsageError(what, f"see: {where} --help")
    return UsageError(what, suggestions=[f"{where} {one}" for one in near])
