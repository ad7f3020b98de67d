"""Commands of a plugin whose words another plugin has, and which of the two would run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import takewhile

from builtin_plugins.administration.plugins.contents import PluginContents
from builtin_plugins.administration.plugins.hooks_source import Words
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.environment.copy import VenvCopy, ask, check_starts
from builtin_plugins.plugins_folder.registry import Entry, read_registry, registry_path
from host import Messages, OperationError, PluginError
from host.cli.contents import contents
from host.cli.session import Session
from host.planning.cache_files import write_lock
from host.run.catalog import NOT_CATEGORIES, Catalog
from host.run.installation import Layout
from host.run.lock import Lock, Plugin, Tree, read_lock

_KEY = "copy"


def check_collisions(
    session: Session, entry: Entry, found: PluginContents, *, force: bool = True
) -> None:
    """Warn of each collision of the commands that reading finds in a plugin.

    Words that the plugin has already do not count. The existing command wins (the order of
    precedence is fixed). Raises PluginError without `force`, if the plugin would win, and if its
    Python has the name of another plugin, because only one of a name is asked.
    """
    _check_names(session.plugins_known, entry, found)
    own, others = _parted(session.plugins_known, entry)
    after = others
    if found.manifest.tree:
        tree = Tree(found.manifest.tree, entry.name, scripts=found.manifest.scripts)
        after = Lock(_placed(session, tree, others.trees), others.commands)
    _check(session, entry, set(found.commands) - _words(own), others, after, force=force)


def check_collisions_in_copy(
    session: Session, entry: Entry, tx: Transaction, *, force: bool
) -> None:
    """Check the same for a distribution that is installed in the copy of the environment.

    A process there starts this program and asks the plugins, so what only Python knows counts.
    Raises OperationError if it does not start, PluginError also for a plugin without contents.
    """
    changed = f"with {entry.name}, this program"
    if session.safe:
        check_starts(VenvCopy().python, changed)
        return
    after = _asked(session, tx, f"{changed} does not start")
    own, others = _parted(after, entry)
    points = _points(after, entry)
    for point in points:
        if point.broken:
            session.messages.warn(f"plugin {point.name} is broken: {point.broken}")
    if entry.enabled and not any(point.hooks or point.broken for point in points):
        raise PluginError(f"{entry.name}: holds no command and no hook")
    known, _ = _parted(session.plugins_known, entry)
    _check(session, entry, _words(own) - _words(known), others, after, force=force)


def _check_names(lock: Lock, entry: Entry, found: PluginContents) -> None:
    own = (entry.name,) if found.hooks else ()
    for name in found.names if entry.is_package else own:
        there = lock.plugins.get(name)
        if there is None or there in _points(lock, entry) or (there.file and there.name in own):
            continue
        raise PluginError(
            f"{entry.name}: its plugin {name} has the name of one of {there.distribution}, "
            "and only one of a name works",
            "ask for another name" if there.ours else "remove that one first",
        )


def _check(
    session: Session, entry: Entry, words: set[Words], others: Lock, after: Lock, *, force: bool
) -> None:
    taken = dict(_collisions(words, others, after))
    for line, is_kept in taken.items():
        if not is_kept:
            raise PluginError(
                f"{line}, and that of {entry.name} would be found in its place",
                "disable or remove one of the two plugins",
            )
    if taken and not force:
        more = f" (and {len(taken) - 1} more)" if len(taken) > 1 else ""
        raise PluginError(
            f"{next(iter(taken))}{more}", f"--force adds {entry.name}, the existing one wins"
        )
    for line in taken:
        session.messages.warn(f"{line} and wins")


def _asked(session: Session, tx: Transaction, failing: str) -> Lock:
    place = os.path.join(tx.area, "copy.lock")
    layout = session.layout
    given = (place, layout.program, layout.root, layout.config_file)
    python, environ, seconds = VenvCopy().python, tx.environ, tx.seconds
    ask(python, __name__, *given, failing=failing, environ=environ, seconds=seconds)
    lock = read_lock([place], _KEY)
    if lock is None:
        raise OperationError(failing)
    return lock


def _answer(place: str, program: str, root: str, config_file: str) -> None:
    """Be the child: write to `place` the lock that this program has where it runs now."""
    layout = Layout(program, root, config_file)
    session = Session(layout, os.environ, Messages(program, os.environ), safe=False)
    lock = session.plugins_known
    lock.stamps = {}  # this is an answer, no cache: importing a plugin may write beside it
    write_lock([place], _KEY, lock)


def _collisions(words: set[Words], others: Lock, after: Lock) -> Iterator[tuple[str, bool]]:
    """Yield a line for each command that exists already, and whether it would still be found."""
    before, later = Catalog(others), Catalog(after)
    for one in sorted(words):
        there = before.find(one)
        if there.kind == "command" and there.words == one:
            owner = f"the plugin {there.plugin}" if there.plugin else "commands/"
            found = later.find(one)
            kept = (found.directories, found.plugin) == (there.directories, there.plugin)
            yield f"{' '.join(one)} is a command of {owner} already", kept
        elif one[0] in NOT_CATEGORIES:
            yield f"{' '.join(one)} cannot be called: {one[0]} is reserved", True


def _parted(lock: Lock, entry: Entry) -> tuple[Lock, Lock]:
    """Return the declarations of the plugin, and those of all others."""
    points = _points(lock, entry)
    places = {place for point in points for place in point.trees}
    names = {point.name for point in points} if entry.is_package else {entry.name}

    def is_own(tree: Tree) -> bool:
        return tree.path in places if entry.is_package else tree.plugin in names

    own = [one for one in lock.commands if one.plugin in names]
    others = [one for one in lock.commands if one.plugin not in names]
    return (
        Lock([one for one in lock.trees if is_own(one)], own),
        Lock([one for one in lock.trees if not is_own(one)], others),
    )


def _points(lock: Lock, entry: Entry) -> list[Plugin]:
    return [one for one in lock.plugins.values() if one.reference and one.project == entry.name]


def _words(lock: Lock) -> set[Words]:
    return {one.words for one in contents(Catalog(lock), (), deep=True)[0].commands}


def _placed(session: Session, tree: Tree, trees: list[Tree]) -> list[Tree]:
    """Return `trees` with `tree` at its plugin's place in the registry, else after the last one.

    Directories come before distributions, as everywhere.
    """
    registry = read_registry(registry_path(session.installation.plugins_dir)).entries
    order = [name for name, one in registry.items() if not one.is_package]
    earlier = {"", *takewhile(lambda name: name != tree.plugin, order)}
    before = list(takewhile(lambda one: one.plugin in earlier, trees))
    return [*before, tree, *trees[len(before) :]]


if __name__ == "__main__":
    _answer(*sys.argv[1:])
