"""All plugins for `list` and `show`: registry, directories and distributions combined."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from builtin_plugins.administration.plugins.reconcile import reconcile_if_free
from builtin_plugins.plugins_folder.directory import (
    DirectoryPlugin,
    find_directory_plugins,
    recorded,
    store_of,
)
from builtin_plugins.plugins_folder.registry import Entry, effective_registry
from host import Record, UsageError, masked_text
from host.cli.session import Session
from host.run.catalog import Catalog
from host.run.lock import Lock, Plugin, Tree
from host.run.suggestions import closest
from host.run.text import EMPTY


class Row(Record):
    """One plugin: its entry (made up if the registry has none), its state and the reason.

    `state` is enabled, disabled, missing or broken. `root` is its directory, "" for a
    distribution. `points` are the names of a distribution's entry points, which listings and
    warnings use. `own` has its commands; `hooks` are those that it implements.
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
        """Return the row of the JSON listing."""
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


def inventory(session: Session) -> list[Row]:
    """Return all plugins, those of the registry first; no code of a directory plugin is run."""
    plugins_dir = session.installation.plugins_dir
    reconcile_if_free(plugins_dir)
    lock, program = session.plugins_known, session.program
    registry = effective_registry(plugins_dir)
    if registry.damage:
        session.messages.warn(registry.damage)
    directories = {one.entry.name: one for one in find_directory_plugins(plugins_dir, registry)}
    known = {one.project: one for one in lock.plugins.values() if one.reference and not one.ours}
    others = [Entry(name, "pip", version=known[name].version) for name in sorted(known)]
    entries = {**registry.entries}
    for one in [*(plugin.entry for plugin in directories.values()), *others]:
        entries.setdefault(one.name, one)
    return [
        _distribution_row(one, lock, program)
        if one.is_package
        else _directory_row(one, directories.get(one.name), lock, program)
        for one in entries.values()
    ]


def find_row(rows: list[Row], name: str) -> Row | None:
    """Return the plugin of that name, or of an entry point with that name; None for no plugin."""
    exact = [row for row in rows if row.entry.name == name]
    return next(iter([*exact, *(row for row in rows if name in row.points)]), None)


def named_row(session: Session, name: str, rows: list[Row] | None = None) -> Row:
    """Return the plugin of that name; raises UsageError with the nearest names if there is none."""
    rows = inventory(session) if rows is None else rows
    row = find_row(rows, name)
    if row is not None:
        return row
    near = closest(name, [row.entry.name for row in rows])
    see = f"see: {session.program} self plugin list"
    hint = f"did you mean {' or '.join(near)}?" if near else see
    raise UsageError(f"there is no plugin {name or EMPTY}", hint)


def kept_versions(plugins_dir: str, entry: Entry) -> list[Entry]:
    """Return the kept versions of a plugin, oldest first, the current one among them."""
    store = store_of(plugins_dir, entry.name)
    found = (recorded(store.path(version)) for version in entry.versions)
    return [one for one in found if one is not None]


def _directory_row(entry: Entry, plugin: DirectoryPlugin | None, lock: Lock, program: str) -> Row:
    if plugin is None:
        reason = f"its files are missing; restore them with: {program} self plugin sync"
        if entry.is_local:
            what, remove = entry.source or f"plugins/{entry.name}", f"{program} self plugin remove"
            reason = f"{what} is missing; restore it, or: {remove} {entry.name}"
        return Row(entry, "missing", reason)
    known, entry = lock.plugins.get(entry.name), plugin.entry
    reason = str(plugin.problem or (known.broken if known else ""))
    if not reason and not os.path.isdir(plugin.tree):
        reason = f"there is no directory {plugin.tree}"
    return Row(
        entry,
        "broken" if reason else _switched(entry),
        reason,
        plugin.root,
        own=Lock(
            [Tree(plugin.tree, scripts=plugin.scripts)] if plugin.tree else [],
            declarations(lock, entry)[0].commands,
        ),
        hooks=list(known.hooks) if known and entry.hooks else (),
    )


def _switched(entry: Entry) -> str:
    return "enabled" if entry.enabled else "disabled"


def points_of(lock: Lock, entry: Entry) -> list[Plugin]:
    """Return the plugins of a distribution: its entry points."""
    return [one for one in lock.plugins.values() if one.reference and one.project == entry.name]


def declarations(lock: Lock, entry: Entry) -> tuple[Lock, Lock]:
    """Return the declarations of the plugin, and those of all others."""
    points = points_of(lock, entry) if entry.is_package else []
    names = {one.name for one in points} if entry.is_package else {entry.name}
    places = {path for one in points for path in one.trees}
    trees = [
        one
        for one in lock.trees
        if (one.path in places if entry.is_package else one.plugin == entry.name)
    ]
    return (
        Lock(trees, [one for one in lock.commands if one.plugin in names]),
        Lock(
            [one for one in lock.trees if one not in trees],
            [one for one in lock.commands if one.plugin not in names],
        ),
    )


def _distribution_row(entry: Entry, lock: Lock, program: str) -> Row:
    points = points_of(lock, entry)
    if points:
        version = points[0].version
    else:
        from builtin_plugins.administration.program.environment.distributions import (
            installed_version,  # imported here because importlib_metadata costs a listing 35 ms
        )

        version = installed_version(entry.name) or ""
    state, reason = _switched(entry), "; ".join(point.broken for point in points if point.broken)
    if reason:
        state = "broken"
    elif not version:
        state = "missing"
        reason = f"the distribution is not installed; {program} self plugin sync restores it"
    elif entry.version not in ("", version):
        reason = f"{entry.version} was added; {version} is installed now"
    return Row(
        entry.replaced(version=version or entry.version),
        state,
        reason,
        points=[point.name for point in points],
        own=declarations(lock, entry)[0],
        hooks=[hook for point in points for hook in point.hooks],
    )
