"""The interface of plugin sources: each kind has a class in the module named after the kind.

A new kind is a module here, and a line in `KINDS` of `registry.entry`.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from importlib import import_module
from typing import Any, Self
from urllib.parse import urlsplit

from builtin_plugins.library.addresses import without_credentials
from builtin_plugins.library.files.atomic import is_real_dir
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.directory_contents import (
    check_not_empty,
    read_contents,
    read_new,
)
from builtin_plugins.plugins.python_project import (
    is_package,
    project_name,
)
from builtin_plugins.registry.directory import (
    read_plugin,
    store_of,
)
from builtin_plugins.registry.entry import SUBDIRECTORY, Entry
from builtin_plugins.registry.version import (
    PluginVersion,
    relocated,
)
from host import HostError, PluginError, UsageError
from host.files.paths import is_inside

_LONGEST_NAME = 64
_COMMON_NAMES = ("bin", "script", "scripts", "tools", "commands")
_EXTRAS = re.compile(r"(.+)(\[[A-Za-z0-9][\w.,-]*\])\Z")
ARCHIVES = (".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar", ".zip")


class PluginSource:
    """One plugin and its source; the base class of all kinds.

    The methods of this class are for directory plugins.

    `entry` is the plugin's registry entry as far as it is known before fetching; its source has no
    credentials. `address` is fetched and may contain credentials. If the entry has a commit or
    checksum, exactly that version is fetched; otherwise, the newest version that is not older than
    the entry's version.
    """

    prefix = ""  # the beginning of a SOURCE of this kind, such as "pip:", unless a suffix decides
    suffixes: tuple[str, ...] = ()  # the file name endings that this kind accepts
    name_hint = "; or use --name"  # appended to an error about a plugin's name
    is_from_git = False  # whether the source has a branch, tag or commit
    has_subdirectories = False  # whether the source may name a directory in it
    has_checksum = False  # whether the user can give the SHA-256 of the fetched file
    is_one_version = False  # whether each version has its own source, such as a wheel
    ref_in_address = ""

    def __init__(self, entry: Entry) -> None:
        self.address, mark, self.subdirectory = entry.source.partition(SUBDIRECTORY)
        self.entry = entry

        # A plugin with an invalid source can still be removed.
        with suppress(UsageError):
            source = f"{self.stored(self.address)}{mark}{self.subdirectory}"
            self.entry = entry.replaced(source=source)

    @classmethod
    def of(cls, entry: Entry) -> "PluginSource":
        """Return the source of an entry of this kind; a kind with subclasses chooses one."""
        return cls(entry)

    def replaced(self, **facts: Any) -> Self:
        """Return a copy of this source whose entry has other values, but the same source."""
        changed = copy(self)
        changed.entry = self.entry.replaced(**facts)
        return changed

    # These members convert a source between its form in SOURCE and its form in the registry.

    @staticmethod
    def address_of(text: str, site: str, *, ssh: bool) -> str:  # noqa: ARG004 - for overriding
        """Return the address for `text`, or "" if this kind of source refuses it.

        `text` is SOURCE without the prefix; without a prefix, it is not a path. The disk is not
        read. For `user/repo`, `site` names the host, by default GitHub; `ssh` selects an ssh
        address.
        """
        return ""

    @staticmethod
    def address_of_directory(path: str) -> str:  # noqa: ARG004 - for overriding
        """Return the address for a directory, or "" if this kind of source does not accept it."""
        return ""

    @staticmethod
    def stored(address: str) -> str:
        """Return an address as the registry stores it, without credentials."""
        if "://" in address:
            return without_credentials(address)
        return address

    @property
    def argument(self) -> str | None:
        """Return the entry's source as the argument SOURCE, or None if it needs no check."""
        if not self.entry.source:
            return None
        return f"{self.prefix}{self.entry.source}"

    @property
    def unpinned(self) -> str:
        """Return the argument SOURCE for the newest version of this plugin."""
        return self.argument or self.entry.source

    @property
    def is_pinned(self) -> bool:
        """Return whether the source, as the user wrote it, can mean only one version."""
        return False

    # These methods fetch, build and read versions of the plugin.

    def fetch(self, change: Change) -> PluginVersion:
        """Fetch and stage a version; return its contents. None of the plugin's code is run."""
        raise NotImplementedError

    def stage_contents(
        self, entry: Entry, change: Change, root: str, called: str = ""
    ) -> PluginVersion:
        """Return what the fetched version in `root` has, with its entry completed.

        Problems name the source as `called`, not as `root`, because the staging directory `root`
        no longer exists when the user reads them.
        If the directory is a Python package, the result is what `as_package` returns. Raises
        PluginError if the directory has no contents.
        """
        if not called:
            called = root
        self.keep_subdirectory(change)

        try:
            contents = read_new(root, entry)
        except HostError as error:
            problem = relocated(error.problem, root, called)
            raise type(error)(problem) from None
        if is_package(root, contents.commands):
            return self.as_package(entry, root, change)

        entry = contents.entry
        if not entry.name:
            entry = entry.replaced(name=_free_name(entry, change))
        problems = [relocated(problem, root, called) for problem in contents.problems]
        contents = contents.replaced(entry=entry, problems=tuple(problems))
        check_not_empty(contents, change.messages)
        return contents

    def keep_subdirectory(self, change: Change) -> None:
        """Make the source's subdirectory, if any, the staged directory. Raises PluginError.

        All files are moved to `change.whole`: the build of a project may need what is beside it.
        """
        if not self.subdirectory:
            return

        whole = change.whole
        os.rename(change.files, whole)

        # A link in the place of the directory, or above it, could lead out of the source.
        inside = os.path.join(whole, self.subdirectory)
        base = os.path.realpath(whole)
        expected = os.path.join(base, self.subdirectory)
        # The registry of a team may name an absolute path, which `join` would take as it is.
        is_ours = is_inside(expected, base) and os.path.realpath(inside) == expected
        if not is_ours or not is_real_dir(inside):
            raise PluginError(f"{self.entry.source}: there is no such directory in it")

        link = _link_that_leads_out(inside)
        if link:
            what = f"{self.entry.source}: the link {link} leads out of it"
            raise PluginError(what)
        os.rename(inside, change.files)

    def as_package(self, entry: Entry, root: str, change: Change) -> PluginVersion:
        """Return the Python project in `root` as a package that is to be built.

        Raises PluginError if the plugin has a name already: a package keeps its own name.
        """
        source = self.entry.source
        if entry.name:
            raise self._not_that_plugin(entry, change)

        name = project_name(root)
        if not name:
            # The source may have extras, which are no part of the directory's name.
            path, _ = split_extras(source)
            name = _suggested_name(path)
        self.keep_project(change)
        new_source = self.package_source(name)
        entry = entry.replaced(name=name, kind="pip", source=new_source, path=None)

        place = f"in {source}"
        if entry.commit:
            place = f"at commit {entry.commit[:12]}"
        return PluginVersion(entry, unbuilt={name: place})

    def _not_that_plugin(self, entry: Entry, change: Change) -> PluginError:
        """Return the error for a Python package that is to be the plugin `entry`."""
        what = f"{self.entry.source}: is a Python package"
        former = change.registry.entries.get(entry.name)
        if former is None and not entry.installedAt:
            # The user gave the name.
            remedy = f"add it without --name, under another name than {entry.name}"
            return PluginError(f"{what}, which keeps its own name", remedy)

        # The source was a directory of commands when this entry was written.
        what += (
            f", but the registry lists {entry.name} as a plugin of kind {entry.kind}"
        )
        command = f"{change.messages.program} self plugin remove {entry.name}"
        if former is None:
            return PluginError(what, "add it again in the installation that lists it")
        return PluginError(what, f"to add the package, first: {command}")

    def keep_project(self, change: Change) -> None:
        """Move the staged project to `change.whole`, where `build` finds it."""
        target = os.path.join(change.whole, self.subdirectory)
        os.rename(change.files, target.rstrip("/"))

    def package_source(self, name: str) -> str:
        """Return the source of the package `name` in this source, as the registry stores it."""
        return self.entry.source

    def build(self, change: Change, agreed: Mapping[str, str]) -> PluginVersion:
        """Stage the package that `fetch` left unbuilt; this runs the code of the packages `agreed`.

        The result may have further `unbuilt` packages, because a build shows requirements.
        """
        raise NotImplementedError

    def restore(self, change: Change) -> PluginVersion:
        """Stage exactly the version that the entry records, unless `plugins/` still has it."""
        kept = self.kept_version(change)
        if kept is not None:
            return kept
        return self.fetch(change)

    def kept_version(self, change: Change) -> PluginVersion | None:
        """Return the version that the entry records, or None if it must be fetched first."""
        store = store_of(change.plugins_dir, self.entry.name)
        version = self.entry.version_dir
        if version not in store.versions():
            return None
        return self.contents(store.link_target(version))

    def is_present(self, plugins_dir: str) -> bool:
        """Return whether the files of the version that the entry records can be used."""
        return os.path.isdir(self.entry.root(plugins_dir))

    def current_version(self, plugins_dir: str) -> PluginVersion:
        """Return the recorded version; its contents are empty if they cannot be read."""
        return self.contents(self.entry.root(plugins_dir))

    def contents(self, root: str) -> PluginVersion:
        """Return the contents of the version whose files are in `root`; empty if unreadable."""
        try:
            return read_contents(read_plugin(root, self.entry))
        except (HostError, OSError):
            return PluginVersion(self.entry)

    def folders(self, root: str) -> list[str]:
        """Return the directories for the import path of a version whose files are in `root`."""
        return []

    def check_change(self, word: str) -> None:
        """Raise PluginError if this program cannot do what `word` says: "update" or "remove"."""


def _link_that_leads_out(root: str) -> str:
    """Return a link below the directory `root` that leads to a place outside it, or ""."""
    top = os.path.realpath(root)
    for directory, names, files in os.walk(root):
        for name in (*names, *files):
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                continue
            target = os.path.realpath(path)
            if not is_inside(target, top):
                return os.path.relpath(path, root)
    return ""


def split_extras(text: str) -> tuple[str, str]:
    """Split the extras off the path or address of a wheel or directory: `./x.whl[keyring]`."""
    match = _EXTRAS.match(text)
    # The name of a file or directory may end like extras.
    if match is None or os.path.exists(text):
        return text, ""

    path, extras = match.groups()
    file, _, _ = path.partition("?")
    if file.endswith(".whl") or os.path.isdir(path):
        return path, extras
    return text, ""


def source_class(kind: str) -> type[PluginSource]:
    """Return the class of one of `KINDS`, such as `git.GitSource`."""
    module = import_module(f"{__package__}.{kind}")
    source: type[PluginSource] = getattr(module, f"{kind.title()}Source")
    return source


def make_source(entry: Entry) -> PluginSource:
    """Return a new object for the source of the plugin that `entry` describes."""
    return source_class(entry.kind).of(entry)


def _free_name(entry: Entry, change: Change) -> str:
    """Return a name for a plugin; that of a second folder called `bin` begins with its parent's."""
    name = _suggested_name(entry.source)
    former = change.registry.entries.get(name)
    if former is None or name not in _COMMON_NAMES:
        return name
    if not entry.is_users_directory:
        return name
    if (former.kind, former.source) == (entry.kind, entry.source):
        return name

    parent = _suggested_name(os.path.dirname(entry.source))
    return f"{parent}-{name}"[:_LONGEST_NAME]


def _suggested_name(source: str) -> str:
    """Return a name for a plugin, made from the last part of its source."""
    address, _, path = source.partition(SUBDIRECTORY)
    if not path:
        path = urlsplit(address).path.rstrip("/")
    if not path:
        path = address

    last = re.split(r"[/:]", path)[-1]  # after a colon: user@host:path
    for suffix in (".git", *ARCHIVES):
        last = last.removesuffix(suffix)
    name = re.sub(r"[^a-z0-9._-]+", "-", last.lower())
    return name.strip("._-")[:_LONGEST_NAME]
