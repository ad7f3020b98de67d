"""The interface of plugin sources: each kind has a class in the module named after the kind.

A new kind is a module here, and a line in `KINDS` of `plugins_folder.entry`.
"""

import os
import re
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from importlib import import_module
from urllib.parse import urlsplit

from builtin_plugins.administration.plugins.directory_contents import read_contents
from builtin_plugins.administration.plugins.plugin_contents import PluginContents, relocated
from builtin_plugins.administration.plugins.python_project import (
    is_package,
    is_python_project,
    project_name,
)
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.io.addresses import without_credentials
from builtin_plugins.io.files.atomic import is_real_dir
from builtin_plugins.plugins_folder.directory import (
    DirectoryPlugin,
    manifest_decides,
    read_plugin,
    store_of,
)
from builtin_plugins.plugins_folder.entry import Entry
from host import HostError, PluginError, UsageError

_EXTRAS = re.compile(r"(.+)(\[[A-Za-z0-9][\w.,-]*\])\Z")
SUBDIRECTORY = "#subdirectory="  # stands in a source before a directory in it
ARCHIVES = (".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar", ".zip")


class PluginSource:
    """One plugin and its source; the base class of all kinds.

    The methods of this class are for directory plugins: `plugins/<name>` is a link to the current
    version.

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
        with suppress(UsageError):  # a plugin with an invalid source can still be removed
            source = f"{self.stored(self.address)}{mark}{self.subdirectory}"
            self.entry = entry.replaced(source=source)

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
        return without_credentials(address) if "://" in address else address

    @property
    def argument(self) -> str | None:
        """Return the entry's source as the argument SOURCE, or None if it needs no check."""
        return f"{self.prefix}{self.entry.source}" if self.entry.source else None

    @property
    def is_pinned(self) -> bool:
        """Return whether the source, as the user wrote it, can mean only one version."""
        return False

    # These methods fetch, build and read versions of the plugin.

    def fetch(self, tx: Transaction) -> PluginContents:
        """Fetch and stage a version; return its contents. None of the plugin's code is run."""
        raise NotImplementedError

    def described(
        self, entry: Entry, tx: Transaction, root: str, called: str = ""
    ) -> PluginContents:
        """Return the staged version in `root`, with its entry completed from plugin.json.

        Problems name the source as `called`, not as `root`, because the staging directory `root`
        no longer exists when the user reads them.
        If the directory is a Python package, the result is what `as_package` returns. Raises
        PluginError if the directory has no contents.
        """
        called = called or root
        self.keep_subdirectory(tx)
        try:
            unread = entry.replaced(version="", description="", directory="", hooks="")
            plugin = read_plugin(root, unread)
            found = read_contents(plugin)
            # An invalid definition shows that the folder is meant to have command folders.
            # Every other problem, such as a subfolder whose name is no word, shows nothing.
            is_invalid = any(problem.path.endswith(".json") for problem in found.problems)
            has_contents = found.commands or found.has_python or is_invalid
            if not has_contents and not is_python_project(root):
                bare = read_contents(plugin.replaced(scripts={}))  # with {}, scripts are commands
                if bare.commands and plugin.scripts is None:
                    scripts = {**(entry.scripts or {})}
                    scripts.pop("files", None)
                    found = bare.replaced(entry=plugin.entry.replaced(scripts=scripts))
            if _needs_path(plugin, found):
                # Scripts often call their neighbours by name.
                here = found.entry.directory or "."
                found = found.replaced(entry=found.entry.replaced(path=(here,)))
        except HostError as error:
            raise type(error)(relocated(error.problem, root, called)) from None
        if is_package(root, found.commands):
            return self.as_package(entry, tx)
        name = found.entry.name or _suggested_name(entry.source)
        entry = found.entry.replaced(name=name)
        problems = tuple(relocated(problem, root, called) for problem in found.problems)
        program = tx.messages.program
        if not found.commands and not found.has_python:
            tx.messages.warn(*problems)
            raise PluginError(
                f"{entry.source}: contains no commands and no hooks",
                "a plugin must contain scripts or <category>/<command>/"
                f"command.json (see: {program} self new plugin --help)",
            )
        return found.replaced(entry=entry, problems=problems)

    def keep_subdirectory(self, tx: Transaction) -> None:
        """Make the source's subdirectory, if any, the staged directory. Raises PluginError.

        The whole is moved to `whole_of`: the build of a project may need what is beside it.
        """
        if not self.subdirectory:
            return
        whole = whole_of(tx)
        os.rename(tx.files, whole)
        inside = os.path.join(whole, self.subdirectory)
        top = os.path.realpath(inside)
        is_inside = top == os.path.join(os.path.realpath(whole), self.subdirectory)
        if not is_real_dir(inside) or not is_inside:
            raise PluginError(f"{self.entry.source}: there is no such directory in it")
        for directory, names, files in os.walk(inside):
            for path in (os.path.join(directory, name) for name in (*names, *files)):
                target = os.path.realpath(path)
                if os.path.islink(path) and not f"{target}/".startswith(f"{top}/"):
                    shown = os.path.relpath(path, inside)
                    raise PluginError(f"{self.entry.source}: the link {shown} leads out of it")
        os.rename(inside, tx.files)

    def as_package(self, entry: Entry, tx: Transaction) -> PluginContents:
        """Return the staged Python project as a package that is to be built."""
        if entry.name:
            what = f"{self.entry.source}: is a Python package, which keeps its own name"
            raise PluginError(what, f"add it without --name, under another name than {entry.name}")
        name = project_name(tx.files) or _suggested_name(entry.source)
        if self.subdirectory:
            os.rename(tx.files, os.path.join(whole_of(tx), self.subdirectory))
        else:
            os.rename(tx.files, whole_of(tx))
        source = self.package_source(name)
        at = f"at commit {entry.commit[:12]}" if entry.commit else f"in {self.entry.source}"
        entry = entry.replaced(name=name, kind="pip", source=source, path=None)
        return PluginContents(entry, unbuilt={name: at})

    def package_source(self, name: str) -> str:
        """Return the source of the package `name` in this source, as the registry stores it."""
        return self.entry.source

    def build(self, tx: Transaction, agreed: Sequence[str]) -> PluginContents:
        """Stage the package that `fetch` left unbuilt; this runs the code of the packages `agreed`.

        The result may have further `unbuilt` packages, because a build shows requirements.
        """
        raise NotImplementedError

    def restore(self, tx: Transaction) -> PluginContents:
        """Stage exactly the version that the entry records, unless `plugins/` still has it."""
        return self.kept_version(tx) or self.fetch(tx)

    def kept_version(self, tx: Transaction) -> PluginContents | None:
        """Return the version that the entry records, or None if it must be fetched first."""
        store, version = store_of(tx.plugins_dir, self.entry.name), self.entry.version_dir
        if version not in store.versions():
            return None
        return self.contents(store.link_target(version))

    def is_present(self, plugins_dir: str) -> bool:
        """Return whether the version that the entry records is the current one in `plugins_dir`."""
        store = store_of(plugins_dir, self.entry.name)
        return store.current == self.entry.version_dir and os.path.isdir(store.link)

    def current_version(self, plugins_dir: str) -> PluginContents:
        """Return the current version; its contents are empty if they cannot be read."""
        return self.contents(os.path.join(plugins_dir, self.entry.name))

    def contents(self, root: str) -> PluginContents:
        """Return the contents of the version whose files are in `root`; empty if unreadable."""
        try:
            return read_contents(read_plugin(root, self.entry))
        except (HostError, OSError):
            return PluginContents(self.entry)

    def folders(self, root: str) -> list[str]:
        """Return the directories for the import path of a version whose files are in `root`."""
        return []

    def check_change(self, word: str) -> None:
        """Raise PluginError if this program cannot do what `word` says: "update" or "remove"."""

    def install(self, tx: Transaction, undo: ExitStack) -> None:
        """Make the entry's version the current one; its files are already in `.versions`.

        The registry is locked; an error runs the `undo` steps.
        """
        store_of(tx.plugins_dir, self.entry.name).activate(self.entry.version_dir, undo)


def whole_of(tx: Transaction) -> str:
    """Return the path of the directory with all files of a source, if only a part is staged."""
    return os.path.join(tx.area, "whole")


def split_extras(text: str) -> tuple[str, str]:
    """Split the extras off the path or address of a wheel or directory: `./x.whl[keyring]`."""
    found = _EXTRAS.match(text)
    if found is None or os.path.exists(text):
        return text, ""
    is_wheel = found[1].partition("?")[0].endswith(".whl")
    return (found[1], found[2]) if is_wheel or os.path.isdir(found[1]) else (text, "")


def source_class(kind: str) -> type[PluginSource]:
    """Return the class of one of `KINDS`, such as `git.GitSource`."""
    module = import_module(f"{__package__}.{kind}")
    found: type[PluginSource] = getattr(module, f"{kind.title()}Source")
    return found


def make_source(entry: Entry) -> PluginSource:
    """Return a new object for the source of the plugin that `entry` describes."""
    return source_class(entry.kind)(entry)


def _suggested_name(source: str) -> str:
    """Return a name for a plugin, made from the last part of its source."""
    address, _, inside = source.partition(SUBDIRECTORY)
    last = re.split(r"[/:]", (inside or urlsplit(address).path.rstrip("/") or address))[-1]
    for suffix in (".git", *ARCHIVES):
        last = last.removesuffix(suffix)
    return re.sub(r"[^a-z0-9._-]+", "-", last.lower()).strip("._-")[:64]


def _needs_path(plugin: DirectoryPlugin, found: PluginContents) -> bool:
    """Return whether adding a plugin records the key `path`.

    This is so for a new plugin that consists of plain scripts, if neither its author nor the user
    has decided about the key.
    """
    is_new = not plugin.entry.installedAt
    is_decided = plugin.entry.path is not None or manifest_decides(plugin.root)
    definitions = found.commands.values()
    is_plain = bool(definitions) and all(definition.is_script for definition in definitions)
    return is_new and is_plain and not is_decided
