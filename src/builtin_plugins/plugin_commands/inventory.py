"""All plugins as `list` and `show` tell them: registry, directories and distributions joined."""

from __future__ import annotations

import os

from builtin_plugins.plugin_directories.directory import DirectoryPlugin, find_directory_plugins
from builtin_plugins.plugin_directories.registry import Entry, effective_registry
from host import UsageError
from host.cli.session import Session
from host.run.definition import is_word
from host.run.lock import Declared, Lock, Plugin, Tree
from host.run.misspelt import nearest
from host.run.text import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class Row:
    """One plugin: its entry (made up where the registry has none), its state and why.

    `state` is enabled, disabled, missing or broken. `trees` hold its commands,
    `declared` are those in Python; `root` is its directory, "" for a distribution, whose
    entry points have the names `points`: listings and warnings know them by these.
    """

    __slots__ = (
        "declared", "entry", "hooks", "points", "reason", "registered", "root", "state", "trees",
    )  # fmt: skip

    def __init__(self, entry: Entry, state: str, points: Iterable[str] = ()) -> None:
        self.entry = entry
        self.state = state
        self.reason = ""
        self.root = ""
        self.trees: list[str] = []
        self.declared: list[Declared] = []
        self.hooks: list[str] = []
        self.points = list(points)
        self.registered = True

    @property
    def state_shown(self) -> str:
        return f"{self.state}, pinned" if self.entry.pinned else self.state

    @property
    def words(self) -> list[str]:
        """Return the words that it adds at the top."""
        found = {word for tree in self.trees for word in _first_words(tree)}
        return sorted(found | {one.words[0] for one in self.declared})

    def described(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        from host.cli.catalog import contents
        from host.secrets import masked_text

        lock = Lock([Tree(one) for one in self.trees], self.declared)
        commands = contents((), lock, lambda _: None, deep=True).commands
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
            "implements": self.hooks,
        }


def inventory(session: Session) -> list[Row]:
    """Return all plugins, those of the registry first; nothing of a directory plugin is run."""
    plugins_dir = session.installation.plugins_dir
    if not session.safe and session.lock_on_disk is None:  # a lock that holds was made when settled
        from builtin_plugins.plugin_directories.repair import settle

        settle(plugins_dir)
    registry, wrong = effective_registry(plugins_dir)
    if wrong:
        session.messages.warn(wrong)
    entries = registry.entries
    lock = session.plugins_known
    directories = {one.name: one for one in find_directory_plugins(plugins_dir)[0]}
    points = _points_by_distribution(lock)
    program = session.program
    rows = []
    for entry in entries.values():
        if entry.kind == "pip":
            rows.append(_distribution_row(entry, points.pop(entry.name, []), lock, program))
        else:
            rows.append(_directory_row(entry, directories.get(entry.name), lock, program))
    rows += [
        _directory_row(_unregistered(plugins_dir, plugin), plugin, lock, program)
        for plugin in directories.values()
        if plugin.name not in entries
    ]
    for name, found in sorted(points.items()):
        entry = Entry(name, "pip", version=found[0].version)
        row = _distribution_row(entry, found, lock, program)
        row.registered = False
        rows.append(row)
    return rows


def find_row(rows: list[Row], name: str) -> Row | None:
    """Return the plugin called so.

    A distribution answers to any spelling of its name, and to those of its entry points.
    """
    from packaging.utils import canonicalize_name

    exact = [row for row in rows if row.entry.name == name]
    near = [
        row for row in rows if row.entry.kind == "pip" and row.entry.name == canonicalize_name(name)
    ]
    pointed = [row for row in rows if name in row.points]
    return next(iter([*exact, *near, *pointed]), None)


def named_row(session: Session, name: str, rows: list[Row] | None = None) -> Row:
    """Return the plugin called so, of all; raises UsageError, with the nearest names, for none."""
    rows = inventory(session) if rows is None else rows
    row = find_row(rows, name)
    if row is not None:
        return row
    near = nearest(name, [row.entry.name for row in rows])
    see = f"see: {session.program} self plugin list"
    hint = f"did you mean {' or '.join(near)}?" if near else see
    raise UsageError(f"there is no plugin {name or EMPTY}", hint)


def kept_versions(plugins_dir: str, entry: Entry) -> list[Entry]:
    """Return the kept versions of a plugin, oldest first, the current one among them."""
    from builtin_plugins.plugin_directories.repair import record

    found = (record(plugins_dir, entry.name, label) for label in entry.versions)
    return [one for one in found if one is not None and one.kind == entry.kind]


def _directory_row(entry: Entry, plugin: DirectoryPlugin | None, lock: Lock, program: str) -> Row:
    row = Row(entry, "enabled" if entry.enabled else "disabled")
    if plugin is None:
        row.state = "missing"
        row.reason = f"its files are gone; bring them back with: {program} self plugin sync"
        if entry.kind == "local":
            what, remove = entry.source or f"plugins/{entry.name}", f"{program} self plugin remove"
            row.reason = f"{what} is gone; put it back, or: {remove} {entry.name}"
        return row
    row.root = plugin.root
    row.trees = [plugin.tree] if plugin.tree else []
    known = lock.plugins.get(entry.name)
    row.hooks = list(known.hooks) if known and plugin.hooks else []
    if plugin.manifest and not entry.managed:  # its author may be working on it
        said = plugin.manifest
        row.entry = _with(entry, version=said.version, description=said.description)
        row.entry = _with(row.entry, directory=said.directory, hooks=said.hooks)
    row.reason = plugin.problem or (known.broken if known else "")
    if row.reason:
        row.state = "broken"
    elif not os.path.isdir(plugin.tree):
        row.state, row.reason = "broken", f"there is no directory {plugin.tree}"
    return row


def _unregistered(plugins_dir: str, plugin: DirectoryPlugin) -> Entry:
    """Return an entry for a directory that the registry does not speak of, or cannot."""
    from builtin_plugins.plugin_directories.repair import recorded

    local = Entry(plugin.name, "local", dev=plugin.dev)
    return plugin.entry or recorded(plugins_dir, plugin.name) or local


def _with(entry: Entry, **fields: Any) -> Entry:
    return entry.replaced(**{name: value for name, value in fields.items() if value})


def _points_by_distribution(lock: Lock) -> dict[str, list[Plugin]]:
    found: dict[str, list[Plugin]] = {}
    for plugin in lock.plugins.values():
        if plugin.reference and not plugin.ours:
            found.setdefault(plugin.project, []).append(plugin)
    return found


def _distribution_row(entry: Entry, points: list[Plugin], lock: Lock, program: str) -> Row:
    row = Row(entry, "enabled" if entry.enabled else "disabled")
    row.points = [point.name for point in points]
    for point in points:
        row.entry = _with(row.entry, version=point.version)
        row.trees += point.trees
        row.hooks += point.hooks
        row.declared += [one for one in lock.commands if one.runs and one.plugin == point.name]
    if reasons := [point.broken for point in points if point.broken]:
        row.state, row.reason = "broken", "; ".join(reasons)
    elif not points:
        from builtin_plugins.venv.distributions import installed_version

        there = installed_version(entry.name)
        if there is None:
            row.state = "missing"
            row.reason = (
                f"the distribution is not installed; {program} self plugin sync brings it back"
            )
        else:
            row.entry = _with(row.entry, version=there)
    if not row.reason and entry.version and row.entry.version != entry.version:
        row.reason = f"{entry.version} was added; {row.entry.version} is installed now"
    return row


def _first_words(tree: str) -> list[str]:
    try:
        with os.scandir(tree) as entries:
            return [one.name for one in entries if is_word(one.name) and one.is_dir()]
    except OSError:
        return []
