"""The error for words that name no command or category, with suggestions."""

from __future__ import annotations

from host.cli.session import Session
from host.errors import UsageError
from host.run.catalog import SELF, Match
from host.run.command_files import FolderNode
from host.run.lock import Lock
from host.run.plugin import Plugin
from host.run.suggestions import closest
from host.run.text import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

Words = tuple[str, ...]

# The key in a `self` command's definition for its synonyms, such as `install` for `plugin add`.
_SYNONYMS = "x-synonyms"
_ALIKE_ELSEWHERE = 0.75  # minimum similarity (0 to 1) to suggest a name from another category
_MOST = 3  # suggestions


def unknown_word(
    session: Session, found: Match, rest: Sequence[str], topics: Iterable[str] = ()
) -> UsageError:
    """Return the error for a word that names nothing in `found`, with suggestions.

    `topics` has the `help` topics to suggest.
    """
    word = rest[0]
    _, problems = session.catalog.children(found)
    places = [place for node in found.nodes for place in (node.at, f"{node.at}/{word}")]
    reasons = [one for one in problems if one.path in places]  # why the word may be unknown
    session.messages.warn(*session.catalog.problems, *reasons)
    if owner := session.lock.disabled_owner([*found.words, word]):
        return UsageError(_described(found, word), f"plugin {owner} is disabled")
    if not found.words and (broken := session.lock.broken_owner(word)):
        remedy = f"the plugin {broken.package or broken.name} has it: {broken.broken}"
        return UsageError(_described(found, word), remedy)
    for node in found.nodes:
        for path, reason in node.refused(word) if isinstance(node, FolderNode) else ():
            return UsageError(_described(found, word), f"{path} is not a command: {reason}")
    inside = session.contents((), deep=True)
    listed = [one for one in inside.commands if one.definition.is_listed]
    others = [one.words for one in listed]
    others += [(*one.words[:-1], name) for one in listed for name in one.definition.aliases]
    others += [one.words for one in inside.categories]
    others += [("help", one) for one in topics]
    category = session.find(found.words).definition if found.words else None
    default = category.default if category else ""
    commands = [one.words for one in listed]
    error = unknown_word_in(session.program, session.lock, found, word, others, commands, default)
    if error.suggestions:
        return error
    remedies = [
        f"the plugin {plugin.name} may have it: {plugin.broken}"
        for plugin in session.lock.plugins.values()
        if plugin.missing and _may_have(session.lock, plugin, found.words)
    ]
    return UsageError(_described(found, word), "; ".join(remedies)) if remedies else error


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
    own = [one for one in lock.commands if one.ours and one.definition.is_listed]
    every = sorted(dict.fromkeys([("help",), *others, *(one.words for one in own)]), key=len)
    here = [words for words in every if words[:-1] == found.words]
    behind = " ".join([*found.words, word]).removeprefix(f"{SELF} ")
    synonyms = [one.words for one in own if behind in one.definition.extra.get(_SYNONYMS, ())]
    meant = (
        (synonyms if found.words else [])
        or [*synonyms, *_alike(word, every, 1)]
        or _alike(word, here)
        or _alike(word, every, _ALIKE_ELSEWHERE)
    )
    see = f"see: {' '.join([program, *found.words])} --help"
    lines = [" ".join([program, *words]) for words in meant[:_MOST]]
    if default:
        # The user perhaps wants to pass the word to the category's default command.
        lines.append(" ".join([program, *found.words, default, word]))
    at_root = [words for words in commands if len(words) == 1]
    is_command = bool(meant) and meant[0] in at_root
    return UsageError(_described(found, word, is_command=is_command), see, suggestions=lines)


def _alike(word: str, names: Sequence[Words], alike: float = 0) -> list[Words]:
    """Return those of `names` whose last word resembles `word`, the nearest first."""
    near = closest(word, dict.fromkeys(words[-1] for words in names), alike)
    return [words for one in near for words in names if words[-1] == one]


def _described(found: Match, word: str, *, is_command: bool = False) -> str:
    """Return what is unknown; at the root, a category unless a command was probably meant."""
    if found.words:
        return f"unknown command {word or EMPTY} in {' '.join(found.words)}"
    return f"unknown {'command' if is_command else 'category'} {word or EMPTY}"
