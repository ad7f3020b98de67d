"""plugins/registry.json: the plugins, their order, and which of them are enabled.

    {"version": "1.0.0", "plugins": [{"name", "kind", "source", "version",
     "description", "directory", "hooks", "ref", "commit", "sha256", "installedAt",
     "enabled", "dev", "scripts", "path", "pinned", "versions", "words",
     "packages": [{"name", "version", "sha256": […], "built"}], "python"}]}

`kind` is git, local, archive, pip or environment (a package that the user installed into the
program's environment; it has an entry only if it is disabled). `pinned`, `versions` (kept for a
rollback, oldest first) and `words` (the first words of its commands, for an unknown word if its
files are missing) are managed by this program, as are the keys of a package: `packages` are those
that its folder has from an index, and `python` is the only version of Python that can load its
compiled code. Unknown keys are preserved.

If `registry.local.json` exists beside registry.json, a team shares registry.json. Personal changes
go to the local file, which has the same format; the keys of its entries replace shared ones. The
entry of another version than the team's is complete there, so that no version has keys of another.

Each of the two files has a copy of its last intact state, which is used if the file is damaged or
lost. A damaged file never enables a plugin that was disabled.
"""

from __future__ import annotations

import os

from builtin_plugins.plugins_folder.entry import (
    KINDS,
    LOCAL,
    REGISTRY,
    Entry,
    is_known_key,
    read_entry,
)
from builtin_plugins.plugins_folder.json_object import read_object, text
from host import HostError, PluginError, Problem, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LAST = {  # each file, and the file beside it with its last intact state
    REGISTRY: ".registry.last.json",
    LOCAL: ".registry.local.last.json",
}
FORMAT = "1.0.0"
_NOTHING: dict[str, Any] = {"version": FORMAT, "plugins": []}


class RegistryFile(Record):
    """One of the two files, as it was read: its content, and its last intact state.

    `content` and `last` are None if there is no such file; neither is changed. `error` is the
    reason why the file cannot be read, or None.
    """

    path: str
    content: dict[str, Any] | None = None
    last: dict[str, Any] | None = None
    error: HostError | None = None

    @property
    def usable(self) -> dict[str, Any] | None:
        """Return the content, or its last intact state if it is lost or damaged."""
        if self.content is None:
            return self.last
        return self.content

    @property
    def is_intact(self) -> bool:
        """Return whether the content is the last intact state, which has a copy."""
        return self.usable == self.last


class Registry:
    """The registry's content: the valid entries in order, and the problems in the others.

    `shared` and `personal` are the two files. `values` and `local` have their content, with the
    changes of this process; `local` is None if there is no local file. `refused` maps the name of
    each unusable entry to the reason; the files of such a plugin stay untouched. `kept_disabled`
    has the names of plugins that are disabled because they were, though a damaged file no longer
    says so. `is_damaged` is True if a file cannot be read at all; then only plugins with an entry
    may run.
    """

    def __init__(self, shared: RegistryFile, personal: RegistryFile) -> None:
        self.shared = shared
        self.personal = personal
        self.values: dict[str, Any] = shared.usable or _NOTHING
        self.local = personal.usable
        self.is_damaged = False
        self.problems: list[Problem] = []
        self.refused: dict[str, Problem] = {}
        self.entries: dict[str, Entry] = {}
        self.kept_disabled: set[str] = set()

        for file, item in self._merged():
            try:
                entry = read_entry(item)
            except PluginError as error:
                self.problems.append(Problem(file, error.what, error.remedy))
                name = str(item.get("name"))
                self.refused[name] = error.problem
                continue
            if self.entries.setdefault(entry.name, entry) is not entry:
                what = f"the name {entry.name} occurs twice; the first entry is used"
                self.problems.append(Problem(file, what))

    def _merged(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each entry, shared keys replaced by local ones, and the file to name in errors."""
        changes, unnamed = self._local_items()
        for item in self.values["plugins"]:
            name = item.get("name")
            change: dict[str, Any] = {}
            if isinstance(name, str):
                change = changes.pop(name, {})

            # If the shared entry alone is valid, the local change is to blame for an error.
            file = self.shared.path
            if change and _is_valid(item):
                file = self.personal.path
            yield file, {**item, **change}

        for item in (*changes.values(), *unnamed):
            yield self.personal.path, item

    def _local_items(self) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
        """Return the local entries by name, and those that can change no shared entry."""
        changes: dict[str, dict[str, Any]] = {}
        unnamed: list[dict[str, Any]] = []
        if self.local is None:
            return changes, unnamed

        for item in self.local["plugins"]:
            name = item.get("name")
            if isinstance(name, str) and name not in changes:
                changes[name] = item
            else:
                unnamed.append(item)
        return changes, unnamed

    def keep_disabled(self, entry: Entry) -> None:
        """Add or replace an entry whose plugin stays disabled, because it was."""
        self.entries[entry.name] = entry
        self.kept_disabled.add(entry.name)

    def copied(self) -> Registry:
        """Return a registry for changes that may fail; this one stays as it was read."""
        from copy import copy  # imported here because only changes of plugins need it

        copied = copy(self)
        # The other values are replaced, never changed.
        copied.entries = dict(self.entries)
        return copied

    def put(self, entry: Entry, *, team: bool = False) -> None:
        """Add `entry`, or replace the entry of the same name but keep that entry's unknown keys.

        If there is a local file, it gets the differences from the shared entry; with `team`, the
        shared entry changes instead.
        """
        self.entries[entry.name] = entry
        fields = entry.fields()
        shared_item = _item(self.values, entry.name)
        former = shared_item or {}
        if self.local is None:
            self.values = _with(self.values, {**former, **fields})
            return

        local_item = _item(self.local, entry.name)
        unknown_keys = _unknown_keys(local_item)
        if team:
            self.values = _with(self.values, {**former, **unknown_keys, **fields})
            self.local = _without(self.local, entry.name)
            return

        personal = {**unknown_keys, **_personal_keys(entry, shared_item)}
        if personal:
            self.local = _with(self.local, {"name": entry.name, **personal})
        else:
            self.local = _without(self.local, entry.name)

    def drop(self, name: str) -> None:
        """Remove the entry of that name, if any; the team's shared file does not change."""
        self.entries.pop(name, None)
        if self.local is None:
            self.values = _without(self.values, name)
        else:
            self.local = _without(self.local, name)

    def is_shared(self, name: str) -> bool:
        """Return whether the entry of that name is in a file that a team shares."""
        if self.local is None:
            return False
        return _item(self.values, name) is not None


def _personal_keys(entry: Entry, shared_item: dict[str, Any] | None) -> dict[str, Any]:
    """Return the keys of `entry` that its local entry needs beside the shared one."""
    fields = entry.fields()
    if shared_item is None:
        return fields

    # Only what differs, so that later changes of the team take effect.
    shared = read_entry(shared_item)
    shared_fields = shared.fields()
    no_value = object()
    changed = {}
    for key, value in fields.items():
        if value != shared_fields.get(key, no_value):
            changed[key] = value
    if _is_same_version(entry, shared):
        return changed

    # Another version is complete: it must not get the source or the scripts of the version that
    # the team chooses next. Only a plugin that the team disables is disabled here, too.
    if "enabled" not in changed:
        del fields["enabled"]
    return fields


def _is_same_version(entry: Entry, shared: Entry) -> bool:
    return (
        entry.source_and_ref == shared.source_and_ref
        and entry.version_dir == shared.version_dir
        and entry.packages == shared.packages
    )


def _unknown_keys(item: dict[str, Any] | None) -> dict[str, Any]:
    """Return what an entry in a file has that is no field of `Entry`."""
    if item is None:
        return {}
    return {key: value for key, value in item.items() if not is_known_key(key)}


def _item(values: dict[str, Any], name: str) -> dict[str, Any] | None:
    item: dict[str, Any]
    for item in values["plugins"]:
        if item.get("name") == name:
            return item
    return None


def _with(values: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return `values` with an entry in the place of that of the same name, or at the end."""
    items = [*values["plugins"]]
    former = _item(values, new["name"])
    if former is None:
        items.append(new)
    else:
        items[items.index(former)] = new
    return {**values, "plugins": items}


def _without(values: dict[str, Any], name: str) -> dict[str, Any]:
    others = [item for item in values["plugins"] if item.get("name") != name]
    return {**values, "plugins": others}


def _is_valid(item: dict[str, Any]) -> bool:
    try:
        read_entry(item)
    except PluginError:
        return False
    return True


def registry_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, REGISTRY)


def local_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, LOCAL)


def read_registry(plugins_dir: str, file: str | None = None) -> Registry:
    """Return the registry, changed by registry.local.json, or only the content of `file`.

    The result is empty if the files do not exist. A file that is lost is replaced by its last
    intact state. Raises HostError for an unusable file.
    """
    if file is not None:
        shared = RegistryFile(file, read_values(file))
        return Registry(shared, RegistryFile(file))

    shared = _read_file(plugins_dir, REGISTRY)
    personal = _read_file(plugins_dir, LOCAL)
    for failed in (shared.error, personal.error):
        if failed is not None:
            raise failed
    return _combined(shared, personal)


def effective_registry(plugins_dir: str) -> Registry:
    """Return the registry; the last intact state replaces a file that cannot be read.

    If there is no such state either, all plugins are disabled.
    """
    shared = _read_file(plugins_dir, REGISTRY)
    personal = _read_file(plugins_dir, LOCAL)
    registry = _combined(shared, personal)
    for file in (personal, shared):
        if file.error is None:
            continue

        registry.is_damaged = True
        problem = file.error.problem
        what = "its last intact version is used until it is repaired"
        if file.last is None:
            what = "no plugin runs until it is repaired"
            for name, entry in registry.entries.items():
                registry.entries[name] = entry.replaced(enabled=False)
        problem.text = f"{problem.text}; {what}"
        registry.problems.insert(0, problem)
    return registry


def _read_file(plugins_dir: str, name: str) -> RegistryFile:
    """Read a file of the registry and its last intact state."""
    path = os.path.join(plugins_dir, name)
    last = None
    try:
        copy = os.path.join(plugins_dir, LAST[name])
        last = read_values(copy)
    except HostError:
        pass  # only a copy

    error = None
    try:
        content = read_values(path)
    except HostError as failure:
        return RegistryFile(path, None, last, failure)
    if content is None and os.path.lexists(path):
        error = PluginError(Problem(path, "links to a file that does not exist"))
    return RegistryFile(path, content, last, error)


def read_values(path: str) -> dict[str, Any] | None:
    """Return the content of a registry file, or None if it does not exist. Raises HostError."""
    try:
        values = read_object(path)
    except FileNotFoundError:
        return None

    version = text(path, values, "version")
    if _major(version) != _major(FORMAT):
        shown = version[:20] or "nothing"
        what = f"expected {FORMAT}; found {shown}"
        raise PluginError(Problem(path, what, "update this program", key="version"))

    if not _are_objects(values.get("plugins")):
        raise PluginError(Problem(path, "expected an array of objects", key="plugins"))
    return values


def _major(version: str) -> str:
    return version.partition(".")[0]


def _are_objects(items: Any) -> bool:
    if not isinstance(items, list):
        return False
    return all(isinstance(item, dict) for item in items)


def _combined(shared: RegistryFile, personal: RegistryFile) -> Registry:
    """Return the registry of both files; a damaged entry does not enable what was disabled."""
    registry = Registry(shared, personal)
    if shared.is_intact and personal.is_intact and not registry.problems:
        return registry

    former_shared = shared.replaced(content=shared.last)
    former_personal = personal.replaced(content=personal.last)
    before = Registry(former_shared, former_personal)
    # An entry whose name is damaged leaves a plugin without the entry that disabled it.
    lost = set(_lost_names(shared, registry))
    lost.update(_lost_names(personal, registry))
    for name, former in before.entries.items():
        if former.enabled or name in registry.refused:
            continue

        current = registry.entries.get(name)
        if current is None:
            # A link to a version that this program made does not run without an entry.
            if KINDS[former.kind] != "versions":
                registry.keep_disabled(former)
        elif current.enabled and name in lost:
            registry.keep_disabled(current.replaced(enabled=False))
    return registry


def _lost_names(file: RegistryFile, registry: Registry) -> Iterator[str]:
    """Yield the names that a file with a damaged entry has no longer."""
    damaged = {problem.path for problem in registry.problems}
    if file.path not in damaged:
        return

    names = _names(file.usable)
    for name in _names(file.last):
        if name not in names:
            yield name


def _names(values: dict[str, Any] | None) -> list[str]:
    """Return the names of the entries in a file; a damaged entry may have none."""
    if values is None:
        return []

    names = []
    for item in values["plugins"]:
        name = item.get("name")
        if isinstance(name, str):
            names.append(name)
    return names
