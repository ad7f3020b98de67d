"""plugins/registry.json: the plugins, their order, and which of them are enabled.

    {"version": "1.0.0", "plugins": [{"name", "kind", "source", "version",
     "description", "directory", "hooks", "ref", "commit", "sha256", "installedAt",
     "enabled", "dev", "scripts", "path", "pinned", "versions", "words", "unfinished",
     "packages": [{"name", "version", "sha256": […], "built"}], "python"}]}

`kind` is git, local, archive, pip or environment (a package that the user installed into the
program's environment; it has an entry only if it is disabled). `pinned`, `versions` (kept for a
rollback, oldest first), `words` (the first words of its commands, for an unknown word if its files
are missing) and `unfinished` (a removal is not finished) are managed by this program, as are the
keys of a package: `packages` are those that its folder has from an index, and `python` is
the only version of Python that can load its compiled code. Unknown keys are preserved. Nothing read
here is trusted: each entry is checked before it is used.

If `registry.local.json` exists beside registry.json, a team shares registry.json. Personal changes
go to the local file, which has the same format; the keys of its entries replace shared ones.

Each of the two files has a copy of its last intact state, which is used if the file is damaged or
lost. A damaged file never enables a plugin that was disabled.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from builtin_plugins.plugins_folder.json_object import read_object, text, typed
from host import HostError, PluginError, Problem, Record, folder_fault, is_word

REGISTRY = "registry.json"
LOCAL = "registry.local.json"  # the file beside registry.json with one person's changes
LAST = {  # each file, and the file beside it with its last intact state
    REGISTRY: ".registry.last.json",
    LOCAL: ".registry.local.last.json",
}
FORMAT = "1.0.0"
SCHEMA = "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/registry.schema.json"
# Each kind, and where its files are: in `.versions`, in the user's own directory or in the Python
# environment of the program. The first that accepts a SOURCE is used. Kind `x` is `XSource` in
# `sources/x.py`.
KINDS = {
    "pip": "versions",
    "environment": "environment",
    "archive": "versions",
    "git": "versions",
    "local": "directory",  # accepts every directory, so it is the last
}
NAME_RULE = "use a-z, 0-9, ., _ and -; self, help and setup are reserved"

_PACKAGE_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?\Z")  # canonical
_PACKAGE_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]{0,99}\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
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


class Package(Record):
    """A distribution in the folder of a package, as an index lists it.

    `sha256` has the checksum of each file that the index lists for this version, so that other
    machines can use the file that fits. `built` means that a source distribution was used.
    """

    name: str
    version: str
    sha256: tuple[str, ...] = ()
    built: bool = False

    def fields(self) -> dict[str, Any]:
        return {**self.values(), "sha256": list(self.sha256)}


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
    words: tuple[str, ...] = ()
    packages: tuple[Package, ...] = ()
    python: str = ""

    @property
    def under(self) -> tuple[str, ...]:
        """Return the words of the category that the user chose for the plugin's commands."""
        return tuple(str((self.scripts or {}).get("under", "")).split())

    @property
    def version_dir(self) -> str:
        """Return the name of the entry's directory in `.versions/<name>`, or "" for none.

        A version of a package is determined by its origin and all packages that it brings.
        """
        built_of = self.commit or self.sha256
        if self.is_users_directory or not (built_of or self.packages):
            return ""
        if not self.is_package:
            return built_of[:16]
        import hashlib  # imported here because most lists of plugins need it for no entry

        facts = [built_of, *(f"{one.name}=={one.version}" for one in self.packages)]
        digest = hashlib.sha256("\n".join(facts).encode()).hexdigest()
        return f"{self.version}-{digest[:12]}"

    @property
    def source_and_ref(self) -> tuple[str, str, str]:
        return self.kind, self.source, self.ref

    @property
    def is_users_directory(self) -> bool:
        """Return whether the plugin is the user's own directory, not a copy or a package."""
        return KINDS[self.kind] == "directory"

    @property
    def is_package(self) -> bool:
        """Return whether the plugin is a Python package, in a folder of its own or elsewhere."""
        return self.kind == "pip" or self.is_in_environment

    @property
    def is_in_environment(self) -> bool:
        """Return whether the user installed the plugin into the program's Python environment."""
        return KINDS[self.kind] == "environment"

    def fields(self) -> dict[str, Any]:
        """Return the entry as an object for a JSON file."""
        path = None if self.path is None else list(self.path)
        values = {**self.values(), "versions": list(self.versions), "path": path}
        values["words"] = list(self.words)
        values["packages"] = [one.fields() for one in self.packages]
        if not self.is_package:
            del values["packages"], values["python"]
        return {name: None if one == "" else one for name, one in values.items()}


_KEYS = {*Entry("", "").values()}


class Registry:
    """The registry's content: the valid entries in order, and the problems in the others.

    `refused` maps the name of each unusable entry to the reason; the files of such a plugin stay
    untouched. `kept_disabled` has the names of plugins that are disabled because they were, though
    a damaged file no longer says so. `exists` is True if there is a registry file. `is_damaged` is
    True if a file cannot be read at all; then only plugins with an entry may run. `on_disk` has the
    content of each file, by its path, when it was read or written last; None for a missing file.
    """

    def __init__(
        self, path: str, values: dict[str, Any] | None = None, local: dict[str, Any] | None = None
    ) -> None:
        self.exists = values is not None
        self.values = values or {"version": FORMAT, "plugins": []}
        self.local = local
        self.is_damaged = False
        self.problems: list[Problem] = []
        self.refused: dict[str, Problem] = {}
        self.entries: dict[str, Entry] = {}
        self.kept_disabled: set[str] = set()
        self.on_disk: dict[str, str | None] = {}
        for file, item in self._merged(path):
            try:
                entry = read_entry(item)
            except PluginError as error:
                self.problems.append(Problem(file, error.what, error.remedy))
                self.refused[str(item.get("name"))] = error.problem
                continue
            if self.entries.setdefault(entry.name, entry) is not entry:
                what = f"the name {entry.name} occurs twice; the first entry is used"
                self.problems.append(Problem(file, what))

    def _merged(self, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each entry, shared keys replaced by local ones, and the file to name in errors."""
        local_file = os.path.join(os.path.dirname(path), LOCAL)
        changes: dict[str, dict[str, Any]] = {}
        unnamed = []  # local entries that can change no shared entry
        for item in self.local["plugins"] if self.local else ():
            name = item.get("name")
            if isinstance(name, str) and name not in changes:
                changes[name] = item
            else:
                unnamed.append(item)
        for item in self.values["plugins"]:
            name = item.get("name")
            change = changes.pop(name, {}) if isinstance(name, str) else {}
            is_local = bool(change) and _is_valid(item)
            yield (local_file if is_local else path), {**item, **change}
        for item in (*changes.values(), *unnamed):
            yield local_file, item

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


def _is_valid(item: dict[str, Any]) -> bool:
    try:
        read_entry(item)
    except PluginError:
        return False
    return True


def read_entry(item: dict[str, Any]) -> Entry:
    """Check an entry's JSON object and return it as an `Entry`. Raises PluginError."""
    name = item.get("name")
    if not isinstance(name, str) or not is_plugin_name(name):
        raise PluginError(f"{name!r} is not a valid plugin name")
    _check_keys(name, item)
    versions = typed(name, item, "versions", list, "an array") or []
    words = typed(name, item, "words", list, "an array") or []
    packages = typed(name, item, "packages", list, "an array") or []
    fields: dict[str, Any] = {
        "scripts": read_scripts(name, item),
        "path": read_path(name, item),
        "versions": tuple(versions),
        "words": _read_words(name, words),
        "packages": tuple(_read_package(name, one) for one in packages),
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


def _check_keys(name: str, item: dict[str, Any]) -> None:
    """Raise PluginError for an unknown key that resembles "enabled"."""
    for key, value in item.items():
        if key in _KEYS or not isinstance(value, bool):
            continue
        from difflib import get_close_matches  # imported here because unknown keys are rare

        # A misspelt "enabled" would enable a disabled plugin.
        if get_close_matches(key, ["enabled"], cutoff=0.8):
            raise PluginError(Problem(name, "unknown key", 'did you mean "enabled"?', key=key))


def _read_words(plugin: str, words: list[Any]) -> tuple[str, ...]:
    """Return the recorded words that can name a command. Raises PluginError."""
    if not all(isinstance(word, str) for word in words):
        raise PluginError(Problem(plugin, "expected an array of strings", key="words"))
    # They only explain an unknown word, so an invalid word is no reason to refuse the plugin.
    return tuple(filter(is_word, words))


def _read_package(plugin: str, item: Any) -> Package:
    """Check an item of `packages`, whose texts are given to pip. Raises PluginError."""
    if not isinstance(item, dict):
        raise PluginError(Problem(plugin, "expected an array of objects", key="packages"))
    name, version = text(plugin, item, "name"), text(plugin, item, "version")
    hashes = typed(plugin, item, "sha256", list, "an array of strings")
    built = typed(plugin, item, "built", bool, "true or false")
    is_valid = (
        _PACKAGE_NAME.match(name)
        and _PACKAGE_VERSION.match(version)
        and hashes is not None
        and all(isinstance(one, str) and _SHA256.match(one) for one in hashes)
    )
    if not is_valid:
        expected = "expected a canonical name, a version and a list of SHA-256 checksums"
        raise PluginError(Problem(plugin, expected, key="packages"))
    return Package(name, version, tuple(hashes), built is True)


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
        return Registry(file, read_values(file))
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
        problem = file.error.problem
        registry.is_damaged = True
        what = "its last intact version is used until it is repaired"
        if file.last is None:
            what = "no plugin runs until it is repaired"
            for name, entry in registry.entries.items():
                registry.entries[name] = entry.replaced(enabled=False)
        problem.text = f"{problem.text}; {what}"
        registry.problems.insert(0, problem)
    return registry


class _File(NamedTuple):
    """One of the two files: its content, its last intact state, and why it cannot be read."""

    path: str
    values: dict[str, Any] | None
    last: dict[str, Any] | None
    error: HostError | None = None
    on_disk: str | None = None


def _read_file(plugins_dir: str, name: str) -> _File:
    """Read a file of the registry; its last intact state replaces it if it is lost or damaged."""
    path, last = os.path.join(plugins_dir, name), None
    with suppress(HostError):
        last = read_values(os.path.join(plugins_dir, LAST[name]))
    try:
        values = read_values(path)
    except HostError as error:
        return _File(path, last, last, error)
    if values is None and os.path.lexists(path):
        dangling = PluginError(Problem(path, "links to a file that does not exist"))
        return _File(path, last, last, dangling)
    return _File(path, last if values is None else values, last, on_disk=as_text(values))


def as_text(values: dict[str, Any] | None) -> str | None:
    """Return the content of a registry file in one form, to compare it; None if it is missing."""
    return None if values is None else json.dumps(values)


def read_values(path: str) -> dict[str, Any] | None:
    """Return the content of a registry file, or None if it does not exist. Raises HostError."""
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


def _combined(shared: _File, personal: _File) -> Registry:
    """Return the registry of both files; a damaged entry does not enable what was disabled."""
    registry = Registry(shared.path, shared.values, personal.values)
    registry.on_disk = {file.path: file.on_disk for file in (shared, personal)}
    if (shared.last, personal.last) == (shared.values, personal.values) and not registry.problems:
        return registry  # nothing is damaged or lost
    before = Registry(shared.path, shared.last, personal.last)
    # An entry whose name is damaged leaves a plugin without the entry that disabled it.
    lost = {*_lost_names(shared, registry), *_lost_names(personal, registry)}
    for name, former in before.entries.items():
        current = registry.entries.get(name)
        if former.enabled or name in registry.refused:
            continue
        if current is not None and current.enabled and name in lost:
            registry.entries[name] = current.replaced(enabled=False)
            registry.kept_disabled.add(name)
        # A link to a version that this program made does not run without an entry.
        if current is None and KINDS[former.kind] != "versions":
            registry.entries[name] = former
            registry.kept_disabled.add(name)
    return registry


def _lost_names(file: _File, registry: Registry) -> Iterator[str]:
    """Yield the names that a file with a damaged entry has no longer."""
    if all(problem.path != file.path for problem in registry.problems):
        return
    names = [item.get("name") for item in (file.values or {}).get("plugins", ())]
    for item in (file.last or {}).get("plugins", ()):
        name = item.get("name")
        if isinstance(name, str) and name not in names:
            yield name
