"""An entry of the registry: what it contains, and how it is checked.

Nothing that an entry contains is trusted: `read_entry` checks it before it is used.
"""

from __future__ import annotations

import os

from builtin_plugins.registry.json_object import text, text_fault, typed
from host import PluginError, Problem, Record, folder_fault, is_word, masked_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

REGISTRY = "registry.json"
LOCAL = "registry.local.json"  # the file beside registry.json with one person's changes
VERSIONS = ".versions"  # the directory in `plugins/` for what this program makes
FILES_DIR = "tree"  # the subdirectory of each version for the plugin's files
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
SUBDIRECTORY = "#subdirectory="  # stands in a source before a directory in it
GIT_SCHEMES = ("https", "ssh", "git", "file")
NAME_RULE = "use a-z, 0-9, ., _ and -; self, help and setup are reserved"

_RESERVED = ("self", "help", "setup", REGISTRY, LOCAL)
_HEXADECIMAL = frozenset("0123456789abcdef")
_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_LETTERS = _LOWER | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_VERSION = _LETTERS | frozenset(".!+_-")
_LONGEST_VERSION = 100
_FEWEST_DIGITS = 7
_SHA256_DIGITS = 64
_LONGEST_DIRECTORY = 128


def is_plugin_name(name: str) -> bool:
    """Return whether `name` matches `[a-z0-9][a-z0-9._-]*` and has at most 64 characters.

    Returns False for reserved names: the program's own categories and the registry's files.
    """
    if name in _RESERVED or name != name.lower():
        return False
    return is_word(name)


def read_scripts(path: str, values: dict[str, Any]) -> dict[str, str | bool] | None:
    """Return a plugin's "scripts" value, or None if it is absent. Raises PluginError.

    "files" is kept only if it is false: script files are then no commands, and the other keys
    apply to the folders with definitions.
    """
    scripts = typed(path, values, "scripts", dict, "an object")
    if scripts is None:
        return None

    parts = {f"scripts.{key}": value for key, value in scripts.items()}
    checked: dict[str, str | bool] = {}
    for key in ("prefix", "split", "under"):
        part = text(path, parts, f"scripts.{key}")
        if part:
            checked[key] = part
    if "under" in checked:
        check_under(path, checked["under"])

    files = typed(path, parts, "scripts.files", bool, "true or false")
    if files is False:
        checked["files"] = False
    return checked


def read_path(path: str, values: dict[str, Any]) -> tuple[str, ...] | None:
    """Return a plugin's "path" value: folders to append to PATH. None if it is absent.

    Raises PluginError.
    """
    folders = typed(path, values, "path", list, "an array of strings")
    if folders is None:
        return None

    for folder in folders:
        if not isinstance(folder, str):
            fault = "expected an array of strings"
        else:
            fault = text_fault(folder) or folder_fault(folder)
        if fault:
            raise PluginError(Problem(path, fault, key="path"))
    return tuple(folders)


def check_under(path: str, under: Any) -> None:
    """Raise PluginError unless `under` has words that can name a category."""
    if _can_be_category(under.split()):
        return

    what = f"{under!r} cannot be the words of a category"
    remedy = "use letters, digits, ., _ and -; self, help and setup are reserved"
    raise PluginError(Problem(path, what, remedy, key="scripts.under"))


def _can_be_category(words: list[str]) -> bool:
    if not words or words[0] in _RESERVED:
        return False
    return all(map(is_word, words))


class Package(Record):
    """A distribution in the folder of a package.

    sha256   the checksum of the file that was installed, or () if the index had none
    file     the name of that file
    url      its address, without credentials
    built    whether the file is a source distribution
    """

    name: str
    version: str
    sha256: tuple[str, ...] = ()
    file: str = ""
    url: str = ""
    built: bool = False

    def fields(self) -> dict[str, Any]:
        return {**self.values(), "sha256": list(self.sha256)}


class Entry(Record):
    """A checked entry of the registry, with "" for each text that is absent or null.

    `scripts` says how files become commands:
        None                  as plugin.json says; without a word there, only folders are commands
        {}                    each script is a command
        {"prefix", "split"}   each script is a command, and its name is shortened or split so
        {"files": False}      as None; stands beside "under", which alone would be a choice
        {"under": "a b"}      all commands are below this category, with any of the above
    `path` has the folders that are appended to PATH:
        None                  those in plugin.json
        ()                    none, whatever plugin.json says
    """

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
    packages: tuple[Package, ...] = ()
    python: str = ""

    @property
    def under(self) -> tuple[str, ...]:
        """Return the words of the category that the user chose for the plugin's commands."""
        if self.scripts is None:
            return ()
        words = str(self.scripts.get("under", ""))
        return tuple(words.split())

    @property
    def version_dir(self) -> str:
        """Return the name of the entry's directory in `.versions/<name>`, or "" for none.

        A version is determined by its origin and, if it has them, by the subdirectory of the source
        and by all packages that it brings.
        """
        if KINDS[self.kind] != "versions":
            return ""
        is_fetched = bool(self.origin or self.packages)
        if not is_fetched:
            return ""

        _, _, subdirectory = self.source.partition(SUBDIRECTORY)
        begin = self.version if self.is_package else self.origin[:16]
        if not self.is_package and not subdirectory:
            return begin

        import hashlib  # imported here because most lists of plugins need it for no entry

        facts = [self.origin]
        for package in self.packages:
            facts.append(f"{package.name}=={package.version}")
        if subdirectory:
            facts.append(subdirectory)
        text = "\n".join(facts)
        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        return f"{begin}-{digest[:12]}"

    def root(self, plugins_dir: str) -> str:
        """Return the directory of the plugin's files, whether or not it exists.

        It is the recorded version below `.versions`, the directory that the user has linked, or the
        one that the user has put into `plugins/`. It is "" for a package of the environment, and
        without a recorded version.
        """
        if self.is_users_directory:
            return self.source or os.path.join(plugins_dir, self.name)
        if not self.version_dir:
            return ""
        return os.path.join(
            plugins_dir, VERSIONS, self.name, self.version_dir, FILES_DIR
        )

    @property
    def origin(self) -> str:
        """Return the commit or, without one, the checksum of what was fetched, or ""."""
        return self.commit or self.sha256

    @property
    def source_and_ref(self) -> tuple[str, str, str]:
        return self.kind, self.source, self.ref

    def is_same_plugin(self, other: Entry) -> bool:
        """Return whether `other`, of the same name, is this plugin, perhaps in another version.

        The name of a package is the same in every source.
        """
        if self.is_package and other.is_package:
            return True
        return (self.kind, self.source) == (other.kind, other.source)

    def hides(self, listed: Entry) -> bool:
        """Return whether this is the user's own plugin with the name of one that others list."""
        return self.dev != listed.dev or not self.is_same_plugin(listed)

    @property
    def is_users_directory(self) -> bool:
        """Return whether the plugin is the user's own directory, not a copy or a package."""
        return KINDS[self.kind] == "directory"

    @property
    def is_linked(self) -> bool:
        """Return whether only the user has the files: a directory, or a package's project."""
        return self.is_users_directory or self.dev

    @property
    def is_package(self) -> bool:
        """Return whether the plugin is a Python package, in a folder of its own or elsewhere."""
        if self.kind == "pip":
            return True
        return self.is_in_environment

    @property
    def is_in_environment(self) -> bool:
        """Return whether the user installed the plugin into the program's Python environment."""
        return KINDS[self.kind] == "environment"

    @property
    def built_packages(self) -> dict[str, str]:
        """Return the versions, by name, of the packages that were built from their sources."""
        versions = {}
        for package in self.packages:
            if package.built:
                versions[package.name] = package.version
        return versions

    def fields(self) -> dict[str, Any]:
        """Return the entry as an object for a JSON file."""
        values = self.values()
        if self.path is not None:
            values["path"] = list(self.path)
        values["packages"] = [package.fields() for package in self.packages]
        # Only a package has these keys.
        if not self.is_package:
            del values["packages"]
            del values["python"]

        for key, value in values.items():
            if value == "":
                values[key] = None
        return values


_DEFAULTS = Entry("", "").values()


def is_known_key(key: str) -> bool:
    """Return whether `Entry` has a value of that key; an entry in a file may have other keys."""
    return key in _DEFAULTS


def read_entry(item: dict[str, Any]) -> Entry:
    """Check an entry's JSON object and return it as an `Entry`. Raises PluginError."""
    name = item.get("name")
    if not isinstance(name, str) or not is_plugin_name(name):
        raise PluginError(f"{name!r} is not a valid plugin name")
    _check_keys(name, item)

    packages = _array(name, item, "packages")
    fields: dict[str, Any] = {
        "scripts": read_scripts(name, item),
        "path": read_path(name, item),
        "packages": _read_packages(name, packages),
    }
    for key, default in _DEFAULTS.items():
        if isinstance(default, str):
            fields[key] = text(name, item, key)
        elif isinstance(default, bool):
            flag = typed(name, item, key, bool, "true or false")
            if flag is None:
                flag = default
            fields[key] = flag

    entry = Entry(**fields)
    if entry.kind not in KINDS:
        what = f"expected one of {', '.join(sorted(KINDS))}"
        raise PluginError(Problem(name, what, key="kind"))
    _check_texts(entry)
    return entry


def _array(name: str, item: dict[str, Any], key: str) -> list[Any]:
    """Return the array at `key`, or [] if it is absent or null. Raises PluginError."""
    values: list[Any] | None = typed(name, item, key, list, "an array")
    if values is None:
        return []
    return values


def _check_texts(entry: Entry) -> None:
    """Raise PluginError for a text that an installer or git could take for something else."""
    for key, form in _FORMS.items():
        value = getattr(entry, key)
        if value and not form(value):
            what = f"{value!r} is not valid"
            raise PluginError(Problem(entry.name, what, key=key))

    if entry.source and not is_source(entry.kind, entry.source):
        what = f"{masked_text(entry.source)!r} is not a source of kind {entry.kind}"
        raise PluginError(Problem(entry.name, what, key="source"))
    if entry.version_dir and not _is_version(entry.version_dir, _LONGEST_DIRECTORY):
        what = f"{entry.version!r} is not a valid version"
        raise PluginError(Problem(entry.name, what, key="version"))


def is_source(kind: str, source: str) -> bool:
    """Return whether `source` has the form of a source of this kind.

    The form is an absolute path, an address or, for a package, a requirement.
    """
    if source.startswith("/"):
        return kind != "git"
    # A folder's name may have any other character, also one that Unicode has not assigned.
    if source.startswith("-") or min(source) < " ":
        return False

    before, mark, _ = source.partition("://")
    scheme = before.lower() if mark else ""
    if kind == "archive":
        return scheme in ("https", "http")
    if kind == "git" and not scheme:
        host, colon, path = source.partition(":")  # user@host:path
        is_address = bool(colon) and not path.startswith(":")  # ext::command
        return is_address and "/" not in host
    if kind == "git":
        return scheme in GIT_SCHEMES
    return kind != "local"


def _is_ref(ref: str) -> bool:
    return not ref.startswith("-") and ref.split() == [ref]


def _is_hash(text: str) -> bool:
    """Return whether a text may be a commit or a checksum, or the beginning of one."""
    is_hexadecimal = _HEXADECIMAL.issuperset(text)
    return is_hexadecimal and _FEWEST_DIGITS <= len(text) <= _SHA256_DIGITS


def _check_keys(name: str, item: dict[str, Any]) -> None:
    """Raise PluginError for an unknown key that resembles "enabled"."""
    for key, value in item.items():
        if key in _DEFAULTS or not isinstance(value, bool):
            continue

        # Imported here because unknown keys are rare.
        from difflib import get_close_matches

        # A misspelt "enabled" would enable a disabled plugin.
        if get_close_matches(key, ["enabled"], cutoff=0.8):
            raise PluginError(
                Problem(name, "unknown key", 'did you mean "enabled"?', key=key)
            )


def _read_packages(plugin: str, items: list[Any]) -> tuple[Package, ...]:
    packages = []
    for item in items:
        packages.append(_read_package(plugin, item))
    return tuple(packages)


def _read_package(plugin: str, item: Any) -> Package:
    """Check an item of `packages`, whose texts are given to pip. Raises PluginError."""
    if not isinstance(item, dict):
        what = "expected an array of objects"
        raise PluginError(Problem(plugin, what, key="packages"))

    name = text(plugin, item, "name")
    version = text(plugin, item, "version")
    file = text(plugin, item, "file")
    url = masked_text(text(plugin, item, "url"))
    hashes = typed(plugin, item, "sha256", list, "an array of strings")
    built = typed(plugin, item, "built", bool, "true or false")

    is_valid = (
        _is_package_name(name)
        and _is_version(version, _LONGEST_VERSION)
        and hashes is not None
        and all(map(_is_sha256, hashes))
    )
    if not is_valid:
        what = "expected a canonical name, a version and a list of SHA-256 checksums"
        raise PluginError(Problem(plugin, what, key="packages"))
    return Package(name, version, tuple(hashes), file, url, built is True)


def _is_package_name(name: str) -> bool:
    """Return whether `name` is canonical: `[a-z0-9]([a-z0-9-]*[a-z0-9])?`."""
    if not name or name != name.strip("-"):
        return False
    return _LOWER.issuperset(name.replace("-", ""))


def _is_version(version: Any, longest: int) -> bool:
    """Return whether `version` matches `[A-Za-z0-9][A-Za-z0-9.!+_-]*`, and is no longer."""
    if not isinstance(version, str) or len(version) > longest:
        return False
    if version[:1] not in _LETTERS:
        return False
    return _VERSION.issuperset(version)


def _is_sha256(checksum: Any) -> bool:
    if not isinstance(checksum, str) or len(checksum) != _SHA256_DIGITS:
        return False
    return _HEXADECIMAL.issuperset(checksum)


_FORMS = {"ref": _is_ref, "commit": _is_hash, "sha256": _is_hash}
