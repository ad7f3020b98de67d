"""plugins/registry.json: which plugins there are, in which order, and which are on.

    {"version": "1.0.0", "plugins": [{"name", "kind", "source", "version",
     "description", "directory", "hooks", "ref", "commit", "sha256", "installedAt",
     "enabled", "dev", "pinned", "versions"}]}

`kind` is git, local, archive or pip. `pinned` and `versions` (labels of what is kept
for a rollback, oldest first) are this program's own; keys that it does not know
survive. Nothing read here is trusted: each entry is checked before it is used.
"""

from __future__ import annotations

import os

from host import HostError, PluginError, Record
from host.run.definition import is_word
from host.run.json_files import Number, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    from builtin_plugins.files.flock import Waiting

FILE_NAME = "registry.json"
LAST = ".registry.last.json"  # beside it: what it was when it was last intact
FORMAT = "1.0.0"
_SCHEMA = (
    "https://raw.githubusercontent.com/cli-host/cli-host/main/core/schema/registry.schema.json"
)
KINDS = ("git", "local", "archive", "pip")

_LONGEST_LABEL = 128  # characters
FRAMEWORK_WORDS = frozenset(["self", "help", "setup"])
_LOCK_FILE = ".registry.lock"
_TEXTS = {
    **{key: key for key in ("name", "kind", "source", "version", "description", "directory")},
    **{key: key for key in ("hooks", "ref", "commit", "sha256")},
    "installedAt": "installed_at",
}


def is_plugin_name(text: str) -> bool:
    """Tell whether `text` can name a plugin: `[a-z0-9][a-z0-9._-]*`, at most 64, not reserved."""
    return is_word(text) and text == text.lower() and text not in {*FRAMEWORK_WORDS, FILE_NAME}


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
    pinned: bool = False
    versions: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return the name of the directory in `.versions/<name>` that holds it, "" for none."""
        if self.kind == "git":
            return self.commit[:16]
        if self.kind == "archive":
            return self.sha256[:16]
        return f"{self.version}-{self.sha256[:12]}" if self.kind == "pip" and self.sha256 else ""

    @property
    def managed(self) -> bool:
        """Tell whether its files are copies that this program keeps in `.versions`."""
        return self.kind in ("git", "archive")

    @property
    def from_wheel(self) -> bool:
        """Tell whether it was added as a wheel, by its path or address."""
        return self.kind == "pip" and self.source.partition("?")[0].endswith(".whl")

    def fields(self) -> dict[str, Any]:
        """Return it as the file has it."""
        found: dict[str, Any] = {key: getattr(self, own) or None for key, own in _TEXTS.items()}
        found |= {"enabled": self.enabled, "dev": self.dev}
        if self.pinned:
            found["pinned"] = True
        if self.versions:
            found["versions"] = list(self.versions)
        return found


class Registry:
    """The registry's content: entries in order, and what was wrong with others.

    `refused` has the reason for each name whose entry cannot be used: nothing is known
    of that plugin, so its files stay as they are.
    """

    def __init__(self, values: dict[str, Any], *, exists: bool) -> None:
        self.values = values
        self.exists = exists
        self.changed = False
        self.problems: list[str] = []
        self.refused: dict[str, str] = {}
        self.entries: dict[str, Entry] = {}
        for item in values["plugins"]:
            try:
                entry = read_entry(item)
            except PluginError as error:
                self.problems.append(str(error))
                self.refused[str(item.get("name"))] = str(error)
                continue
            if self.entries.setdefault(entry.name, entry) is not entry:
                self.problems.append(f"the name {entry.name} stands twice; the first counts")

    @property
    def names(self) -> set[str]:
        """Return the names that the file speaks of, whether it can be understood or not."""
        return self.entries.keys() | self.refused.keys()

    def put(self, entry: Entry) -> None:
        """Add `entry`, or replace the one of its name, whose unknown keys stay."""
        self.changed = True
        self.entries[entry.name] = entry
        for item in self.values["plugins"]:
            if item.get("name") == entry.name:
                for key in ("pinned", "versions"):
                    item.pop(key, None)
                item.update(entry.fields())
                return
        self.values["plugins"].append(entry.fields())

    def drop(self, name: str) -> None:
        """Take the entry of that name out, if there is one."""
        self.changed = True
        self.entries.pop(name, None)
        kept = [item for item in self.values["plugins"] if item.get("name") != name]
        self.values["plugins"] = kept


def read_entry(item: Mapping[str, Any]) -> Entry:
    """Return an entry of the file, checked; raises PluginError saying what is wrong with it."""
    name = item.get("name")
    if type(name) is not str or not is_plugin_name(name):  # a number is a str, too
        raise PluginError(f"{name!r} cannot name a plugin")
    found: dict[str, Any] = {}
    for key, own in _TEXTS.items():
        value = item.get(key)
        if value is not None and (type(value) is not str or "\0" in value):
            raise PluginError(f'{name}: "{key}": expected a string')
        found[own] = str(value or "")
    if found["kind"] not in KINDS:
        raise PluginError(f'{name}: "kind": expected one of {", ".join(KINDS)}')
    for key, usual in (("enabled", True), ("dev", False), ("pinned", False)):
        value = item.get(key, usual)
        if not isinstance(value, bool):
            raise PluginError(f'{name}: "{key}": expected true or false')
        found[key] = value
    versions = [] if item.get("versions") is None else item["versions"]
    if not isinstance(versions, list) or not all(map(is_label, versions)):
        raise PluginError(f'{name}: "versions": expected an array of labels')
    entry = Entry(**found, versions=tuple(versions))
    if entry.label and not is_label(entry.label):
        raise PluginError(f"{name}: its commit, version or sha256 is none")
    return entry


def is_label(text: Any) -> bool:
    """Tell whether `text` names a kept version: `[A-Za-z0-9][A-Za-z0-9._+!-]*`, at most 128."""
    if type(text) is not str or len(text) > _LONGEST_LABEL:  # a number is a str, too
        return False
    return is_word(text[:1]) and all(one in "._+!-" or is_word(one) for one in text)


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
            raise PluginError(
                f"{path}: links to {os.readlink(path)}, which is not there",
                "bring that back, or remove the link",
            ) from None
        return _empty()
    except HostError as error:
        raise PluginError(error.what, error.remedy) from None
    version = values.get("version", "") if isinstance(values, dict) else None
    if type(version) is not str or not version.split(".")[0].isdecimal():
        raise PluginError(f'{path}: "version": expected a string such as "{FORMAT}"')
    if int(version.split(".")[0][:9]) > int(FORMAT.split(".", maxsplit=1)[0]):
        raise PluginError(
            f"{path}: format {version} is newer than this program", "update this program"
        )
    entries = values.get("plugins")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PluginError(f'{path}: "plugins": expected an array of objects')
    return Registry(values, exists=True)


def effective_registry(plugins_dir: str) -> tuple[Registry, str]:
    """Return what counts of the registry, and what is wrong with it, "" where nothing is.

    While the file cannot be read, or is lost, its last intact state counts: what was switched
    off stays so, and the order of precedence too. Without one, nothing is known.
    """
    problem = ""
    try:
        found = read_registry(registry_path(plugins_dir))
        if found.exists:
            return found, ""
    except PluginError as error:
        problem = str(error)
    last = last_intact(plugins_dir)
    if problem and last.exists:
        problem += "; its last intact state counts until it is mended"
    return last, problem


def last_intact(plugins_dir: str) -> Registry:
    """Return what the registry was when it was last intact, an empty one where nobody knows."""
    try:
        return read_registry(os.path.join(plugins_dir, LAST))
    except PluginError:
        return _empty()


def disabled_distributions(plugins_dir: str) -> list[str]:
    """Return the canonical names of distributions whose plugins are switched off."""
    entries = effective_registry(plugins_dir)[0].entries.values()
    return [entry.name for entry in entries if entry.kind == "pip" and not entry.enabled]


def _empty() -> Registry:
    values = {"$schema": _SCHEMA, "version": FORMAT, "plugins": []}
    return Registry(values, exists=False)


def exclusive(
    plugins_dir: str, waiting: Waiting | None = None, *, patient: bool = True
) -> AbstractContextManager[int]:
    """Be the only one who changes plugins here; `waiting` is told who else is.

    Raises OperationError when that one stays.
    """
    from builtin_plugins.files.flock import PATIENCE, locked  # who reads needs none of it

    path = os.path.join(plugins_dir, _LOCK_FILE)
    return locked(path, PATIENCE if patient else 0.0, waiting, create=True)


def write_registry(path: str, registry: Registry) -> None:
    """Replace the file by `registry` where that was changed; the caller holds `exclusive`.

    A link is followed, so that a team's file can stay where it is shared. A copy beside
    it is what counts when somebody damages it. Raises OSError.
    """
    from contextlib import suppress

    from builtin_plugins.files.atomic import write_file

    if registry.changed:
        registry.values = {"$schema": _SCHEMA, **registry.values}
        write_file(os.path.realpath(path), dump(registry.values) + "\n")
        registry.changed, registry.exists = False, True
    plugins_dir = os.path.dirname(path)
    if registry.exists and not is_kept(plugins_dir, registry):
        with suppress(OSError):  # it is for the day when the other one is damaged
            write_file(os.path.join(plugins_dir, LAST), dump(registry.values) + "\n")


def is_kept(plugins_dir: str, registry: Registry) -> bool:
    """Tell whether the copy of the last intact state is one of `registry`."""
    last = last_intact(plugins_dir)
    return last.exists and last.values == registry.values


def dump(value: Any, indent: str = "") -> str:
    """Return `value` as JSON text; numbers come out as they were written."""
    import json

    inner = indent + "  "
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict) and value:
        rows = [f"{inner}{json.dumps(key)}: {dump(one, inner)}" for key, one in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        rows = [inner + dump(one, inner) for one in value]
        return "[\n" + ",\n".join(rows) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=not _is_encodable(value))


def _is_encodable(value: Any) -> bool:
    return not (isinstance(value, str) and any("\ud800" <= one <= "\udfff" for one in value))
