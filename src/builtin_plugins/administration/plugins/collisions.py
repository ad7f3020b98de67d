"""Find the commands that several plugins define, and determine which one runs."""

import json
import os
import sys
from collections.abc import Callable, Collection, Mapping

from builtin_plugins.administration.plugins.inventory import declarations, plugins_of
from builtin_plugins.administration.plugins.plugin_contents import PluginContents, Words
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.venv.copy import check_starts, run_python
from builtin_plugins.plugins_folder.registry import Entry, effective_registry
from host import Messages, OperationError, PluginError
from host.cli.contents import contents
from host.cli.session import Session
from host.run.catalog import RESERVED_WORDS, Catalog, Match
from host.run.installation import Layout
from host.run.lock import Lock


def check_collisions(session: Session, found: PluginContents, *, force: bool) -> None:
    """Raise PluginError if a command in `found` collides with an existing command.

    Two commands collide if they have the same words, or if the existing one has only the first
    words of the new one. Commands that this plugin had before are ignored. With `force`, only a
    warning is printed, unless the plugin would replace the existing command. PluginError is always
    raised if another package has an entry point of the same name: only one of them can be loaded.
    """
    lock, entry = session.lock_without_hooks, found.entry
    for name in found.names:
        there = lock.plugins.get(name)
        if there and there.package != entry.name:
            what = f"{entry.name}: {there.distribution} also has an entry point named {name}"
            remove = f"remove {there.distribution} first"
            raise PluginError(what, "ask its author to rename it" if there.ours else remove)
    own, others = declarations(lock, entry)
    entries = effective_registry(session.installation.plugins_dir).entries.values()
    names = [one.name for one in entries if not one.is_package]
    earlier = ["", *names[: [*names, entry.name].index(entry.name)]]

    def is_kept(there: Match) -> bool:  # packages are checked later, in a copy of the environment
        return entry.is_package or there.plugin in earlier

    new = {*found.commands, *found.declared} - _words(own)
    _refuse(session, entry, _taken(new, others, is_kept), force=force)


def check_collisions_in_copy(entry: Entry, python: str, tx: Transaction, *, force: bool) -> None:
    """Check a package as `check_collisions` does, in an environment copy that contains the package.

    A process of `python`, the interpreter in the copy, starts this program and calls the plugins'
    hooks, so commands that only Python code declares are included. Raises OperationError if the
    process does not start, and PluginError if commands collide or if the plugin has no contents.
    """
    session = tx.session
    changed = f"this program with {entry.name}"
    if session.safe:
        check_starts(python, changed)
        return
    layout, failing = session.layout, f"{changed} does not start"
    known = sorted(_words(declarations(session.lock_without_hooks, entry)[0]))
    given = json.dumps([layout.program, layout.root, layout.config_file, entry.name, known])
    environ, seconds = session.environ, tx.seconds
    printed = run_python(
        python, __name__, given=given, failing=failing, environ=environ, seconds=seconds
    )
    try:  # code that Python runs at startup may print before the result
        has_contents, warnings, taken = json.loads(printed.rpartition("\n")[2])
    except ValueError:
        raise OperationError(failing) from None
    session.messages.warn(*warnings)
    if entry.enabled and not has_contents:
        raise PluginError(f"{entry.name}: contains no commands and no hooks")
    _refuse(session, entry, taken, force=force)


def _answer() -> None:
    """Print the collisions of the package named on stdin, for `check_collisions_in_copy`."""
    program, root, config_file, name, known = json.load(sys.stdin)
    layout, messages = Layout(program, root, config_file), Messages(program, os.environ)
    lock = Session(layout, os.environ, messages, safe=False).lock_without_hooks
    entry = Entry(name, "pip")
    (own, others), after = declarations(lock, entry), Catalog(lock)

    def is_kept(there: Match) -> bool:
        found = after.find(there.words)
        return (found.directories, found.plugin) == (there.directories, there.plugin)

    taken = _taken(_words(own).difference(map(tuple, known)), others, is_kept)
    points = plugins_of(lock, entry)
    has_contents = any(one.hooks or one.broken for one in points)
    warnings = Lock([], plugins={one.name: one for one in points}).warnings(program)
    print(json.dumps([has_contents, warnings, taken]))  # noqa: T201 - the answer


def _refuse(session: Session, entry: Entry, taken: Mapping[str, bool], *, force: bool) -> None:
    """Raise PluginError if commands of a plugin already exist; with `force`, only warn.

    `taken` is the result of `_taken`. If an existing command would no longer run, PluginError is
    raised even with `force`.
    """
    for line, is_kept in taken.items():
        if not is_kept:
            raise PluginError(
                f"{line}; {entry.name} must not replace it",
                "disable or remove one of the two plugins",
            )
    if taken and not force:
        more = f" (and {len(taken) - 1} more)" if len(taken) > 1 else ""
        raise PluginError(
            f"{next(iter(taken))}{more}",
            f"--force adds {entry.name} anyway, but the existing command still runs",
        )
    for line in taken:
        session.messages.warn(f"{line}; the existing command is used")


def _taken(
    words: Collection[Words], others: Lock, is_kept: Callable[[Match], bool]
) -> dict[str, bool]:
    """Return the collisions of the new commands `words` with existing commands or reserved words.

    A key is the line of text that describes a collision. Its value is True if the existing command
    would still run, as `is_kept` determines. A new command below an existing one collides, too,
    because the existing one gets the remaining words as arguments. `others` is the lock without
    this plugin.
    """
    before, taken = Catalog(others), {}
    for one in sorted(words):
        there, text = before.find(one), " ".join(one)
        if there.kind == "command" and there.words == one:
            taken[f"{text} is already a command of {_owner(there)}"] = is_kept(there)
        elif one[0] in RESERVED_WORDS:
            taken[f"{text} cannot be a command: {one[0]} is reserved"] = True
        elif there.kind == "command":
            above = f"{' '.join(there.words)}, which is already a command of {_owner(there)}"
            taken[f"{text} would be below {above}"] = is_kept(there)
    return taken


def _owner(there: Match) -> str:
    return f"the plugin {there.plugin}" if there.plugin else "commands/"


def _words(lock: Lock) -> set[Words]:
    return {one.words for one in contents(Catalog(lock), (), deep=True).commands}


if __name__ == "__main__":
    _answer()
