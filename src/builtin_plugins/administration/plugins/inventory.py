"""All plugins for `list` and `show`: registry, directories and distributions combined."""

import os
from collections.abc import Sequence
from typing import Any

from builtin_plugins.administration.plugins.reconcile import reconcile_if_free
from builtin_plugins.plugins_folder import directory
from builtin_plugins.plugins_folder.registry import Entry, effective_registry
from host import Record, SourceError, UsageError, masked_text
from host.cli.session import Session
from host.run.catalog import Catalog
from host.run.dotenv import read_env_text
from host.run.lock import Lock, Plugin, Tree
from host.run.suggestions import closest
from host.run.text import EMPTY


class Row(Record):
    """One plugin: its entry (made up if the registry has none), its state and the reason.

    `state` is enabled, disabled, missing or broken. `root` is its directory, "" for a
    distribution. `points` are the names of its entry points, which listings and warnings use.
    `own` has its commands. `hooks` are the names of the hooks that it implements.
    """

    entry: Entry
    state: str
    reason: str = ""
    root: str = ""
    points: Sequence[str] = ()
    own: Lock = Lock([])
    hooks: Sequence[str] = ()

    @property
    def state_shown(self) -> str:
        return f"{self.state}, pinned" if self.entry.pinned else self.state

    @property
    def words(self) -> list[str]:
        """Return the first words of its commands."""
        catalog = Catalog(self.own)
        return sorted(one.words[0] for one in catalog.children(catalog.find(()))[0])

    def described(self) -> dict[str, Any]:
        """Return the plugin as the JSON listing shows it."""
        from host.cli.contents import contents  # imported here because only JSON needs it

        commands = contents(Catalog(self.own), (), deep=True).commands
        fields = self.entry.fields()
        del fields["versions"], fields["removing"]
        return {
            **fields,
            "source": masked_text(self.entry.source) or None,
            "state": self.state,
            "reason": self.reason or None,
            "path": os.path.realpath(self.root) if self.root else None,
            "commands": sorted(" ".join(one.words) for one in commands),
            "implements": list(self.hooks),
        }


def inventory(session: Session, *, python: bool = True) -> list[Row]:
    """Return all plugins, those of the registry first; no code of a directory plugin is run.

    Without `python`, no code of a package is run either; rows may then lack commands and reasons.
    """
    plugins_dir = session.installation.plugins_dir
    reconcile_if_free(plugins_dir)
    lock = session.plugins_known if python else session.lock_on_disk
    lock = lock or session.ask_plugins(python=False)
    registry = effective_registry(plugins_dir)
    session.messages.warn(*registry.problems)
    directories = {
        one.entry.name: one for one in directory.find_directory_plugins(plugins_dir, registry)
    }
    known = {one.project: one for one in lock.plugins.values() if one.reference and not one.ours}
    others = [Entry(name, "pip", version=known[name].version) for name in sorted(known)]
    entries = {**registry.entries}
    for one in [*(plugin.entry for plugin in directories.values()), *others]:
        entries.setdefault(one.name, one)
    restore = f"{session.program} self plugin sync"
    return [_row(one, directories.get(one.name), lock, restore) for one in entries.values()]


def find_row(rows: list[Row], name: str) -> Row | None:
    """Return the plugin with that name or with an entry point of that name; None if none has it."""
    exact = [row for row in rows if row.entry.name == name]
    return next(iter([*exact, *(row for row in rows if name in row.points)]), None)


def named_row(session: Session, name: str, rows: list[Row] | None = None) -> Row:
    """Return the plugin of that name; without `rows`, no plugin's code is run to find it.

    Raises UsageError with the nearest names if there is no such plugin.
    """
    rows = inventory(session, python=False) if rows is None else rows
    row = find_row(rows, name)
    if row is not None:
        return row
    near = closest(name, [row.entry.name for row in rows])
    see = f"see: {session.program} self plugin list"
    hint = f"did you mean {' or '.join(near)}?" if near else see
    raise UsageError(f"there is no plugin {name or EMPTY}", hint)


def kept_versions(plugins_dir: str, entry: Entry) -> list[Entry]:
    """Return the kept versions of a plugin, oldest first, including the current one."""
    store = directory.store_of(plugins_dir, entry.name)
    found = (directory.recorded(store.path(version)) for version in entry.versions)
    return [one for one in found if one is not None]


def _row(entry: Entry, plugin: directory.DirectoryPlugin | None, lock: Lock, restore: str) -> Row:
    """Return the row of a plugin; `restore` is the command that brings missing files back."""
    known, own = plugins_of(lock, entry), declarations(lock, entry)[0]
    reasons = [one.broken for one in known if one.broken]
    names = [one.name for one in known]
    for path in [file for one in lock.sources if one.plugin in names for file in one.files]:
        try:
            read_env_text(path)
        except SourceError as failure:
            reasons.append(failure.what)
    is_here = bool(plugin or (known and entry.is_package))
    if plugin:
        entry = plugin.entry
        own = own.replaced(trees=[Tree(plugin.tree, scripts=plugin.scripts)] if plugin.tree else [])
    elif is_here:
        entry = entry.replaced(version=known[0].version)
    elif entry.is_package:  # only then imported: this takes 35 ms
        from builtin_plugins.administration.program.environment import distributions

        version = distributions.installed_version(entry.name)
        is_here, entry = version is not None, entry.replaced(version=version or entry.version)
    state = "enabled" if entry.enabled else "disabled"
    if reasons:
        state = "broken"
    elif not is_here:
        remedy = "" if entry.is_local else f"; restore them with: {restore}"
        state, reasons = "missing", [f"its files are missing{remedy}"]
    return Row(
        entry,
        state,
        "; ".join(reasons),
        plugin.root if plugin else "",
        points=names,
        own=own,
        hooks=[hook for one in known for hook in one.hooks],
    )


def plugins_of(lock: Lock, entry: Entry) -> list[Plugin]:
    """Return the entry points of a distribution, or the hooks file of a directory plugin."""
    found = lock.plugins.values()
    if entry.is_package:
        return [one for one in found if one.reference and one.project == entry.name]
    return [one for one in found if not one.reference and one.name == entry.name]


def declarations(lock: Lock, entry: Entry) -> tuple[Lock, Lock]:
    """Return the declarations of the plugin, and those of all others."""
    known = plugins_of(lock, entry)
    names = {one.name for one in known} if entry.is_package else {entry.name}
    places = {path for one in known for path in one.trees}
    trees: tuple[list[Tree], list[Tree]] = ([], [])
    for tree in lock.trees:
        is_own = tree.path in places or tree.plugin in names
        trees[not is_own].append(tree)
    return (
        Lock(trees[0], [one for one in lock.commands if one.plugin in names]),
        Lock(trees[1], [one for one in lock.commands if one.plugin not in names]),
    )
