"""Words that must name a category or command: the match, or an error with suggestions."""

from __future__ import annotations

import os

from host.cli.session import Session
from host.errors import DefinitionError, UsageError
from host.run.catalog import RESERVED, Catalog, Match
from host.run.command import USUAL_COMMANDS_DIR, Definition, is_word
from host.run.folders import FolderNode
from host.run.suggestions import closest
from host.run.text import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from host.run.catalog import AnyNode

    Words = tuple[str, ...]

# The key of a declared command of `self` for the words that people type instead of its own.
_SYNONYMS = "x-synonyms"
_ALIKE_ELSEWHERE = 0.75  # the share of letters in common for a name in another category
_MOST = 3  # suggestions
_MOST_FOLDERS = 2000  # folders that are searched; reading a small one takes about 20 µs


def find_whole(session: Session, words: Words) -> Match:
    """Return what all of `words` name; raises UsageError if they name nothing."""
    found = session.find(words)
    rest = words[len(found.words) :]
    if rest:
        raise unknown(session, found, rest)
    return found


def find_command(session: Session, words: Words) -> tuple[Match, Definition]:
    """Return the command that all of `words` name; raises UsageError if they name none."""
    found = find_whole(session, words)
    if found.definition is None or not found.definition.entrypoint:
        what = f"{' '.join(words) or 'the root'} is a category"
        raise UsageError(what, "name one of its commands")
    return found, found.definition


def unknown(
    session: Session, found: Match, rest: Sequence[str], topics: Iterable[str] = ()
) -> UsageError:
    """Return the error for a word that names nothing in `found`, with suggestions.

    The error names a folder of that name and why it is no command. `topics` are those of `help`.
    """
    where = " ".join([session.program, *found.words])
    word = rest[0]
    if word.startswith("-"):
        return UsageError(f"unknown option {word} of {where}", f"see: {where} --help")
    problems = [*session.catalog.problems]
    # A category may hold a hundred thousand commands, so only names are read.
    names = [name for node in found.nodes for name in node.inside()]
    problems += [problem for node in found.nodes for problem in node.problems]
    folders = [os.path.join(directory, word) for directory in found.directories]
    folders += [one.path for one in session.catalog.problems]
    for problem in problems:  # one of them may be the reason
        if {*names} <= {RESERVED} or problem.path in folders:
            session.messages.warn(problem)
    installation = session.installation
    if installation.config.commands_dir != USUAL_COMMANDS_DIR and not os.path.isdir(
        installation.commands_dir
    ):
        config = installation.layout.config_file
        session.messages.warn(f'{config}: "commands_dir": there is no {installation.commands_dir}')
    kind = "command" if found.words else "category"
    inside = f" in {' '.join(found.words)}" if found.words else ""
    what = f"unknown {kind} {word or EMPTY}{inside}"
    owner = session.lock.disabled_owner([*found.words, word])
    if owner:
        return UsageError(what, f"plugin {owner} is disabled")
    refused = _refused(found, word)
    if refused:
        return UsageError(what, refused)
    meant = _suggestions(session, found, word, names)
    if not (meant or found.words):
        meant = [("help",) for _ in closest(word, ["help"])]
    meant += [("help", one) for one in closest(word, topics)]
    return _with_suggestions(what, where, [(session.program, *words) for words in meant])


def _refused(found: Match, word: str) -> str:
    """Return why the folder or file of that name is no command, "" if there is none."""
    for directory in found.directories if is_word(word) else ():
        path = os.path.join(directory, word)
        if os.path.isdir(path):
            return f"{path} holds no command.json that makes it a command"
    for node in found.nodes:
        for path, reason in node.refused(word) if isinstance(node, FolderNode) else ():
            return f"{path} is not a command: {reason}"
    return ""


def unknown_own_word(session: Session, catalog: Catalog, category: Match, word: str) -> UsageError:
    """Return the error for a word that `self`, or a category in it, does not have."""
    inside, _ = catalog.children(category)
    names = [one.words[-1] for one in inside if one.definition and not one.definition.hidden]
    meant = _with_synonym(catalog, (*category.words[1:], word))
    meant = meant or [(*category.words, one) for one in closest(word, names)]
    where = " ".join([session.program, *category.words])
    what = f"unknown command {word or EMPTY} in {' '.join(category.words)}"
    return _with_suggestions(what, where, [(session.program, *words) for words in meant])


def _with_suggestions(what: str, where: str, lines: Iterable[Words]) -> UsageError:
    return UsageError(what, f"see: {where} --help", suggestions=map(" ".join, lines))


def _suggestions(session: Session, found: Match, word: str, names: Iterable[str]) -> list[Words]:
    """Return the commands and categories that `word`, behind `found`, may mean.

    The same name elsewhere comes first, then similar `names` in this category, another program's
    word for a command of `self`, and similar names elsewhere.
    """
    elsewhere = [*dict.fromkeys(_elsewhere(session, found))] if is_word(word) else []

    def named(alike: float) -> list[Words]:
        near = closest(word, {words[-1] for words in elsewhere}, alike)
        return _listed(session, [words for one in near for words in elsewhere if words[-1] == one])

    return (
        named(1)
        or _listed(session, [(*found.words, one) for one in closest(word, names)])
        or (_with_synonym(session.catalog, (word,)) if not found.words else [])
        or named(_ALIKE_ELSEWHERE)
    )


def _with_synonym(catalog: Catalog, words: Words) -> list[Words]:
    """Return the command of `self` that has `words` among its synonyms, if there is one."""
    pending = [catalog.find((RESERVED,))]
    for category in pending:  # grows during the walk
        for one in catalog.children(category)[0]:
            if one.kind == "category":
                pending.append(one)
            elif one.definition and " ".join(words) in one.definition.extra.get(_SYNONYMS, ()):
                return [one.words]
    return []


def _elsewhere(session: Session, found: Match) -> Iterator[Words]:
    """Yield the words of everything outside `found`, the upper ones first.

    Reads names of folders only, no definitions.
    """
    pending: list[tuple[Words, AnyNode]] = [((), node) for node in session.catalog.find(()).nodes]
    for words, node in pending:  # grows during the walk
        for name, inner in node.inside().items():
            if words != found.words:
                yield (*words, name)
            if len(pending) < _MOST_FOLDERS:
                pending.append(((*words, name), inner))


def _listed(session: Session, meant: Iterable[Words]) -> list[Words]:
    return [words for words in meant if _is_listed(session, words)][:_MOST]


def _is_listed(session: Session, words: Words) -> bool:
    """Return whether listings show what `words` name."""
    try:
        found = session.find(words)
    except DefinitionError:
        return False
    definition = found.definition
    if found.words != words:
        return words == ("help",)
    if found.kind == "command" and definition is not None:
        return definition.compatible and not definition.hidden
    return found.kind == "category" and any(node.holds_commands() for node in found.nodes)
