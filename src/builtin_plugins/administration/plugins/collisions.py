"""Find the commands that several plugins define, and determine which one runs."""

import os
from collections.abc import Callable, Collection, Mapping

from builtin_plugins.administration.plugins.inventory import declarations
from builtin_plugins.administration.plugins.plugin_contents import PluginContents, Words
from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.plugins_folder.entry import Entry
from host import PluginError
from host.cli.contents import contents
from host.cli.session import Session
from host.run.catalog import RESERVED_WORDS, Catalog, Match
from host.run.lock import Lock


def check_collisions(staged: PluginContents, tx: Transaction, *, force: bool) -> None:
    """Raise PluginError if a command of a staged version collides with an existing command.

    Two commands collide if they have the same words, or if the existing one has only the first
    words of the new one. Commands that this plugin had before are ignored. With `force`, only a
    warning is printed, unless the plugin would replace the existing command. PluginError is always
    raised if another package has an entry point of the same name: only one of them can be loaded.
    Commands that only running code shows come later: see `check_declared_commands`.
    """
    lock, entry = tx.session.lock_without_hooks, staged.entry
    for name in staged.names:
        other = lock.plugins.get(name)
        if other and other.package != entry.name:
            what = f"{entry.name}: {other.distribution} also has an entry point named {name}"
            remove = f"remove {other.distribution} first"
            raise PluginError(what, "ask its author to rename it" if other.ours else remove)
    own, _ = declarations(lock, entry)
    new = {*staged.commands, *staged.declared} - _words(own)
    _refuse_taken(entry, tx, new, force=force)


def check_declared_commands(staged: PluginContents, tx: Transaction, *, force: bool) -> None:
    """Check the commands that a staged package declares in code, as `check_collisions` does.

    This calls the package's hooks, so the user must have agreed to add it. In safe mode, no code is
    run. Raises PluginError if commands collide, or if the package has no contents.
    """
    entry, session = staged.entry, tx.session
    if not entry.is_package or session.safe or not os.path.isdir(tx.files):
        return
    # Imported here: other kinds of plugins need none of these.
    from builtin_plugins.administration.plugins import package_folder
    from host.planning.discovery import query_package
    from host.records import PluginPackage

    folders = tuple(make_source(entry).folders(tx.files))
    points = package_folder.entry_points(package_folder.distributions_in([tx.files]))
    session.make_packages_importable()
    package = PluginPackage(entry.name, folders, tuple(points), entry.under)
    added = query_package(session.installation, package)
    session.messages.warn(*added.warnings(session.program))
    plugins = added.plugins.values()
    if entry.enabled and not any(plugin.hooks or plugin.broken for plugin in plugins):
        raise PluginError(f"{entry.name}: contains no commands and no hooks")
    own, _ = declarations(session.lock_without_hooks, entry)
    _refuse_taken(entry, tx, _words(added) - _words(own), force=force)


def _refuse_taken(entry: Entry, tx: Transaction, new: Collection[Words], *, force: bool) -> None:
    """Raise PluginError if a command of the words `new` exists; with `force`, only warn.

    The registry's order decides, and packages of the program's environment come last. A command of
    a later plugin would be replaced, which is refused even with `force`.
    """
    lock = tx.session.lock_without_hooks
    entries = tx.registry.entries.values()
    names = [known.name for known in entries if not known.is_in_environment]
    earlier = ["", *names[: [*names, entry.name].index(entry.name)]]

    def is_kept(existing: Match) -> bool:
        plugin = _plugin_of(existing)
        owner = lock.plugins.get(plugin)
        return plugin in earlier or (owner is not None and owner.package in earlier)

    _, others = declarations(lock, entry)
    _refuse(tx.session, entry, _taken(new, others, is_kept), force=force)


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
    would still run, as `is_kept` determines. A new command collides, too, with a category of the
    same words, and with an existing command above it, which gets the remaining words as arguments.
    `others` is the lock without this plugin.
    """
    before = Catalog(others)
    taken = {}
    for new in sorted(words):
        existing = before.find(new)
        text = " ".join(new)
        has_same_words = existing.words == new
        if existing.kind == "command" and has_same_words:
            taken[f"{text} is already a command of {_owner(existing)}"] = is_kept(existing)
        elif new[0] in RESERVED_WORDS:
            taken[f"{text} cannot be a command: {new[0]} is reserved"] = True
        elif existing.kind == "category" and has_same_words and _has_commands(existing):
            taken[f"{text} is already a category of {_owner(existing)}"] = is_kept(existing)
        elif existing.kind == "command":
            above = f"{' '.join(existing.words)}, which is already a command of {_owner(existing)}"
            taken[f"{text} would be below {above}"] = is_kept(existing)
    return taken


def _owner(existing: Match) -> str:
    plugin = _plugin_of(existing)
    return f"the plugin {plugin}" if plugin else "commands/"


def _plugin_of(existing: Match) -> str:
    """Return the plugin of a command, or the first plugin with commands in a category, or ""."""
    if existing.kind == "command":
        return existing.plugin
    plugins = (node.tree.plugin for node in existing.nodes if node.holds_commands())
    return next(plugins, "")


def _has_commands(category: Match) -> bool:
    return any(node.holds_commands() for node in category.nodes)


def _words(lock: Lock) -> set[Words]:
    return {command.words for command in contents(Catalog(lock), (), deep=True).commands}
