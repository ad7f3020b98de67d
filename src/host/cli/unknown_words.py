"""The error for words that name no command or category, with suggestions."""

from __future__ import annotations

from host.cli.session import Session
from host.errors import UsageError
from host.run.catalog import Match
from host.run.command_files import FolderNode
from host.run.lock import Lock
from host.run.plugin import Plugin
from host.run.suggestions import closest
from host.run.text import EMPTY
from host.run.words import SELF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

Words = tuple[str, ...]

# The key in a `self` command's definition for its synonyms, such as `install` for `plugin add`.
_SYNONYMS = "x-synonyms"
# minimum similarity (0 to 1) to suggest a name from another category
_ALIKE_ELSEWHERE = 0.75
_MOST = 3  # suggestions


def unknown_word(
    session: Session, found: Match, rest: Sequence[str], topics: Iterable[str] = ()
) -> UsageError:
    """Return the error for a word that names nothing in `found`, with suggestions.

    `topics` has the `help` topics to suggest.
    """
    word = rest[0]
    _, problems = session.catalog.children(found)
    places: list[str] = []  # what a problem that explains the unknown word is about
    for node in found.nodes:
        places += [node.at, f"{node.at}/{word}"]
    reasons = [problem for problem in problems if problem.path in places]
    session.messages.warn(*session.catalog.problems, *reasons)

    owner = session.lock.disabled_owner([*found.words, word])
    if owner:
        return UsageError(_described(found, word), f"plugin {owner} is disabled")
    broken = None if found.words else session.lock.broken_owner(word)
    if broken is not None:
        remedy = f"the plugin {broken.package or broken.name} has it: {broken.broken}"
        return UsageError(_described(found, word), remedy)
    for node in found.nodes:
        refused = node.refused(word) if isinstance(node, FolderNode) else []
        for path, reason in refused:
            return UsageError(
                _described(found, word), f"{path} is not a command: {reason}"
            )

    inside = session.contents((), deep=True)
    commands: list[Words] = []
    aliases: list[Words] = []
    for command in inside.commands:
        if command.definition.is_listed:
            commands.append(command.words)
            aliases += [
                (*command.words[:-1], alias) for alias in command.definition.aliases
            ]
    categories = [category.words for category in inside.categories]
    others = [*commands, *aliases, *categories, *(("help", topic) for topic in topics)]
    definition = session.find(found.words).definition if found.words else None
    default = definition.default if definition else ""
    error = unknown_word_in(
        session.program, session.lock, found, word, others, commands, default
    )
    if error.suggestions:
        return error
    remedies = [
        f"the plugin {plugin.name} may have it: {plugin.broken}"
        for plugin in session.lock.plugins.values()
        if plugin.missing and _may_have(session.lock, plugin, found.words)
    ]
    return (
        UsageError(_described(found, word), "; ".join(remedies)) if remedies else error
    )


def _may_have(lock: Lock, plugin: Plugin, category: Words) -> bool:
    """Return whether a plugin may have had a further word in `category`.

    Nothing is recorded for a plugin that an earlier version of this program added.
    """
    recorded = lock.recorded.get(plugin.name, ())
    return category[0] in recorded if category and recorded else not recorded


def unknown_word_in(
    program: str,
    lock: Lock,
    found: Match,
    word: str,
    others: Iterable[Words] = (),
    commands: Collection[Words] = (),
    default: str = "",
) -> UsageError:
    """Return the error for a word that names nothing in `found`, with suggestions.

    The suggestions are `self` commands and some of `others`, the words of other commands,
    categories and help topics; `commands` are those of `others` that run. The first of these rules
    that finds any decides:
    1. unless `found` is the root, `self` commands with the word as a synonym; 2. `self` commands
    with the word as a synonym, and commands with this name in any category; 3. similar names in
    this category; 4. very similar names in any category. The last suggestion is the category's
    `default` command with the word as its argument.
    """
    typed = " ".join([*found.words, word]).removeprefix(f"{SELF} ")
    of_self = []
    synonyms = []
    for command in lock.commands:
        if command.ours and command.definition.is_listed:
            of_self.append(command.words)
            if typed in command.definition.extra.get(_SYNONYMS, ()):
                synonyms.append(command.words)
    every = sorted(dict.fromkeys([("help",), *others, *of_self]), key=len)
    in_category = [words for words in every if words[:-1] == found.words]

    meant: list[Words] = synonyms if found.words else []
    if not meant:
        meant = [*synonyms, *_alike(word, every, 1)]
    if not meant:
        meant = _alike(word, in_category)
    if not meant:
        meant = _alike(word, every, _ALIKE_ELSEWHERE)

    see = f"see: {' '.join([program, *found.words])} --help"
    lines = [" ".join([program, *words]) for words in meant[:_MOST]]
    if default:
        # The user perhaps wants to pass the word to the category's default command.
        lines.append(" ".join([program, *found.words, default, word]))
    at_root = [words for words in commands if len(words) == 1]
    is_command = bool(meant) and meant[0] in at_root
    return UsageError(
        _described(found, word, is_command=is_command), see, suggestions=lines
    )


def _alike(word: str, names: Sequence[Words], alike: float = 0) -> list[Words]:
    """Return those of `names` whose last word resembles `word`, the nearest first."""
    similar: list[Words] = []
    for name in closest(word, dict.fromkeys(words[-1] for words in names), alike):
        similar += [words for words in names if words[-1] == name]
    return similar


def _described(found: Match, word: str, *, is_command: bool = False) -> str:
    """Return what is unknown; at the root, a category unless a command was probably meant."""
    if found.words:
        return f"unknown command {word or EMPTY} in {' '.join(found.words)}"
    return f"unknown {'command' if is_command else 'category'} {word or EMPTY}"
