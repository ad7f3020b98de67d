"""plugins/registry.json: the plugins, their order, and which of them are enabled.

    {"version": "1.0.0", "plugins": [{"name", "kind", "source", "version",
     "description", "directory", "hooks", "ref", "commit", "sha256", "installedAt",
     "enabled", "dev", "scripts", "path", "pinned", "versions", "unfinished"}]}

`kind` is git, local, archive or pip. `pinned`, `versions` (kept for a rollback, oldest first) and
`unfinished` (an installation or a removal is not finished) are managed by this program; unknown
keys are preserved. Nothing read here is trusted: each entry is checked before it is used.

If `registry.local.json` exists beside registry.json, a team shares registry.json. Personal changes
go to the local file, which has the same format; the keys of its entries replace shared ones.
"""

import os
import re
from collections.abc import Mapping
from typing import Any

from builtin_plugins.plugins_folder.json_object import read_object, text, typed
from host import HostError, PluginError, Problem, Record, folder_fault, is_word

REGISTRY = "registry.json"
LOCAL = "registry.local.json"  # the file beside registry.json with one person's changes
LAST = ".registry.last.json"  # the file beside registry.json with its last intact state
FORMAT = "1.0.0"
SCHEMA = "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/registry.schema.json"
# Each kind, and where its files are: in `.versions`, in the user's own directory or in the Python
# environment. The first that accepts a SOURCE is used. Kind `x` is `XSource` in `sources/x.py`.
KINDS = {
    "pip": "environment",
    "archive": "versions",
    "git": "versions",
    "local": "directory",  # accepts every directory, so it is the last
}
NAME_RULE = "use a-z, 0-9, ., _ and -; self, help and setup are reserved"

_VERSION_DIR = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+!-]{0,127}\Z")
_RESERVED = ("self", "help", "setup", REGISTRY, LOCAL)


def is_plugin_name(name: str) -> bool:
    """Return whether `name` matches `[a-z0-9][a-z0-9._-]*` and has at most 64 characters.

    Returns False for reserved names: the program's own categories and the registry's files.
    """
    return is_word(name) and name == name.lower() and name not in _RESERVED


def read_scripts(path: str, values: dict[str, Any]) -> dict[str, str | bool] | None:
    """Return a plugin's "scripts" value, or None if it is absent. Raises PluginError.

    "files" is kept only if it is false: script files are then no commands, and the other keys
    apply to the folders with definitions.
    """
    scripts = typed(path, values, "scripts", dict, "an object")
    if scripts is None:
        return None
    parts = {f"scripts.{key}": value for key, value in scripts.items()}
    found: dict[str, str | bool] = {}
    for key in ("prefix", "split", "under"):
        if part := text(path, parts, f"scripts.{key}"):
            found[key] = part
    if "under" in found:
        check_under(path, found["under"])
    if typed(path, parts, "scripts.files", bool, "true or false") is False:
        found["files"] = False
    return found


def read_path(path: str, values: dict[str, Any]) -> tuple[str, ...] | None:
    """Return a plugin's "path" value: folders to append to PATH. None if it is absent.

    Raises PluginError.
    """
    folders = typed(path, values, "path", list, "an array of strings")
    if folders is None:
        return None
    for folder in folders:
        fault = "expected an array of strings"
        if isinstance(folder, str):
            fault = "contains a NUL character" if "\0" in folder else folder_fault(folder)
        if fault:
            raise PluginError(Problem(path, fault, key="path"))
    return tuple(folders)


def check_under(path: str, under: Any) -> None:
    """Raise PluginError unless `under` has words that can name a category."""
    words = under.split()
    if not words or words[0] in _RESERVED or not all(map(is_word, words)):
        what = f"{under!r} cannot be the words of a category"
        remedy = "use letters, digits, ., _ and -; self, help and setup are reserved"
        raise PluginError(Problem(path, what, remedy, key="scripts.under"))


class Entry(Record):
    """A checked entry of the registry, with "" for each text that is absent or null."""

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
    installedAt: str = ""  # noqa: N815 - the key in the file
    enabled: bool = True
    dev: bool = False
    scripts: Mapping[str, str | bool] | None = None
    path: tuple[str, ...] | None = None
    pinned: bool = False
    unfinished: bool = False
    versions: tuple[str, ...] = ()

    @property
    def version_dir(self) -> str:
        """Return the name of the entry's directory in `.versions/<name>`, or "" for none."""
        built_of = self.commit or self.sha256
        if self.is_users_directory or not built_of:
            return ""
        return f"{self.version}-{built_of[:12]}" if self.is_package else built_of[:16]

    @property
    def source_and_ref(self) -> tuple[str, str, str]:
        return self.kind, self.source, self.ref

    @property
    def is_users_directory(self) -> bool:
        """Return whether the plugin is the user's own directory, not a copy or a package."""
        return KINDS[self.kind] == "directory"

    @property
    def is_package(self) -> bool:
        """Return whether the plugin is a Python distribution, not a directory in `plugins/`."""
        return KINDS[self.kind] == "environment"

    def fields(self) -> dict[str, Any]:
        """Return the entry as an object for a JSON file."""
        path = None if self.path is None else list(self.path)
        values = {**self.values(), "versions": list(self.versions), "path": path}
        return {name: None if one == "" else one for name, one in values.items()}


class Registry:
    """The registry's content: the valid entries in order, and the problems in the others.

    `refused` maps the name of each unusable entry to the reason; the files of such a plugin stay
    untouched. `exists` is True if there is a registry file.
    """

    def __init__(
        self, path: str, values: dict[str, Any] | None = None, local: dict[str, Any] | None = None
    ) -> None:
        self.exists = values is not None
        self.values = values or {"version": FORMAT, "plugins": []}
        self.local = local
        self.problems: list[Problem] = []
        self.refused: dict[str, Problem] = {}
        self.entries: dict[str, Entry] = {}
        own = {item.get("name"): item for item in local["plugins"]} if local else {}
        shared = [{**item, **own.pop(item.get("name"), {})} for item in self.values["plugins"]]
        for item in [*shared, *own.values()]:
            try:
                entry = read_entry(item)
            except PluginError as error:
                self.problems.append(Problem(path, error.what, error.remedy))
                self.refused[str(item.get("name"))] = error.problem
                continue
            if self.entries.setdefault(entry.name, entry) is not entry:
                what = f"the name {entry.name} occurs twice; the first entry is used"
                self.problems.append(Problem(path, what))

    def put(self, entry: Entry, *, team: bool = False) -> None:
        """Add `entry`, or replace the entry of the same name but keep that entry's unknown keys.

        If there is a local file, it gets the differences from the shared entry; with `team`, the
        shared entry changes instead.
        """
        self.entries[entry.name] = entry
        fields, shared = entry.fields(), _item(self.values, entry.name)
        _drop(self.local, entry.name)
        if self.local is not None and not team:
            there = read_entry(shared).fields() if shared else {}
            changed = {key: one for key, one in fields.items() if one != there.get(key, ...)}
            if changed:
                self.local["plugins"].append({"name": entry.name, **changed})
        elif shared is None:
            self.values["plugins"].append(fields)
        else:
            shared.update(fields)

    def drop(self, name: str) -> None:
        """Remove the entry of that name, if any; the team's shared file does not change."""
        self.entries.pop(name, None)
        _drop(self.values if self.local is None else self.local, name)

    def is_shared(self, name: str) -> bool:
        """Return whether the entry of that name is in a file that a team shares."""
        return self.local is not None and _item(self.values, name) is not None


def _item(values: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((item for item in values["plugins"] if item.get("name") == name), None)


def _drop(values: dict[str, Any] | None, name: str) -> None:
    if values is not None:
        values["plugins"] = [item for item in values["plugins"] if item.get("name") != name]


def read_entry(item: dict[str, Any]) -> Entry:
    """Check an entry's JSON object and return it as an `Entry`. Raises PluginError."""
    name = item.get("name")
    if not isinstance(name, str) or not is_plugin_name(name):
        raise PluginError(f"{name!r} is not a valid plugin name")
    versions = typed(name, item, "versions", list, "an array") or []
    fields: dict[str, Any] = {
        "scripts": read_scripts(name, item),
        "path": read_path(name, item),
        "versions": tuple(versions),
    }
    for key, default in Entry("", "").values().items():
        if isinstance(default, str):
            fields[key] = text(name, item, key)
        elif isinstance(default, bool):
            flag = typed(name, item, key, bool, "true or false")
            fields[key] = default if flag is None else flag
    entry = Entry(**fields)
    if entry.kind not in KINDS:
        raise PluginError(Problem(name, f"expected one of {', '.join(sorted(KINDS))}", key="kind"))
    for one in (*versions, *filter(None, [entry.version_dir])):
        if not isinstance(one, str) or not _VERSION_DIR.match(one):
            raise PluginError(Problem(name, f"{one!r} is not a valid version"))
    return entry


def registry_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, REGISTRY)


def local_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, LOCAL)


def read_registry(plugins_dir: str, file: str | None = None) -> Registry:
    """Return the registry, changed by registry.local.json, or only the content of `file`.

    The result is empty if the files do not exist. Raises HostError for an unusable file.
    """
    if file is not None:
        return Registry(file, _read(file))
    path = registry_path(plugins_dir)
    return Registry(path, _read(path), _read(local_path(plugins_dir)))


def _read(path: str) -> dict[str, Any] | None:
    try:
        values = read_object(path)
    except FileNotFoundError:
        return None
    version = text(path, values, "version")
    if version.partition(".")[0] != FORMAT.partition(".")[0]:
        what = f"expected {FORMAT}; found {version[:20] or 'nothing'}"
        raise PluginError(Problem(path, what, "update this program", key="version"))
    entries = values.get("plugins")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PluginError(Problem(path, "expected an array of objects", key="plugins"))
    return values


def effective_registry(plugins_dir: str) -> Registry:
    """Return the registry, or its last intact state, so that disabled plugins stay disabled.

    The last state is used if the registry cannot be read or is lost.
    """
    local, last = local_path(plugins_dir), os.path.join(plugins_dir, LAST)
    found, damage = Registry(last), None
    for path, changes in ((registry_path(plugins_dir), local), (last, local), (last, "")):
        try:
            found = Registry(path, _read(path), _read(changes) if changes else None)
        except HostError as error:  # try the next pair; perhaps only the local file is damaged
            damage = damage or error.problem
            continue
        if found.exists or path == last:
            break
    if damage:
        if found.exists:
            damage.text += "; its last intact version is used until it is repaired"
        found.problems.insert(0, damage)
    return found
