"""Find the commands that several plugins define, and determine which one runs."""

import os
from collections.abc import Collection, Iterator
from typing import NamedTuple

from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.inventory import declarations
from builtin_plugins.plugins.sources.base import make_source
from builtin_plugins.registry.entry import Entry
from builtin_plugins.registry.version import PluginVersion, Words
from host import PluginError
from host.catalog.catalog import Catalog, Match
from host.catalog.contents import contents
from host.lock.lock import Lock
from host.words import RESERVED_WORDS


def check_collisions(staged: PluginVersion, change: Change, *, force: bool) -> None:
    """Raise PluginError if a command of a staged version collides with an existing command.

    Two commands collide if they have the same words, or if the existing one has only the first
    words of the new one. Commands that this plugin had before are ignored. With `force`, only a
    warning is printed, unless the plugin would replace the existing command. PluginError is always
    raised if another package has an entry point of the same name: only one of them can be loaded.
    Commands that only running code shows come later: see `check_declared_commands`.
    """
    lock = change.session.lock_for_inspection
    entry = staged.entry
    for name in staged.names:
        other = lock.plugins.get(name)
        if other is None:
            continue
        if other.package == entry.name:
            continue

        owner = other.distribution
        what = f"{entry.name}: {owner} also has an entry point named {name}"
        if other.ours:
            raise PluginError(what, "ask its author to rename it")
        raise PluginError(what, f"remove {owner} first")

    former, _ = declarations(lock, entry)
    new = {*staged.commands, *staged.declared} - _words(former)
    _check_words(entry, change, new, force=force)


def check_declared_commands(
    staged: PluginVersion, change: Change, *, force: bool, root: str = ""
) -> None:
    """Check the commands that a package declares in code, as `check_collisions` does.

    The package is staged, or in `root`. This calls its hooks, so the user must have agreed to add
    it. In safe mode, and while it is disabled, none of its code is run: `plugin enable` checks it.
    Raises PluginError if commands collide, or if the package has no contents.
    """
    entry = staged.entry
    session = change.session
    root = root or change.files
    if session.safe or not entry.enabled:
        return
    if not entry.is_package or not os.path.isdir(root):
        return

    added = _query_package(entry, change, root)
    session.messages.warn(*added.warnings(session.program))
    if _is_empty(added):
        raise PluginError(f"{entry.name}: contains no commands and no hooks")

    former, _ = declarations(session.lock_for_inspection, entry)
    new = _words(added) - _words(former)
    _check_words(entry, change, new, force=force)


def _query_package(entry: Entry, change: Change, root: str) -> Lock:
    """Return what the hooks of the package in `root` declare."""
    # Imported here: other kinds of plugins need none of these.
    from builtin_plugins.plugins import package_folder
    from host.lock.discovery import query_package
    from host.records import PluginPackage

    folders = tuple(make_source(entry).folders(root))
    points = package_folder.entry_points(entry.name, root)
    package = PluginPackage(entry.name, folders, points, entry.under)

    change.session.make_packages_importable()
    return query_package(change.session.installation, package)


def _is_empty(added: Lock) -> bool:
    """Return whether the plugins of a package declare nothing."""
    for plugin in added.plugins.values():
        # A broken plugin has been warned about; its hooks are unknown.
        if plugin.hooks or plugin.broken:
            return False
    return True


class _Collision(NamedTuple):
    """A new command that meets an existing one, described by `text`.

    `existing_runs` is True if the existing command would still run.
    """

    text: str
    existing_runs: bool


def _check_words(
    entry: Entry, change: Change, new: Collection[Words], *, force: bool
) -> None:
    """Raise PluginError if a new command of the words `new` collides; with `force`, only warn.

    If an existing command would no longer run, PluginError is raised even with `force`.
    """
    collisions = list(_collisions(entry, change, new))
    for collision in collisions:
        if not collision.existing_runs:
            what = f"{collision.text}; {entry.name} must not replace it"
            raise PluginError(what, "disable or remove one of the two plugins")

    if collisions and not force:
        what = collisions[0].text
        if len(collisions) > 1:
            what += f" (and {len(collisions) - 1} more)"
        remedy = (
            f"--force adds {entry.name} anyway, but the existing command still runs"
        )
        raise PluginError(what, remedy)

    for collision in collisions:
        change.messages.warn(f"{collision.text}; the existing command is used")


def _collisions(
    entry: Entry, change: Change, new: Collection[Words]
) -> Iterator[_Collision]:
    """Yield the collisions of the new commands `new` with existing commands or reserved words.

    A new command collides, too, with a category of the same words, and with an existing command
    above it, which gets the remaining words as arguments.
    """
    lock = change.session.lock_for_inspection
    _, others = declarations(lock, entry)
    before = Catalog(others)
    earlier = _earlier_plugins(entry, change)

    for words in sorted(new):
        existing = before.find(words)
        existing_runs = _is_of(existing, earlier, lock)
        text = " ".join(words)
        is_command = existing.kind == "command"
        has_same_words = existing.words == words

        if is_command and has_same_words:
            text = f"{text} is already a command of {_owner(existing)}"
        elif words[0] in RESERVED_WORDS:
            text = f"{text} cannot be a command: {words[0]} is reserved"
            existing_runs = True  # the program's own command
        elif is_command:
            above = " ".join(existing.words)
            owner = _owner(existing)
            text += f" would be below {above}, which is already a command of {owner}"
        elif has_same_words and _has_commands(existing):
            text = f"{text} is already a category of {_owner(existing)}"
        else:
            continue
        yield _Collision(text, existing_runs)


def _earlier_plugins(entry: Entry, change: Change) -> set[str]:
    """Return the names of the plugins whose commands run instead of those of `entry`.

    The registry's order decides. Packages of the program's environment come last. The name ""
    stands for `commands/`, which comes first.
    """
    earlier = {""}
    for other in change.registry.entries.values():
        if other.name == entry.name and not entry.is_in_environment:
            break
        if not other.is_in_environment:
            earlier.add(other.name)
    return earlier


def _is_of(existing: Match, plugins: Collection[str], lock: Lock) -> bool:
    """Return whether an existing command or category is of one of `plugins`, or of its package."""
    name = _plugin_of(existing)
    if name in plugins:
        return True
    plugin = lock.plugins.get(name)
    if plugin is None:
        return False
    return plugin.package in plugins


def _owner(existing: Match) -> str:
    plugin = _plugin_of(existing)
    if not plugin:
        return "commands/"
    return f"the plugin {plugin}"


def _plugin_of(existing: Match) -> str:
    """Return the plugin of a command, or the first plugin with commands in a category, or ""."""
    if existing.kind == "command":
        return existing.plugin
    for node in existing.nodes:
        if node.holds_commands():
            return node.tree.plugin
    return ""


def _has_commands(category: Match) -> bool:
    return any(node.holds_commands() for node in category.nodes)


def _words(lock: Lock) -> set[Words]:
    commands = contents(Catalog(lock), (), deep=True).commands
    return {command.words for command in commands}
