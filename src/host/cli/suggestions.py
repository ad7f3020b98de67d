"""What a word that names nothing may mean, anywhere in the tree; bounded in time."""

from __future__ import annotations

import time

from host.cli.verbs import RUN_VERBS, SELF_VERBS
from host.errors import DefinitionError
from host.run.definition import is_word
from host.run.locate import Found, Place, roots
from host.run.lock import RESERVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from host.cli.session import Session

    Words = tuple[str, ...]

_NEAR = 0.6  # how alike a name must be to be suggested
_NEAR_ELSEWHERE = 0.75  # the same for a name in another category
_MOST = 3  # names in a suggestion
_PATIENCE = 0.1  # seconds for each of: comparing names, looking through the tree
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_."


def suggestions(
    session: Session, found: Found, rest: Sequence[str], names: Collection[str]
) -> list[Words]:
    """Return the words of commands and categories that the first of `rest` may mean.

    It stands behind `found`. What other programs have for it comes first where nothing is
    called so, then those called exactly so in other categories, then the nearest of
    `names`, which are what is there; only where there are none, near names elsewhere.
    """
    word = rest[0]
    here = [(*found.words, one) for one in nearest(word, names)]
    elsewhere = _elsewhere(session, found, word) if is_word(word) else {}
    exact = [words for words in elsewhere.get(word.lower(), ()) if words not in here]
    verbs = [] if exact or found.words else _verbs(session, rest)
    meant = [one for one in [*exact, *here] if _is_listed(session, one)]
    meant = verbs or meant[:_MOST]
    if not meant:
        near = nearest(word, elsewhere, cutoff=_NEAR_ELSEWHERE)
        all_near = (words for name in near for words in elsewhere[name])
        meant = [one for one in all_near if _is_listed(session, one)][:_MOST]
    return meant


def _verbs(session: Session, rest: Sequence[str]) -> list[Words]:
    """Return what the words at the top are where they are another program's."""
    if rest[0] in RUN_VERBS and rest[1:]:
        named = session.find(tuple(rest[1:]))
        return [named.words] if named.kind == "command" else []
    if rest[0] in SELF_VERBS:
        return [(RESERVED, *SELF_VERBS[rest[0]].split())]
    return [("help",)] if nearest(rest[0], ["help"]) else []


def nearest(word: str, names: Iterable[str], *, cutoff: float = _NEAR) -> list[str]:
    """Return the names most like `word`, whatever the case of its letters, at most three.

    One slip is found among any number of names; for others no longer is looked than `_PATIENCE`.
    """
    by_letters = {name.lower(): name for name in names}
    wanted = word.lower()
    if wanted in by_letters:
        return [by_letters[wanted]]
    if len(by_letters) <= len(wanted) * len(_LETTERS) or not wanted:
        alike = _alike(wanted, by_letters, cutoff)
        if not alike and len(wanted) == 2:  # one slip is half of it
            alike = sorted(by_letters.keys() & _slips(wanted), key=lambda one: one != wanted[::-1])
        return [by_letters[one] for one in alike[:_MOST]]
    slips = sorted({one for one in _slips(wanted) if one in by_letters})
    return [by_letters[one] for one in slips[:_MOST] or _alike(wanted, by_letters, cutoff)]


def _alike(wanted: str, names: Iterable[str], cutoff: float) -> list[str]:
    """Return the most alike by difflib's measure, of those compared before time is up."""
    import difflib

    until = time.monotonic() + _PATIENCE
    matcher = difflib.SequenceMatcher(b=wanted)
    found = []
    for count, name in enumerate(names):
        if abs(len(name) - len(wanted)) >= len(wanted):
            continue
        matcher.set_seq1(name)
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff:
            ratio = matcher.ratio()
            if ratio >= cutoff:
                found.append((-ratio, sorted(name) != sorted(wanted), name))
        if count % 64 == 63 and time.monotonic() > until:
            break
    return [name for *_, name in sorted(found)[:_MOST]]


def _slips(word: str) -> Iterator[str]:
    """Yield what `word` may be with a letter too many, changed, missing or wrong."""
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in _LETTERS:
            yield head + letter + tail
            yield head + letter + tail[1:]


def _elsewhere(session: Session, found: Found, word: str) -> dict[str, list[Words]]:
    """Return the words in all categories under their last one, of names about as long.

    Reads names of directories only, no definitions, until time is up; those of `found` are read.
    """
    reached: dict[str, list[Words]] = {}

    def add(words: Words) -> None:
        name = words[-1].lower()
        if abs(len(name) - len(word)) <= 2 and words not in reached.get(name, ()):
            reached.setdefault(name, []).append(words)

    for one in session.lock.commands:
        add(one.words)
    until = time.monotonic() + _PATIENCE
    listed = {place.at: place.finder for place in found.places}
    pending: list[tuple[Words, Place]] = [((), place) for place in roots(session.lock.trees)]
    for words, place in pending:  # grows while it is looked through
        if time.monotonic() > until:
            break
        for name, at in listed.get(place.at, place.finder).inner(place.at):
            if time.monotonic() > until:  # also in the midst of a large category
                return reached
            if words or name != RESERVED:
                if words != found.words:  # those here are compared already
                    add((*words, name))
                pending.append(((*words, name), Place(place.tree, place.finder, at)))
    return reached


def _is_listed(session: Session, words: Words) -> bool:
    """Tell whether listings show what `words` name."""
    try:
        found = session.find(words)
    except DefinitionError:
        return False
    definition = found.definition
    if found.words != words:
        return False
    if found.kind == "command" and definition is not None:
        return definition.compatible and not definition.hidden
    declared = any(one.words[: len(words)] == words for one in session.lock.commands)
    holds = declared or any(place.holds_commands() for place in found.places)
    return found.kind == "category" and holds
