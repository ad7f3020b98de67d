"""Plugins that are Python distributions, installed into the program's own environment.

Their code runs only after the user agrees: `fetch` downloads a wheel and only reads it, while
`build` and `prepare_install` are called later.
"""

import os
from collections.abc import Collection
from contextlib import ExitStack, suppress
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from builtin_plugins.administration.plugins.collisions import check_collisions_in_copy
from builtin_plugins.administration.plugins.plugin_contents import (
    PluginContents,
    is_python_project,
    read_installed,
    read_wheel,
)
from builtin_plugins.administration.plugins.sources import package_index
from builtin_plugins.administration.plugins.sources.base import PluginSource
from builtin_plugins.administration.plugins.sources.fetch_file import fetch_file
from builtin_plugins.administration.plugins.sources.git import fetch_commit
from builtin_plugins.administration.plugins.sources.requirements import (
    parse_package_repository,
    parse_requirement,
)
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.launcher import record_installation
from builtin_plugins.administration.program.venv import distributions
from builtin_plugins.administration.program.venv.copy import VenvCopy, check_starts, check_venv
from builtin_plugins.io.addresses import without_credentials
from builtin_plugins.plugins_folder.directory import names_in, store_of
from builtin_plugins.plugins_folder.registry import Entry
from host import OperationError, PluginError, UsageError
from host.hook_marker import GROUP
from host.run.importing import complete_import_path

_WHEEL = ".whl"


class PipSource(PluginSource):
    """A requirement for the package index, a repository to build a wheel from, or a wheel.

    `repository` is None if the source is not a repository; `requirement` is None for a wheel.
    `_copy` is the environment as changed by `prepare_…`, or None if no change is necessary.
    """

    prefix = "pip:"
    suffixes = (_WHEEL,)
    name_hint = ""  # the name of a distribution cannot be changed

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self._copy: VenvCopy | None = None
        self.repository = self.requirement = None
        source = self.address or entry.name
        with suppress(UsageError):
            found = self.repository = parse_package_repository(source)
            self.requirement = found.requirement if found else parse_requirement(source)
        self.ref_in_address = self.repository.ref if self.repository else ""
        self.is_from_git = bool(self.repository)
        is_wheel = source.partition("?")[0].endswith(_WHEEL)
        self.has_checksum = self.is_one_version = is_wheel and self.requirement is None

    @staticmethod
    def address_of(text: str, site: str, *, ssh: bool) -> str:  # noqa: ARG004 - for git
        requirement = text.strip()
        if parse_package_repository(requirement) is None:
            parse_requirement(requirement)  # a wheel is given by its path or address instead
        return requirement

    @staticmethod
    def stored(address: str) -> str:
        package = parse_package_repository(address)
        return package.source if package else PluginSource.stored(address)

    @property
    def argument(self) -> str | None:
        name = self.entry.source or self.entry.name
        return None if self.is_one_version else f"{self.prefix}{name}"

    @property
    def is_pinned(self) -> bool:
        if self.requirement is None:
            return True
        versions = self.requirement.specifier  # empty for a repository
        return any(one.operator[:2] == "==" and one.version[-2:] != ".*" for one in versions)

    def fetch(self, tx: Transaction) -> PluginContents:
        complete_import_path()
        check_venv()
        os.mkdir(tx.files)
        if self.requirement is None:
            return self._fetch_wheel(tx)
        name = self.entry.name or canonicalize_name(self.requirement.name)
        if self.repository:
            address = self.repository.address
            wanted = self.entry.replaced(source=without_credentials(address), version="")
            found = fetch_commit(wanted, address, tx, _checkout(tx))
            if not is_python_project(_checkout(tx)):
                what = f"{self.entry.source}: there is no pyproject.toml and no setup.py"
                raise PluginError(what)
            entry = found.replaced(source=self.entry.source, name=name)
            return PluginContents(entry, unbuilt=True)
        requirement = parse_requirement(str(self.requirement))
        if version := self.entry.version:
            try:
                at_least = f">={Version(version).public}"
            except InvalidVersion:
                raise UsageError(f"{self.entry.source}: {version} is not a valid version") from None
            if self.entry.sha256:
                requirement.specifier = SpecifierSet(f"=={version}")
            else:  # prevents a downgrade: the newest version with a wheel may be older
                requirement.specifier &= SpecifierSet(at_least)
        tx.messages.line(f"looking for {requirement.name}{requirement.specifier}")
        path, sha256, version = package_index.find(requirement, self.entry.sha256, tx)
        if path:
            return _staged(path, self.entry.replaced(sha256=sha256))
        return PluginContents(self.entry.replaced(name=name, version=version), unbuilt=True)

    def _fetch_wheel(self, tx: Transaction) -> PluginContents:
        name = os.path.basename(self.address.partition("?")[0])
        path = os.path.join(tx.files, name)
        sha256 = fetch_file(self.address, self.entry.sha256, Path(path), tx)
        return _staged(path, self.entry.replaced(sha256=sha256))

    def build(self, tx: Transaction) -> PluginContents:
        entry = self.entry
        tx.messages.line(f"building {entry.name} {entry.version}".rstrip())
        if self.repository:
            return _staged(package_index.build_from(_checkout(tx), tx), entry)
        exact = Requirement(f"{entry.name}=={entry.version}")
        path, sha256 = package_index.build(exact, entry.sha256, tx)
        return _staged(path, entry.replaced(sha256=sha256))

    def kept_version(self, tx: Transaction) -> PluginContents | None:
        try:
            return self._wheel(tx)[0] if self.entry.version_dir else None
        except OperationError:
            return None

    def _wheel(self, tx: Transaction) -> tuple[PluginContents, str]:
        """Return a wheel's contents and directory: the staged wheel or else that in `.versions`."""
        kept = store_of(tx.plugins_dir, self.entry.name).link_target(self.entry.version_dir)
        for directory in (tx.files, kept):
            names = names_in(directory)
            if len(names) == 1:
                return read_wheel(os.path.join(directory, names[0]), self.entry), directory
        raise OperationError(f"{self.entry.name}: its wheel is missing from {kept}")

    def is_present(self, plugins_dir: str) -> bool:
        entry, there = self.entry, distributions.installed_version(self.entry.name)
        is_version = there is not None and there == (entry.version or there)
        return is_version and entry.commit in ("", distributions.installed_commit(entry.name))

    def current_version(self, plugins_dir: str) -> PluginContents:
        return read_installed(self.entry)

    def needs(self, found: PluginContents) -> list[Requirement]:
        return list(distributions.needed(found.requires, self._extras()))

    def _extras(self) -> Collection[str]:
        return self.requirement.extras if self.requirement else ()

    def prepare_install(self, tx: Transaction, *, force: bool) -> None:
        """Install the wheel and its requirements into a copy of the environment, then check it.

        The distributions that this program itself needs keep their versions. With `force`, the
        plugin may define commands that already exist.
        """
        complete_import_path()
        wheel, directory = self._wheel(tx)
        record_installation(tx.session.layout.root)
        name, version = self.entry.name, self.entry.version
        copy = self._copy = tx.copy_venv()
        tx.messages.line(f"installing {name}=={version}")
        alone = ["--no-index", "--no-deps", "--force-reinstall", "--find-links", directory]
        copy.change(tx.installer, "install", *alone, f"{name}=={version}")
        if self.needs(wheel):
            constraints = Path(tx.area, "constraints.txt")
            kept = "".join(f"{one}=={there}\n" for one, there in distributions.protected().items())
            constraints.write_text(kept, encoding="utf-8")
            exact = f"{name}[{','.join(sorted(self._extras()))}]=={version}"
            copy.change(tx.installer, "install", "--constraint", str(constraints), exact)
        if self.repository:
            vcs_info = {"vcs": "git", "commit_id": self.entry.commit}
            copy.write_direct_url(name, {"url": self.repository.address, "vcs_info": vcs_info})
        distributions.check_change(name, copy.path)
        check_collisions_in_copy(self.entry, copy.python, tx, force=force)

    def install(self, tx: Transaction, undo: ExitStack) -> None:
        if self._copy:
            self._copy.swap(undo)

    def prepare_removal(self, tx: Transaction) -> None:
        """Remove the distribution, but not its requirements, from a copy of the environment."""
        complete_import_path()
        name = self.entry.name
        if distributions.find_distribution(name) is not None:
            copy = self._copy = tx.copy_venv()
            copy.change(tx.installer, "uninstall", "--yes", name)
            check_starts(copy.python, f"this program without {name}")

    def remove(self, tx: Transaction, undo: ExitStack) -> str:
        if self._copy:
            self._copy.swap(undo)
        return ""


def _checkout(tx: Transaction) -> str:
    """Return the directory into which the files of a repository are written."""
    return os.path.join(tx.area, "checkout")


def _staged(path: str, entry: Entry) -> PluginContents:
    """Return the plugin in the wheel at `path`. Raises HostError if it cannot be installed."""
    found = read_wheel(path, entry)
    name = found.entry.name
    if not found.names:
        raise PluginError(f"{name} is not a plugin: it has no entry point in the group {GROUP}")
    if name in distributions.protected():
        raise PluginError(f"{name} cannot be a plugin: this program itself needs it")
    if entry.name not in ("", name):
        raise PluginError(f"{entry.name}: the fetched package has the name {name}")
    return found
