"""All plugins for `list` and `show`: registry, directories and distributions joined."""

from __future__ import annotations

import os

from builtin_plugins.administration.plugins.reconcile import reconcile_if_free
from builtin_plugins.plugins_folder.directory import (
    DirectoryPlugin,
    find_directory_plugins,
    recorded,
    store_of,
)
from builtin_plugins.plugins_folder.registry import Entry, effective_registry
from host import Record, UsageError
from host.cli.session import Session
from host.run.folders import FolderNode
from host.run.lock import Declared, Lock, Plugin, Tree
from host.run.suggestions import closest
from host.run.text import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class Row(Record):
    """One plugin: its entry (invented if the registry has none), its state and the reason.

    `state` is enabled, disabled, missing or broken. `root` is its directory, "" for a
    distribution. `points` are the names of a distribution's entry points; listings and warnings
    use these. `trees` hold its commands, `declared` are those in Python.
    """

    entry: Entry
    state: str
    reason: str = ""
    root: str = ""
    points: Sequence[str] = ()
    trees: Sequence[str] = ()
    scripts: Mapping[str, str] | None = None
    declared: Sequence[Declared] = ()
    hooks: Sequence[str] = ()

    @property
    def state_shown(self) -> str:
        return f"{self.state}, pinned" if self.entry.pinned else self.state

    @property
    def words(self) -> list[str]:
        """Return the first words of its commands."""
        found: set[str] = set()
        for root in self.trees:
            found.update(FolderNode(Tree(root, scripts=self.scripts)).inside())
        return sorted(found | {one.words[0] for one in self.declared})

    def described(self) -> dict[str, Any]:
        """Return the row of the JSON listing."""
        from host import masked_text
        from host.cli.contents import contents
        from host.run.catalog import Catalog

        lock = Lock([Tree(one, scripts=self.scripts) for one in self.trees], self.declared)
        commands = contents(Catalog(lock), (), deep=True)[0].commands
        fields = self.entry.fields()
        fields.pop("versions", None)
        fields["source"] = masked_text(self.entry.source) or None
        return {
            **fields,
            "pinned": self.entry.pinned,
            "state": self.state,
            "reason": self.reason or None,
            "path": os.path.realpath(self.root) if self.root else None,
            "commands": sorted(" ".join(one.words) for one in commands),
            "implements": list(self.hooks),
        }


def inventory(session: Session) -> list[Row]:
    """Return all plugins, those of the registry first; nothing of a directory plugin is run."""
    plugins_dir = session.installation.plugins_dir
    reconcile_if_free(plugins_dir)
    lock, program = session.checked(session.plugins_known), session.program
    registry = effective_registry(plugins_dir)
    if registry.damage:
        session.messages.warn(registry.damage)
    directories = {one.name: one for one in find_directory_plugins(plugins_dir, registry)}
    points = _points_by_distribution(lock)
    rows = []
    for entry in registry.entries.values():
        if entry.is_package:
            rows.append(_distribution_row(entry, points.pop(entry.name, []), lock, program))
        else:
            rows.append(_directory_row(entry, directories.pop(entry.name, None), lock, program))
    rows += [_directory_row(one.new_entry, one, lock, program) for one in directories.values()]
    for name, found in sorted(points.items()):
        entry = Entry(name, "pip", version=found[0].version)
        rows.append(_distribution_row(entry, found, lock, program))
    return rows


def find_row(rows: list[Row], name: str) -> Row | None:
    """Return the plugin of that name, None for none.

    A distribution is found by any spelling of its name, and by the names of its entry points.
    """
    from packaging.utils import canonicalize_name

    exact = [row for row in rows if row.entry.name == name]
    near = [
        row for row in rows if row.entry.is_package and row.entry.name == canonicalize_name(name)
    ]
    pointed = [row for row in rows if name in row.points]
    return next(iter([*exact, *near, *pointed]), None)


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
        reason = f"its files are gone; bring them back with: {program} self plugin sync"
        if entry.is_local:
            what, remove = entry.source or f"plugins/{entry.name}", f"{program} self plugin remove"
            reason = f"{what} is gone; put it back, or: {remove} {entry.name}"
        return Row(entry, "missing", reason)
    known, said = lock.plugins.get(entry.name), plugin.manifest
    reason = str(plugin.problem or (known.broken if known else ""))
    if not reason and not os.path.isdir(said.tree):
        reason = f"there is no directory {said.tree}"
    if entry.is_local:  # its author may be working on it
        entry = _with(entry, **said.facts)
    return Row(
        entry,
        "broken" if reason else _switched(entry),
        reason,
        plugin.root,
        trees=[said.tree] if said.tree else [],
        scripts=said.scripts,
        hooks=list(known.hooks) if known and said.hooks else (),
    )


def _switched(entry: Entry) -> str:
    return "enabled" if entry.enabled else "disabled"


def _with(entry: Entry, **fields: Any) -> Entry:
    return entry.replaced(**{name: value for name, value in fields.items() if value})


def _points_by_distribution(lock: Lock) -> dict[str, list[Plugin]]:
    found: dict[str, list[Plugin]] = {}
    for plugin in lock.plugins.values():
        if plugin.reference and not plugin.ours:
            found.setdefault(plugin.project, []).append(plugin)
    return found


def _distribution_row(entry: Entry, points: list[Plugin], lock: Lock, program: str) -> Row:
    state, recorded = _switched(entry), entry.version
    versions = [point.version for point in points]
    if not points:
        from builtin_plugins.administration.program.environment.distributions import (
            installed_version,
        )

        versions = [installed_version(entry.name) or ""]
    entry = _with(entry, version=versions[-1])
    reason = "; ".join(point.broken for point in points if point.broken)
    if reason:
        state = "broken"
    elif not versions[-1] and not points:
        state = "missing"
        reason = f"the distribution is not installed; {program} self plugin sync brings it back"
    elif recorded not in ("", entry.version):
        reason = f"{recorded} was added; {entry.version} is installed now"
    names = [point.name for point in points]
    return Row(
        entry,
        state,
        reason,
        points=names,
        trees=[tree for point in points for tree in point.trees],
        declared=[one for one in lock.commands if one.runs and one.plugin in names],
        hooks=[hook for point in points for hook in point.hooks],
    )
