"""Words that must name something: what they name, or the error with the nearest names."""

from __future__ import annotations

import os
from itertools import chain, islice

from host.cli.session import Session
from host.errors import DefinitionError, Problem, UsageError
from host.run.catalog import RESERVED, Catalog, Match, Node
from host.run.definition import USUAL_COMMANDS_DIR, Definition, is_word
from host.run.misspelt import nearest
from host.run.text import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Words = tuple[str, ...]

_ALIKE_ELSEWHERE = 0.75  # how alike a name in another category must be to be suggested
_MOST = 3  # suggestions
_MOST_FOLDERS = 2000  # whose names are looked at; a small one takes some 20 µs

# What other programs call what `self` does, and how they start a command.
# Words of `self` by what people type instead, at the top or behind `self`.
_SELF_VERBS = {
    **dict.fromkeys(["ls", "commands", "all", "tasks"], "list"),
    **dict.fromkeys(["find", "grep", "lookup"], "search"),
    **dict.fromkeys(["upgrade", "selfupdate", "self-update"], "update"),
    **dict.fromkeys(["create", "generate", "scaffold", "make"], "new command"),
    **dict.fromkeys(["check", "diagnose", "status", "health", "fix"], "doctor"),
    **dict.fromkeys(["validate", "fmt", "format"], "lint"),
    **dict.fromkeys(["where", "whereis", "path", "type"], "which"),
    **dict.fromkeys(["config", "paths", "about", "show"], "info"),
    **dict.fromkeys(["vars", "variables", "environment", "settings"], "env"),
    **dict.fromkeys(["install", "add"], "plugin add"),
    **dict.fromkeys(["remove", "rm"], "plugin remove"),
    "plugins": "plugin list",
    "sync": "plugin sync",
    "open": "edit",
    "completions": "completion",
    "setup": "init",
    "delete": "uninstall",
}
# By the words of the category; those behind them.
_OWN_VERBS = {
    ("self",): _SELF_VERBS,
    ("self", "new"): {
        **dict.fromkeys(["task", "script"], "command"),
        "group": "category",
        "package": "plugin",
    },
    ("self", "plugin"): {
        **dict.fromkeys(["install", "get", "link", "new"], "add"),
        **dict.fromkeys(["rm", "uninstall", "delete", "del", "unlink"], "remove"),
        **dict.fromkeys(["info", "view"], "show"),
        **dict.fromkeys(["revert", "downgrade"], "rollback"),
        "ls": "list",
        "upgrade": "update",
    },
}
# Before the words of a command elsewhere; here the words alone run it.
_RUN_VERBS = frozenset(["run", "exec", "execute", "x", "task", "start", "do"])


def find_whole(session: Session, words: tuple[str, ...]) -> Match:
    """Return what all of `words` name; raises UsageError when they name nothing."""
    found = session.find(words)
    rest = words[len(found.words) :]
    if rest:
        raise unknown(session, found, rest)
    return found


def find_command(session: Session, words: tuple[str, ...]) -> tuple[Match, Definition]:
    """Return the command that all of `words` name; raises UsageError when they name none."""
    found = find_whole(session, words)
    if found.definition is None or not found.definition.entrypoint:
        what = f"{' '.join(words) or 'the root'} is a category"
        raise UsageError(what, "name one of its commands")
    return found, found.definition


def unknown(
    session: Session, found: Match, rest: Sequence[str], topics: Iterable[str] = ()
) -> UsageError:
    """Return the error for a word that names nothing, with the nearest names.

    Where there is a folder of that name, what keeps it from being a command is said, too.
    `topics` are what `help` explains besides.
    """
    where = " ".join([session.program, *found.words])
    word = rest[0]
    if word.startswith("-"):
        return UsageError(f"unknown option {word} of {where}", f"see: {where} --help")
    problems: list[Problem] = []
    # Perhaps a hundred thousand, so only names are read.
    names = [name for node in found.nodes for name in node.tree.words(node.at, problems)]
    folders = [os.path.join(directory, word) for directory in found.directories]
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
    for directory in found.directories if is_word(word) else ():
        path = os.path.join(directory, word)
        if os.path.isdir(path):
            return UsageError(what, f"{path} holds no command.json that makes it a command")
    meant = _suggestions(session, found, rest, names)
    meant += [("help", one) for one in nearest(word, topics)]
    if not meant:
        return UsageError(what, f"see: {where} --help")
    return UsageError(what, suggestions=[" ".join([session.program, *words]) for words in meant])


def unknown_own_word(session: Session, catalog: Catalog, category: Match, word: str) -> UsageError:
    """Return the error for a word that `self`, or a category in it, does not have."""
    inside, _ = catalog.children(category)
    names = [one.words[-1] for one in inside if one.definition and not one.definition.hidden]
    verbs = _OWN_VERBS.get(category.words, {})
    near = [verbs[word]] if word in verbs else nearest(word, names)
    where = " ".join([session.program, *category.words])
    what = f"unknown command {word or EMPTY} in {' '.join(category.words)}"
    if not near:
        return UsageError(what, f"see: {where} --help")
    return UsageError(what, suggestions=[f"{where} {one}" for one in near])


def _suggestions(
    session: Session, found: Match, rest: Sequence[str], names: Iterable[str]
) -> list[Words]:
    """Return the words of commands and categories that the first of `rest` may mean.

    It stands behind `found`. What other programs have for it comes first where nothing is
    called so, then those called exactly so in other categories, then the nearest of
    `names`, which are what is there; only where there are none, near names elsewhere.
    """
    word = rest[0]
    here = [(*found.words, one) for one in nearest(word, names)]
    elsewhere = _elsewhere(session, found) if is_word(word) else {}
    exact = [
        (*words, one)
        for words, there in elsewhere.items()
        for one in there
        if one.lower() == word.lower()
    ]
    verbs = [] if exact or found.words else _verbs(session, rest)
    meant = verbs or _listed(session, [*exact, *here])
    if not meant:
        all_names = chain.from_iterable(elsewhere.values())
        near = nearest(word, all_names, alike=_ALIKE_ELSEWHERE)
        places = [(words, one) for one in near for words in elsewhere if one in elsewhere[words]]
        meant = _listed(session, [(*words, one) for words, one in places])
    return meant


def _verbs(session: Session, rest: Sequence[str]) -> list[Words]:
    """Return what the words at the top are where they are another program's."""
    if rest[0] in _RUN_VERBS and rest[1:]:
        named = session.find(tuple(rest[1:]))
        return [named.words] if named.kind == "command" else []
    if rest[0] in _OWN_VERBS[RESERVED,]:
        return [(RESERVED, *_OWN_VERBS[RESERVED,][rest[0]].split())]
    return [("help",)] if nearest(rest[0], ["help"]) else []


def _elsewhere(session: Session, found: Match) -> dict[Words, dict[str, None]]:
    """Return the names in categories other than `found`, under the words of each.

    Reads names of directories only, no definitions, the upper ones first.
    """
    names: dict[Words, dict[str, None]] = {}
    pending: list[tuple[Words, Node]] = [((), node) for node in session.catalog.find(()).nodes]
    for words, node in pending:  # grows during the walk
        there = node.tree.words(node.at)
        if words != found.words:
            names.setdefault(words, {}).update(dict.fromkeys(there))
        for name in there[: max(0, _MOST_FOLDERS - len(pending))]:
            inner = node.enter(name)
            if inner and (words or name != RESERVED or not node.tree.root):  # no folder is `self`
                pending.append(((*words, name), inner))
    names.get((), {}).pop(RESERVED, None)
    return names


def _listed(session: Session, meant: Iterable[Words]) -> list[Words]:
    return list(islice((words for words in meant if _is_listed(session, words)), _MOST))


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
    return found.kind == "category" and any(node.holds_commands() for node in found.nodes)
