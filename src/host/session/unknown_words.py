"""The error for words that name no command or category, with suggestions."""

from __future__ import annotations

from host.catalog.catalog import Match
from host.catalog.command_files import FolderNode
from host.errors import UsageError
from host.lock.lock import Lock
from host.session.session import Session
from host.suggestions import closest
from host.text import EMPTY
from host.words import SELF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from host.listing import Command

Words = tuple[str, ...]

# The key in a `self` command's definition for its synonyms, such as `install` for `plugin add`.
_SYNONYMS = "x-synonyms"
# minimum similarity (0 to 1) to suggest a name from another category
_ALIKE_ELSEWHERE = 0.75
_MOST = 3  # suggestions


def unknown_word(
    session: Session, place: Match, rest: Sequence[str], topics: Iterable[str] = ()
) -> UsageError:
    """Return the error for a word that names nothing in `place`, with suggestions.

    `topics` has the `help` topics to suggest.
    """
    word = rest[0]
    _warn_of_problems(session, place, word)

    # A known reason is better than words that look alike.
    reason = _known_reason(session, place, word)
    if reason:
        return UsageError(_described(place, word), reason)

    inside = session.contents((), deep=True)
    others = _names_of_commands(inside.commands)
    others += [category.words for category in inside.categories]
    others += [("help", topic) for topic in topics]

    lock = session.lock
    default = _default_of(session, place)
    error = unknown_word_in(session.program, lock, place, word, others, default)
    broken = [*_broken_plugins(lock)]
    if not broken:
        return error
    what = "; ".join([_described(place, word), *broken])
    return UsageError(what, suggestions=error.suggestions)


def _broken_plugins(lock: Lock) -> Iterator[str]:
    """Yield the plugins that may have any word, because they cannot be used."""
    for plugin in lock.plugins.values():
        if plugin.broken and plugin.name:
            name = plugin.package or plugin.name
            yield f"the plugin {name} may have it: {plugin.broken}"
        elif plugin.broken:  # the registry cannot be read
            yield plugin.broken


def _names_of_commands(commands: Iterable[Command]) -> list[Words]:
    """Return the words and aliases of the listed commands."""
    names: list[Words] = []
    aliases: list[Words] = []
    for command in commands:
        if not command.definition.is_listed:
            continue
        names.append(command.words)
        for alias in command.definition.aliases:
            aliases.append((*command.words[:-1], alias))

    # An alias runs, too. Of names that are equally similar, a command's own name comes first.
    return names + aliases


def _warn_of_problems(session: Session, place: Match, word: str) -> None:
    """Warn about problems of the whole catalog, and those that explain the unknown word."""
    places: list[str] = []
    for node in place.nodes:
        places += [node.at, f"{node.at}/{word}"]

    _, problems = session.catalog.children(place)
    session.messages.warn(*session.catalog.problems)
    for problem in problems:
        if problem.path in places:
            session.messages.warn(problem)


def _known_reason(session: Session, place: Match, word: str) -> str:
    """Return why `word` is no command, if its plugin or its file says so, or ""."""
    owner = session.lock.disabled_owner([*place.words, word])
    if owner:
        return f"plugin {owner} is disabled"

    for node in place.nodes:
        if isinstance(node, FolderNode):
            for path, reason in node.refused(word):
                return f"{path} is not a command: {reason}"
    return ""


def _default_of(session: Session, category: Match) -> str:
    """Return the word of the category's default command, or ""."""
    if not category.words:
        return ""
    definition = session.find(category.words).definition
    if definition is None:
        return ""
    return definition.default


def unknown_word_in(
    program: str,
    lock: Lock,
    place: Match,
    word: str,
    others: Iterable[Words] = (),
    default: str = "",
) -> UsageError:
    """Return the error for a word that names nothing in `place`, with suggestions.

    The suggestions are `self` commands and some of `others`, the words of other commands,
    categories and help topics. The first of these rules that finds any decides:
    1. unless `place` is the root, `self` commands with the word as a synonym; 2. `self` commands
    with the word as a synonym, and commands with this name in any category; 3. similar names in
    this category; 4. very similar names in any category. The last suggestion is the category's
    `default` command with the word as its argument.
    """
    meant = _meant(lock, place.words, word, others)

    lines = []
    for words in meant[:_MOST]:
        lines.append(" ".join([program, *words]))
    category = " ".join([program, *place.words])
    if default:
        # The user perhaps wants to pass the word to the category's default command.
        lines.append(f"{category} {default} {word}")

    what = _described(place, word)
    return UsageError(what, f"see: {category} --help", suggestions=lines)


def _meant(
    lock: Lock, category: Words, word: str, others: Iterable[Words]
) -> list[Words]:
    """Return what the user probably meant, the most probable first: see `unknown_word_in`."""
    # "plugin install" is a synonym with or without `self` before it.
    whole = " ".join([*category, word])
    typed = whole.removeprefix(f"{SELF} ")
    of_self = []
    synonyms = []
    for command in lock.commands:
        if not command.ours or not command.definition.is_listed:
            continue
        of_self.append(command.words)
        if typed in command.definition.extra.get(_SYNONYMS, ()):
            synonyms.append(command.words)
    if category and synonyms:
        return synonyms

    # Of two equally similar names, the one with fewer words before it is nearer.
    unique = dict.fromkeys([("help",), *others, *of_self])
    every = sorted(unique, key=len)
    in_category = [words for words in every if words[:-1] == category]

    meant = [*synonyms, *_alike(word, every, 1)]
    if not meant:
        meant = _alike(word, in_category)
    if not meant:
        meant = _alike(word, every, _ALIKE_ELSEWHERE)
    return meant


def _alike(word: str, names: Sequence[Words], alike: float = 0) -> list[Words]:
    """Return those of `names` whose last word resembles `word`, the nearest first."""
    by_last_word: dict[str, list[Words]] = {}
    for words in names:
        by_last_word.setdefault(words[-1], []).append(words)

    similar: list[Words] = []
    for last_word in closest(word, by_last_word, alike):
        similar += by_last_word[last_word]
    return similar


def _described(place: Match, word: str) -> str:
    """Return what is unknown."""
    shown = word or EMPTY
    if place.words:
        category = " ".join(place.words)
        return f"unknown command {shown} in {category}"
    return f"unknown command {shown}"
