"""plugins/registry.json: which plugins there are, in which order, and which are enabled.

    {"version": "1.0.0", "plugins": [{"name", "kind", "source", "version",
     "description", "directory", "hooks", "ref", "commit", "sha256", "installedAt",
     "enabled", "dev", "scripts", "pinned", "versions", "removing"}]}

`kind` is git, local, archive or pip. `pinned`, `versions` (what is kept for a rollback, oldest
first) and `removing` (a removal is under way) are this program's own; unknown keys survive.
Nothing read here is trusted: each entry is checked before it is used.

If `registry.local.json` is beside it, the file is shared by a team. Personal changes then go to the
local file, which has the form of the other and is read after it: the keys of an entry replace those
of the shared entry of its name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from builtin_plugins.plugins_folder.json_object import read_object, text, typed
from host import PluginError, Problem, Record, is_word

FILE_NAME = "registry.json"
LOCAL = "registry.local.json"  # beside it: the changes of one person
LAST = ".registry.last.json"  # beside it: its last intact state
FORMAT = "1.0.0"
SCHEMA = "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/registry.schema.json"
# Where the files of each kind of plugin are: in kept versions that this program makes, in a
# directory of the user, or in Python's environment.
KINDS = {"pip": "environment", "archive": "versions", "git": "versions", "local": "directory"}
NAME_RULE = "use a-z, 0-9 and ._-, and no word of this program"

_VERSION_DIR = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,127}\Z")
_TEXTS = (
    *("name", "kind", "source", "version", "description", "directory"),
    *("hooks", "ref", "commit", "sha256", "installed_at"),
)
_RESERVED = ("self", "help", "setup", FILE_NAME, LOCAL)
_FLAGS = ("enabled", "dev", "pinned", "removing")


def is_plugin_name(name: str) -> bool:
    """Return whether `name` matches `[a-z0-9][a-z0-9._-]*`, has at most 64 characters and is free.

    The words of the program and the names of registries are not.
    """
    return is_word(name) and name == name.lower() and name not in _RESERVED


def read_scripts(path: str, values: dict[str, Any]) -> dict[str, str] | None:
    """Return the key "scripts" of a plugin, None if it is absent; raises PluginError."""
    scripts = typed(path, values, "scripts", dict, "an object")
    if scripts is None:
        return None
    parts = {f"scripts.{key}": scripts.get(key) for key in ("prefix", "split")}
    return {key[len("scripts.") :]: part for key in parts if (part := text(path, parts, key))}


class Entry(Record):
    """One checked entry; "" where the file has null or nothing."""

    name: str
    kind: str
    source: str = ""
    version: str = ""
    description: str = ""
    directory: str = ""
    hooks: str = ""
    ref: str = ""
    commit: str = ""
    sha256: str = ""
    installed_at: str = ""
    enabled: bool = True
    dev: bool = False
    scripts: Mapping[str, str] | None = None
    pinned: bool = False
    removing: bool = False
    versions: tuple[str, ...] = ()

    @property
    def version_dir(self) -> str:
        """Return the name of the directory in `.versions/<name>` that holds it, "" for none."""
        built_of = self.commit or self.sha256
        if self.is_local or not built_of:
            return ""
        return f"{self.version}-{built_of[:12]}" if self.is_package else built_of[:16]

    @property
    def came_from(self) -> tuple[str, str, str]:
        return self.kind, self.source, self.ref

    @property
    def is_local(self) -> bool:
        """Report whether its files are the user's own."""
        return KINDS[self.kind] == "directory"

    @property
    def is_package(self) -> bool:
        """Report whether it is a Python distribution; others are directories in `plugins/`."""
        return KINDS[self.kind] == "environment"

    def fields(self) -> dict[str, Any]:
        """Return it as the file has it."""
        values = {**self.values(), "versions": list(self.versions)}
        return {_key(name): None if one == "" else one for name, one in values.items()}


def _key(name: str) -> str:
    return "installedAt" if name == "installed_at" else name


class Registry:
    """The registry's content: entries in order, and what is wrong with others.

    `refused` has the reason for each name whose entry cannot be used: nothing is known
    of that plugin, so its files stay as they are. `damage` is why another state counts in
    the place of the file; without one that `exists`, nothing is known of any plugin.
    """

    def __init__(
        self, values: dict[str, Any], *, exists: bool, local: dict[str, Any] | None = None
    ) -> None:
        self.values = values
        self.local = local
        self.exists = exists
        self.damage: Problem | None = None
        self.problems: list[Problem] = []
        self.refused: dict[str, Problem] = {}
        self.entries: dict[str, Entry] = {}
        own = {item.get("name"): item for item in local["plugins"]} if local else {}
        shared = [{**item, **own.pop(item.get("name"), {})} for item in values["plugins"]]
        for item in [*shared, *own.values()]:
            try:
                entry = read_entry(item)
            except PluginError as error:
                self.problems.append(error.problem)
                self.refused[str(item.get("name"))] = error.problem
                continue
            if self.entries.setdefault(entry.name, entry) is not entry:
                what = f"the name {entry.name} occurs twice; the first entry counts"
                self.problems.append(Problem("", what))

    @property
    def names(self) -> set[str]:
        """Return all names in the file, also of entries that cannot be used."""
        return self.entries.keys() | self.refused.keys()

    def problems_of(self, path: str) -> list[Problem]:
        """Return what is wrong with the file at `path`, which this registry was read from."""
        damage = [self.damage] if self.damage else []
        return damage + [Problem(path, one.what, one.remedy) for one in self.problems]

    def put(self, entry: Entry, *, team: bool = False) -> None:
        """Add `entry`, or replace the one of its name, whose unknown keys stay.

        Where a team shares the file, only `team` changes it; the local file gets what differs.
        """
        self.entries[entry.name] = entry
        if self.local is None or team:
            _put(self.values, entry.name, entry.fields())
            _drop(self.local, entry.name)
            return
        fields, shared = entry.fields(), _item(self.values, entry.name)
        if shared is not None:
            there = read_entry(shared).fields()
            fields = {key: value for key, value in fields.items() if value != there.get(key)}
        _drop(self.local, entry.name)
        if fields:
            _put(self.local, entry.name, {"name": entry.name, **fields})

    def drop(self, name: str) -> None:
        """Take the entry of that name out, if there is one; a shared one stays with its team."""
        self.entries.pop(name, None)
        _drop(self.values if self.local is None else self.local, name)

    def is_shared(self, name: str) -> bool:
        """Return whether the entry of that name is in a file that a team shares."""
        return self.local is not None and _item(self.values, name) is not None


def _item(values: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((item for item in values["plugins"] if item.get("name") == name), None)


def _put(values: dict[str, Any], name: str, fields: dict[str, Any]) -> None:
    item = _item(values, name)
    if item is None:
        values["plugins"].append(fields)
    else:
        item.update(fields)


def _drop(values: dict[str, Any] | None, name: str) -> None:
    if values is not None:
        values["plugins"] = [item for item in values["plugins"] if item.get("name") != name]


def read_entry(item: dict[str, Any]) -> Entry:
    """Return an entry of the file, checked; raises PluginError."""
    name = item.get("name")
    if not isinstance(name, str) or not is_plugin_name(name):
        raise PluginError(f"{name!r} cannot name a plugin")
    fields: dict[str, Any] = {one: text(name, item, _key(one)) for one in _TEXTS}
    flags = {key: typed(name, item, key, bool, "true or false") for key in _FLAGS}
    fields |= {key: flag for key, flag in flags.items() if flag is not None}
    versions = typed(name, item, "versions", list, "an array") or []
    entry = Entry(**fields, scripts=read_scripts(name, item), versions=tuple(versions))
    if entry.kind not in KINDS:
        raise PluginError(Problem(name, f"expected one of {', '.join(sorted(KINDS))}", key="kind"))
    for one in (*versions, *filter(None, [entry.version_dir])):
        if not isinstance(one, str) or not _VERSION_DIR.match(one):
            raise PluginError(Problem(name, f"{one!r} cannot name a version's directory"))
    return entry


def registry_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, FILE_NAME)


def local_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, LOCAL)


def read_registry(path: str, *, shared: bool = False) -> Registry:
    """Return the registry in the file `path`, an empty one if there is none.

    With the local file beside it, unless only what is `shared` counts. Raises PluginError if one
    is unreadable, of a newer format or a link to nothing.
    """
    values = _read(path)
    beside = local_path(os.path.dirname(path))
    local = None if shared or not os.path.lexists(beside) else _read(beside) or _empty()
    return Registry(values or _empty(), exists=values is not None, local=local)


def _read(path: str) -> dict[str, Any] | None:
    try:
        values = read_object(path)
    except FileNotFoundError:
        if os.path.islink(path):  # the file that a team shares may come back
            what = f"links to {os.readlink(path)}, which is not there"
            problem = Problem(path, what, "restore the target, or remove the link")
            raise PluginError(problem) from None
        return None
    version = text(path, values, "version")
    major = version.partition(".")[0]
    if not major.isdecimal() or int(major[:9]) > int(FORMAT.partition(".")[0]):
        what = f"this program reads {FORMAT}, not {version[:20]}"
        raise PluginError(Problem(path, what, "update this program", key="version"))
    entries = values.get("plugins")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PluginError(Problem(path, "expected an array of objects", key="plugins"))
    return values


def effective_registry(plugins_dir: str) -> Registry:
    """Return the registry, or its last intact state if it cannot be read or is lost.

    So disabled plugins stay disabled, and the order of precedence stays. Without such a state
    nothing is known.
    """
    damage = None
    try:
        found = read_registry(registry_path(plugins_dir))
        if found.exists:
            return found
    except PluginError as error:
        damage = error.problem
    last = last_intact(plugins_dir)
    if damage and last.exists:
        damage.text += "; its last intact version counts until it is repaired"
    last.damage = damage
    return last


def last_intact(plugins_dir: str) -> Registry:
    """Return the last intact state of the registry, an empty one if there is none."""
    path = os.path.join(plugins_dir, LAST)
    for shared in (False, True):  # the local file may be what is damaged
        with suppress(PluginError):
            return read_registry(path, shared=shared)
    return Registry(_empty(), exists=False)


def _empty() -> dict[str, Any]:
    return {"$schema": SCHEMA, "version": FORMAT, "plugins": []}
