"""plugins/registry.json: which plugins there are, in which order, and which are on.

    {"version": "1.0.0", "plugins": [{"name", "kind", "source", "version",
     "description", "directory", "hooks", "ref", "commit", "sha256", "installedAt",
     "enabled", "dev", "scripts", "pinned", "versions"}]}

`kind` is git, local, archive or pip. `pinned` and `versions` (directories of what is kept
for a rollback, oldest first) are this program's own; keys that it does not know
survive. Nothing read here is trusted: each entry is checked before it is used.
"""

from __future__ import annotations

import os

from host import HostError, PluginError, Problem, Record, is_word
from host.run.json_file import Fields, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE_NAME = "registry.json"
LAST = ".registry.last.json"  # beside it: what it was when it was last intact
FORMAT = "1.0.0"
SCHEMA = "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/registry.schema.json"
# Where the files of each kind of plugin are: in kept versions that this program makes, in a
# directory of the user, or in Python's environment.
KINDS = {"pip": "environment", "archive": "versions", "git": "versions", "local": "directory"}

_LONGEST_VERSION_DIR = 128  # characters
FRAMEWORK_WORDS = frozenset(["self", "help", "setup"])
_TEXTS = {
    **{key: key for key in ("name", "kind", "source", "version", "description", "directory")},
    **{key: key for key in ("hooks", "ref", "commit", "sha256")},
    "installedAt": "installed_at",
}


def is_plugin_name(text: str) -> bool:
    """Tell whether `text` can name a plugin: `[a-z0-9][a-z0-9._-]*`, at most 64, not reserved."""
    return is_word(text) and text == text.lower() and text not in {*FRAMEWORK_WORDS, FILE_NAME}


def read_scripts(fields: Fields) -> dict[str, str] | None:
    """Return the key "scripts" of a plugin, None without one; raises DefinitionError."""
    value = fields.typed("scripts", dict, "an object")
    if value is None:
        return None
    inside = Fields(fields.path, value, "scripts")
    return {key: text for key in ("prefix", "split") if (text := inside.filled(key))}


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

    def same_as(self, other: Entry) -> bool:
        """Tell whether `other` is the same version from the same source."""
        return (*self.came_from, self.version_dir) == (*other.came_from, other.version_dir)

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
        if self.scripts is not None:
            found["scripts"] = dict(self.scripts)
        if self.pinned:
            found["pinned"] = True
        if self.versions:
            found["versions"] = list(self.versions)
        return found


class Registry:
    """The registry's content: entries in order, and what was wrong with others.

    `refused` has the reason for each name whose entry cannot be used: nothing is known
    of that plugin, so its files stay as they are. `damage` is why another state counts in
    the place of the file; where none `exists` either, nothing is known of any plugin.
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
            except HostError as error:
                self.problems.append(error.problem)
                self.refused[str(item.get("name"))] = error.problem
                continue
            if self.entries.setdefault(entry.name, entry) is not entry:
                what = f"the name {entry.name} stands twice; the first counts"
                self.problems.append(Problem("", what))

    @property
    def names(self) -> set[str]:
        """Return the names that the file speaks of, whether it can be understood or not."""
        return self.entries.keys() | self.refused.keys()

    def problems_of(self, path: str) -> list[Problem]:
        """Return what is wrong with the file at `path`, which this registry was read from."""
        damage = [self.damage] if self.damage else []
        return damage + [Problem(path, one.what, one.remedy) for one in self.problems]

    @property
    def disabled_distributions(self) -> list[str]:
        """Return the canonical names of distributions whose plugins are switched off."""
        entries = self.entries.values()
        return [entry.name for entry in entries if entry.is_package and not entry.enabled]

    def put(self, entry: Entry) -> None:
        """Add `entry`, or replace the one of its name, whose unknown keys stay."""
        self.entries[entry.name] = entry
        for item in self.values["plugins"]:
            if item.get("name") == entry.name:
                for key in ("scripts", "pinned", "versions"):
                    item.pop(key, None)
                item.update(entry.fields())
                return
        self.values["plugins"].append(entry.fields())

    def drop(self, name: str) -> None:
        """Take the entry of that name out, if there is one."""
        self.entries.pop(name, None)
        kept = [item for item in self.values["plugins"] if item.get("name") != name]
        self.values["plugins"] = kept


def read_entry(item: Mapping[str, Any]) -> Entry:
    """Return an entry of the file, checked; raises HostError saying what is wrong with it."""
    name = item.get("name")
    if not isinstance(name, str) or not is_plugin_name(name):
        raise PluginError(f"{name!r} cannot name a plugin")
    said = Fields(name, item)
    texts: dict[str, Any] = {own: _text(said, key) for key, own in _TEXTS.items()}
    entry = Entry(
        **texts,
        enabled=said.value("enabled") is None or said.flag("enabled"),
        dev=said.flag("dev"),
        scripts=read_scripts(said),
        pinned=said.flag("pinned"),
        versions=said.texts("versions"),
    )
    if entry.kind not in KINDS:
        raise said.refused("kind", f"expected one of {', '.join(sorted(KINDS))}")
    if not all(map(_is_version_dir, entry.versions)):
        raise said.refused("versions", "expected an array of names of version directories")
    if entry.version_dir and not _is_version_dir(entry.version_dir):
        raise PluginError(f"{name}: its commit, version or sha256 is none")
    return entry


def _text(said: Fields, key: str) -> str:
    """Return a text, which may be a path with bytes that are no UTF-8; raises DefinitionError."""
    text: str = said.typed(key, str, "a string") or ""
    if "\0" in text:
        raise said.refused(key, "holds a character that is not allowed")
    return text


def _is_version_dir(text: str) -> bool:
    """Tell whether `text` names a kept version: `[A-Za-z0-9][A-Za-z0-9._+!-]*`, at most 128."""
    of_label = all(one in "._+!-" or is_word(one) for one in text)
    return is_word(text[:1]) and of_label and len(text) <= _LONGEST_VERSION_DIR


def registry_path(plugins_dir: str) -> str:
    return os.path.join(plugins_dir, FILE_NAME)


def read_registry(path: str) -> Registry:
    """Return the registry in the file `path`, an empty one where there is none.

    Raises PluginError when it is unreadable, of a newer format or a link to nothing.
    """
    try:
        values: Any = read_json(path)
    except FileNotFoundError:
        if os.path.islink(path):  # where a team shares it may come back
            what = f"links to {os.readlink(path)}, which is not there"
            problem = Problem(path, what, "bring that back, or remove the link")
            raise PluginError(problem) from None
        return _empty()
    except HostError as error:
        raise PluginError(error.problem) from None
    version = values.get("version", "") if isinstance(values, dict) else None
    if type(version) is not str or not version.split(".")[0].isdecimal():
        raise PluginError(Problem(path, f'expected a string such as "{FORMAT}"', key="version"))
    if int(version.split(".")[0][:9]) > int(FORMAT.split(".", maxsplit=1)[0]):
        what = f"format {version} is newer than this program"
        raise PluginError(Problem(path, what, "update this program"))
    entries = values.get("plugins")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PluginError(Problem(path, "expected an array of objects", key="plugins"))
    return Registry(values, exists=True)


def effective_registry(plugins_dir: str) -> Registry:
    """Return what counts of the registry.

    While the file cannot be read, or is lost, its last intact state counts: what was switched
    off stays so, and the order of precedence too. Without one, nothing is known.
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
    """Return what the registry was when it was last intact, an empty one where nobody knows."""
    try:
        return read_registry(os.path.join(plugins_dir, LAST))
    except PluginError:
        return _empty()


def _empty() -> Registry:
    values = {"$schema": SCHEMA, "version": FORMAT, "plugins": []}
    return Registry(values, exists=False)
