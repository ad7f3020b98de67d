"""plugins/registry.json: the plugins, their order, and which of them are enabled.

    {"version": "1.0.0", "plugins": [{"name", "kind", "source", "version",
     "description", "directory", "hooks", "ref", "commit", "sha256", "installedAt",
     "enabled", "dev", "scripts", "path", "pinned",
     "packages": [{"name", "version", "sha256": […], "built"}], "python"}]}

`kind` is git, local, archive, pip or environment (a package that the user installed into the
program's environment; it has an entry only if it is disabled). `pinned` is managed by this program,
as are the keys of a package: `packages` are those that its folder has from an index, and `python`
is the only version of Python that can load its compiled code. Unknown keys are preserved.

If `registry.local.json` exists beside registry.json, a team shares registry.json. Personal changes
go to the local file, which has the same format. An entry there replaces the whole shared entry of
its name; `{"name": …, "enabled": false}` only disables the shared entry.

`read_registry` is the only place where these files are read and checked.
"""

from __future__ import annotations

import os

from builtin_plugins.registry.entry import (
    LOCAL,
    REGISTRY,
    Entry,
    is_known_key,
    read_entry,
)
from builtin_plugins.registry.json_object import read_object, text
from host import HostError, PluginError, Problem, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT = "1.0.0"
_NOTHING: dict[str, Any] = {"version": FORMAT, "plugins": []}
# values that differ between machines and change with each installation
_PASSING = {"installedAt": "", "python": ""}


class RegistryFile(Record):
    """One of the two files, as it was read; `content` is None if there is no such file.

    `stamp` changes with the file; it was taken before the file was read.
    """

    path: str
    content: dict[str, Any] | None = None
    stamp: tuple[int, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Return whether nobody has changed the file since it was read."""
        return _stamp(self.path) == self.stamp


class Registry:
    """The registry's content: the valid entries in order, and the problems in the others.

    `shared` and `personal` are the two files. `values` and `local` have their content, with the
    changes of this process; `local` is None if there is no local file. `refused` maps the name of
    each unusable entry to the reason; the files of such a plugin stay untouched.
    """

    def __init__(self, shared: RegistryFile, personal: RegistryFile) -> None:
        self.shared = shared
        self.personal = personal
        self.values: dict[str, Any] = shared.content or _NOTHING
        self.local = personal.content
        self.problems: list[Problem] = []
        self.refused: dict[str, Problem] = {}
        self.entries: dict[str, Entry] = {}

        own = {}
        for name, item in self._items(personal.path, self.local):
            own[name] = item
        for name, item in self._items(shared.path, self.values):
            change = own.pop(name, None)
            if change is None:
                self._add(shared.path, name, item)
            elif _only_disables(change):
                self._add(shared.path, name, {**item, "enabled": False})
            else:
                self._add(personal.path, name, change)
        for name, item in own.items():
            # The team no longer lists the plugin that the user has disabled.
            if not _only_disables(item):
                self._add(personal.path, name, item)

    def _items(
        self, path: str, values: dict[str, Any] | None
    ) -> list[tuple[str, dict[str, Any]]]:
        """Return the entries in a file by name; those with a wrong name become problems."""
        if values is None:
            return []

        items: dict[str, dict[str, Any]] = {}
        for item in values["plugins"]:
            name = item.get("name")
            if not isinstance(name, str):
                what = f"{name!r} is not a valid plugin name"
                self.problems.append(Problem(path, what))
            elif name in items:
                what = f"the name {name} occurs twice; the first entry is used"
                self.problems.append(Problem(path, what))
            else:
                items[name] = item
        return [*items.items()]

    def _add(self, path: str, name: str, item: dict[str, Any]) -> None:
        try:
            self.entries[name] = read_entry(item)
        except PluginError as error:
            self.problems.append(Problem(path, error.what, error.remedy))
            self.refused[name] = error.problem

    @property
    def is_unchanged(self) -> bool:
        """Return whether nobody has changed the files since they were read."""
        return self.shared.is_unchanged and self.personal.is_unchanged

    def put(self, entry: Entry, *, team: bool = False) -> None:
        """Add `entry`, or replace the entry of the same name but keep that entry's unknown keys.

        If there is a local file, it gets the entry, unless that is equal to the shared one; with
        `team`, the shared file gets it.
        """
        self.entries[entry.name] = entry
        shared_item = _item(self.values, entry.name)
        if self.local is None or team:
            unknown = _unknown_keys(shared_item, _item(self.local, entry.name))
            self.values = _with(self.values, {**entry.fields(), **unknown})
            self._drop_local(entry.name)
            return

        shared = _shared_entry(shared_item)
        item: dict[str, Any] = {"name": entry.name, "enabled": False}
        if shared is not None and _is_same(entry, shared):
            self._drop_local(entry.name)
            return
        if shared is None or not _is_same(entry.replaced(enabled=True), shared):
            item = entry.fields()
        unknown = _unknown_keys(_item(self.local, entry.name))
        self.local = _with(self.local, {**item, **unknown})

    def _drop_local(self, name: str) -> None:
        if self.local is not None:
            self.local = _without(self.local, name)

    def drop(self, name: str) -> None:
        """Remove the entry of that name, if any; the team's shared file does not change."""
        self.entries.pop(name, None)
        if self.local is None:
            self.values = _without(self.values, name)
        else:
            self.local = _without(self.local, name)

    def is_shared(self, name: str) -> bool:
        """Return whether the plugin of that name is in a file that a team shares."""
        item = _item(self.values, name)
        if self.local is None or item is None:
            return False
        shared = _shared_entry(item)
        entry = self.entries.get(name)
        if shared is None or entry is None:
            # What cannot be read says nothing about the user's own entry.
            return entry is None
        return not entry.hides(shared)


def _only_disables(item: dict[str, Any]) -> bool:
    """Return whether a local entry only disables the shared entry of its name."""
    return "kind" not in item and item.get("enabled") is False


def _shared_entry(item: dict[str, Any] | None) -> Entry | None:
    if item is None:
        return None
    try:
        return read_entry(item)
    except PluginError:
        return None


def _is_same(entry: Entry, shared: Entry) -> bool:
    return entry.replaced(**_PASSING) == shared.replaced(**_PASSING)


def _unknown_keys(*items: dict[str, Any] | None) -> dict[str, Any]:
    """Return what entries in files have that is no field of `Entry`; the last value wins."""
    unknown = {}
    for item in items:
        if item is None:
            continue
        for key, value in item.items():
            if not is_known_key(key):
                unknown[key] = value
    return unknown


def _item(values: dict[str, Any] | None, name: str) -> dict[str, Any] | None:
    if values is None:
        return None
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


def registry_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, REGISTRY)


def local_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, LOCAL)


def read_registry(plugins_dir: str, file: str | None = None) -> Registry:
    """Return the registry, changed by registry.local.json, or only the content of `file`.

    The result is empty if the files do not exist. Raises HostError, which says how to repair it,
    for a file that cannot be read or has a newer format.
    """
    if file is not None:
        return Registry(_read(file), RegistryFile(""))
    return Registry(_read(registry_path(plugins_dir)), _read(local_path(plugins_dir)))


def _read(path: str) -> RegistryFile:
    stamp = _stamp(path)
    try:
        return RegistryFile(path, _content(path), stamp)
    except HostError as error:
        if error.remedy:
            raise
        problem = error.problem.replaced(path, error.problem.text)
        problem.remedy = _remedy(path)
        raise PluginError(problem) from None


def _remedy(path: str) -> str:
    """Return how to repair a registry file that cannot be read."""
    plugins_dir, name = os.path.split(path)
    root = os.path.dirname(plugins_dir)
    if name == REGISTRY and os.path.exists(os.path.join(root, ".git")):
        import shlex  # imported here because a damaged file is rare

        file = os.path.relpath(path, root)
        return (
            f"to restore it: git -C {shlex.quote(root)} checkout -- {shlex.quote(file)}"
        )
    return "repair the file; until then, no plugin is loaded"


def _stamp(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _content(path: str) -> dict[str, Any] | None:
    """Return the content of a registry file, or None if it does not exist. Raises HostError."""
    try:
        values = read_object(path)
    except FileNotFoundError:
        if os.path.lexists(path):
            raise PluginError(
                Problem(path, "links to a file that does not exist")
            ) from None
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
