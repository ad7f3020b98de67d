"""plugins/registry.json: which plugins there are, in which order, and which are enabled.

    {"version": "1.0.0", "plugins": [{"name", "kind", "source", "version",
     "description", "directory", "hooks", "ref", "commit", "sha256", "installedAt",
     "enabled", "dev", "scripts", "pinned", "versions", "removing"}]}

`kind` is git, local, archive or pip. `pinned`, `versions` (what is kept for a rollback, oldest
first) and `removing` (a removal is under way) are this program's own; unknown keys survive.
Nothing read here is trusted: each entry is checked before it is used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from builtin_plugins.plugins_folder.json_object import read_object, text, typed
from host import PluginError, Problem, Record, is_word

FILE_NAME = "registry.json"
LAST = ".registry.last.json"  # beside it: its last intact state
FORMAT = "1.0.0"
SCHEMA = "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/registry.schema.json"
# Where the files of each kind of plugin are: in kept versions that this program makes, in a
# directory of the user, or in Python's environment.
KINDS = {"pip": "environment", "archive": "versions", "git": "versions", "local": "directory"}
FRAMEWORK_WORDS = frozenset(["self", "help", "setup"])

_VERSION_DIR = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,127}\Z")
_TEXTS = {
    **{key: key for key in ("name", "kind", "source", "version", "description", "directory")},
    **{key: key for key in ("hooks", "ref", "commit", "sha256")},
    "installedAt": "installed_at",
}
_SCRIPTS = ("prefix", "split")
_FLAGS = ("pinned", "removing")  # absent if false


def is_plugin_name(name: str) -> bool:
    """Return whether `name` matches `[a-z0-9][a-z0-9._-]*`, has at most 64 characters and is free.

    The words of the program and `registry.json` are not.
    """
    return is_word(name) and name == name.lower() and name not in {*FRAMEWORK_WORDS, FILE_NAME}


def read_scripts(path: str, values: dict[str, Any]) -> dict[str, str] | None:
    """Return the key "scripts" of a plugin, None if it is absent; raises PluginError."""
    scripts = typed(path, values, "scripts", dict, "an object")
    if scripts is None:
        return None
    parts = {
        key: text(path, {f"scripts.{key}": scripts.get(key)}, f"scripts.{key}") for key in _SCRIPTS
    }
    return {key: part for key, part in parts.items() if part}


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
        found: dict[str, Any] = {key: getattr(self, own) or None for key, own in _TEXTS.items()}
        found |= {"enabled": self.enabled, "dev": self.dev}
        found |= {key: True for key in _FLAGS if getattr(self, key)}
        if self.scripts is not None:
            found["scripts"] = dict(self.scripts)
        if self.versions:
            found["versions"] = list(self.versions)
        return found


class Registry:
    """The registry's content: entries in order, and what is wrong with others.

    `refused` has the reason for each name whose entry cannot be used: nothing is known
    of that plugin, so its files stay as they are. `damage` is why another state counts in
    the place of the file; without one that `exists`, nothing is known of any plugin.
    """

    def __init__(self, values: dict[str, Any], *, exists: bool) -> None:
        self.values = values
        self.exists = exists
        self.damage: Problem | None = None
        self.problems: list[Problem] = []
        self.refused: dict[str, Problem] = {}
        self.entries: dict[str, Entry] = {}
        for item in values["plugins"]:
            try:
                entry = read_entry(item)
            except PluginError as error:
                self.problems.append(error.problem)
                self.refused[str(item.get("name"))] = error.problem
                continue
            if self.entries.setdefault(entry.name, entry) is not entry:
                what = f"the name {entry.name} stands twice; the first counts"
                self.problems.append(Problem("", what))

    @property
    def names(self) -> set[str]:
        """Return all names in the file, also of entries that cannot be used."""
        return self.entries.keys() | self.refused.keys()

    def problems_of(self, path: str) -> list[Problem]:
        """Return what is wrong with the file at `path`, which this registry was read from."""
        damage = [self.damage] if self.damage else []
        return damage + [Problem(path, one.what, one.remedy) for one in self.problems]

    def put(self, entry: Entry) -> None:
        """Add `entry`, or replace the one of its name, whose unknown keys stay."""
        self.entries[entry.name] = entry
        for item in self.values["plugins"]:
            if item.get("name") == entry.name:
                for key in (*_FLAGS, "scripts", "versions"):
                    item.pop(key, None)
                item.update(entry.fields())
                return
        self.values["plugins"].append(entry.fields())

    def drop(self, name: str) -> None:
        """Take the entry of that name out, if there is one."""
        self.entries.pop(name, None)
        kept = [item for item in self.values["plugins"] if item.get("name") != name]
        self.values["plugins"] = kept


def read_entry(item: dict[str, Any]) -> Entry:
    """Return an entry of the file, checked; raises PluginError."""
    name = item.get("name")
    if not isinstance(name, str) or not is_plugin_name(name):
        raise PluginError(f"{name!r} cannot name a plugin")
    fields: dict[str, Any] = {own: text(name, item, key) for key, own in _TEXTS.items()}
    for key in ("enabled", "dev", *_FLAGS):
        fields[key] = typed(name, item, key, bool, "true or false") or False
    fields["enabled"] |= item.get("enabled") is None
    versions = typed(name, item, "versions", list, "an array") or []
    entry = Entry(**fields, scripts=read_scripts(name, item), versions=tuple(versions))
    if entry.kind not in KINDS:
        raise PluginError(Problem(name, f"expected one of {', '.join(sorted(KINDS))}", key="kind"))
    if not all(isinstance(one, str) and _VERSION_DIR.match(one) for one in versions):
        what = "expected an array of names of version directories"
        raise PluginError(Problem(name, what, key="versions"))
    if entry.version_dir and not _VERSION_DIR.match(entry.version_dir):
        raise PluginError(f"{name}: its commit, version or sha256 is none")
    return entry


def registry_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, FILE_NAME)


def read_registry(path: str) -> Registry:
    """Return the registry in the file `path`, an empty one if there is none.

    Raises PluginError if it is unreadable, of a newer format or a link to nothing.
    """
    try:
        values = read_object(path)
    except FileNotFoundError:
        if os.path.islink(path):  # the file that a team shares may come back
            what = f"links to {os.readlink(path)}, which is not there"
            problem = Problem(path, what, "bring that back, or remove the link")
            raise PluginError(problem) from None
        return _empty()
    version = text(path, values, "version").split(".")[0]
    if not version.isdecimal():
        raise PluginError(Problem(path, f'expected a string such as "{FORMAT}"', key="version"))
    if int(version[:9]) > int(FORMAT.split(".", maxsplit=1)[0]):
        what = f"format {values['version']} is newer than this program"
        raise PluginError(Problem(path, what, "update this program"))
    entries = values.get("plugins")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PluginError(Problem(path, "expected an array of objects", key="plugins"))
    return Registry(values, exists=True)


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
        damage.text += "; its last intact state counts until it is mended"
    last.damage = damage
    return last


def last_intact(plugins_dir: str) -> Registry:
    """Return the last intact state of the registry, an empty one if there is none."""
    try:
        return read_registry(os.path.join(plugins_dir, LAST))
    except PluginError:
        return _empty()


def _empty() -> Registry:
    return Registry({"$schema": SCHEMA, "version": FORMAT, "plugins": []}, exists=False)
