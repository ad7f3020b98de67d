"""Python packages, each in a folder of its own with everything that it requires.

Wheels are only unpacked. A project is built, which runs its code, after the user agrees: `fetch`
returns contents with `unbuilt` names, and `build` gets the names that the user agreed to.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import (
    InvalidWheelFilename,
    canonicalize_name,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from builtin_plugins.library.archive import UnpackOptions
from builtin_plugins.plugins import package_folder
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.fetch_file import (
    fetch_file,
    verified_sha256,
)
from builtin_plugins.plugins.package_contents import read_package
from builtin_plugins.plugins.pip_or_uv import check_installer
from builtin_plugins.plugins.python_project import is_python_project
from builtin_plugins.plugins.resolution import (
    build_linked_wheel,
    build_wheel,
    file_address,
    find_recorded,
    from_address,
    install_into,
    resolve,
)
from builtin_plugins.plugins.sources.archive import unpack
from builtin_plugins.plugins.sources.base import (
    ARCHIVES,
    PluginSource,
    split_extras,
)
from builtin_plugins.plugins.sources.git import fetch_commit
from builtin_plugins.plugins.sources.pip_requirement import (
    PackageRepository,
    extras_of,
    parse_package_repository,
    parse_requirement,
)
from builtin_plugins.registry.directory import read_kept_entry, store_of
from builtin_plugins.registry.entry import SUBDIRECTORY, Entry, Package
from builtin_plugins.registry.version import PluginVersion
from host import OperationError, PluginError, UsageError
from host.files.paths import is_inside
from host.hook_marker import GROUP, OWN_DISTRIBUTION
from host.lock import broken
from host.processes.importing import complete_import_path

_WHEEL = ".whl"


class PipSource(PluginSource):
    """A package in a folder of its own; each subclass is one kind of origin.

    The kinds differ only in where the package's own wheel comes from. An object of this class
    itself has an origin that is none of them, so it cannot be fetched.
    """

    prefix = "pip:"
    suffixes = (_WHEEL,)
    name_hint = ""  # the name of a package cannot be changed

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self._extras = ""  # such as "[keyring]"

    @classmethod
    def of(cls, entry: Entry) -> "PipSource":
        if entry.dev:
            return LinkedProject(entry)

        address, _, _ = entry.source.partition(SUBDIRECTORY)
        if not address:
            address = entry.name
        if _is_of_file(address):
            path, _ = split_extras(address)
            file, _, _ = path.partition("?")
            if file.endswith(_WHEEL):
                return Wheel(entry)
            if file.endswith(ARCHIVES):
                return ArchivedProject(entry)
        else:
            with suppress(UsageError):
                repository = parse_package_repository(address)
                if repository is not None:
                    return RepositoryProject(entry, repository)
                return IndexPackage(entry, parse_requirement(address))
        return cls(entry)

    @staticmethod
    def address_of(text: str, site: str, *, ssh: bool) -> str:  # noqa: ARG004 - for git
        requirement = text.strip()
        if parse_package_repository(requirement) is None:
            # A wheel is given by its path or address, without the prefix.
            parse_requirement(requirement)
        return requirement

    @staticmethod
    def stored(address: str) -> str:
        package = parse_package_repository(address)
        if package is None:
            return PluginSource.stored(address)
        return package.source

    @property
    def argument(self) -> str | None:
        return None

    @property
    def _extra_names(self) -> tuple[str, ...]:
        names = self._extras.strip("[]").split(",")
        return tuple(filter(None, names))

    def fetch(self, change: Change) -> PluginVersion:
        _prepare()
        entry, projects = self._fetch_origin(change)

        # A recorded version also names what was built of its requirements, so that one question
        # is enough.
        unbuilt = {**projects, **entry.built_packages}
        if unbuilt:
            return PluginVersion(entry, unbuilt=unbuilt)
        return self._stage(entry, change, {})

    def build(self, change: Change, agreed: Mapping[str, str]) -> PluginVersion:
        _prepare()
        return self._stage(self.entry, change, agreed)

    def _fetch_origin(self, change: Change) -> tuple[Entry, Mapping[str, str]]:
        """Fetch what the package is made from; return its entry, and projects to be built.

        A project's name is mapped to its version or its place.
        """
        raise UsageError(f"{self.entry.source}: not a source of a package")

    def _wheel(self, change: Change) -> str:
        """Return the path of the package's own wheel, or "" if it comes from an index.

        The wheel of a project is built, unless that is done: a build shows what the package
        requires, and if a requirement must be built, too, `build` is called again.
        """
        if not os.path.isdir(change.built):
            change.messages.line(f"building {self.entry.name}")
            os.mkdir(change.built)
            self._build_wheel(change)
        [file] = os.listdir(change.built)
        return os.path.join(change.built, file)

    def _build_wheel(self, change: Change) -> None:
        """Build the wheel of the fetched project in the directory `change.built`."""
        build_wheel(self._project(change), self.entry, change)

    def _project(self, change: Change) -> str:
        """Return the directory of the fetched project."""
        whole = change.whole
        project = os.path.join(whole, self.subdirectory).rstrip("/")

        # A link in the repository could lead out of it.
        real_project = os.path.realpath(project)
        is_in_whole = is_inside(real_project, os.path.realpath(whole))
        if not is_in_whole or not os.path.isdir(project):
            raise PluginError(f"{self.entry.source}: there is no such directory in it")
        return project

    def _stage(
        self, entry: Entry, change: Change, agreed: Mapping[str, str]
    ) -> PluginVersion:
        """Stage the recorded packages or, without a record, the newest ones.

        The packages `agreed` may be built.
        """
        wheel = self._wheel(change)
        if wheel:
            entry = entry.replaced(name=self._checked_name(wheel))
            required = package_folder.requirements_of(wheel)
            addressed = package_folder.addressed_requirement(required)
            if addressed:
                raise from_address(entry.name, addressed)

        if entry.packages:
            return self._stage_recorded(entry, change, wheel, agreed)
        return self._stage_newest(entry, change, wheel, agreed)

    def _checked_name(self, wheel: str) -> str:
        """Return the name of a wheel. Raises PluginError if it cannot be the plugin."""
        file = os.path.basename(wheel)
        try:
            name, *_ = parse_wheel_filename(file)
        except InvalidWheelFilename as failure:
            raise OperationError(f"{file}: not a valid wheel: {failure}") from None

        expected = self.entry.name
        if expected not in ("", name):
            raise PluginError(f"{expected}: the fetched package has the name {name}")
        _check_not_own(name)
        return name

    def _stage_recorded(
        self, entry: Entry, change: Change, wheel: str, agreed: Mapping[str, str]
    ) -> PluginVersion:
        """Stage the recorded versions; on another system, their files may be other ones."""
        wheels = [package for package in entry.packages if not package.built]
        found = find_recorded(wheels, change, agreed)
        if found.unbuilt:
            return PluginVersion(entry, unbuilt=found.unbuilt)

        files = {package.file for package in wheels}
        others = [
            package.name for package in found.packages if package.file not in files
        ]
        if others:
            names = ", ".join(others)
            what = (
                f"{entry.name}: this system needs other files than recorded of {names}"
            )
            change.messages.line(what)
        # The files that were built are the same everywhere, and are checked before the build.
        built = [package for package in entry.packages if package.built]
        packages = [*found.packages, *built]
        return self._unpack(entry, change, wheel, packages, agreed)

    def _stage_newest(
        self, entry: Entry, change: Change, wheel: str, agreed: Mapping[str, str]
    ) -> PluginVersion:
        """Stage the package with the newest versions of what it requires."""
        name = entry.name
        wanted = f"{name}{self._extras} @ {file_address(wheel)}"
        resolution = resolve(wanted, change, agreed, own=name)
        if resolution.unbuilt:
            return PluginVersion(entry, unbuilt=resolution.unbuilt)

        entry = entry.replaced(packages=resolution.packages)
        return self._unpack(entry, change, wheel, resolution.packages, agreed)

    def _unpack(
        self,
        entry: Entry,
        change: Change,
        wheel: str,
        packages: Sequence[Package],
        agreed: Mapping[str, str],
    ) -> PluginVersion:
        """Unpack `packages`, and the package's own `wheel` if any, into the staged folder.

        Raises PluginError if the result cannot be a plugin.
        """
        name = entry.name
        change.messages.line(f"installing {name}")
        install_into(change.files, entry, packages, wheel, agreed, change)

        if not package_folder.entry_points(name, change.files):
            what = f"{name} is not a plugin: it has no entry point in the group {GROUP}"
            raise PluginError(what)
        module = package_folder.own_module(change.files)
        if module:
            what = f"{name}: {module} would take the place of a module of {OWN_DISTRIBUTION}"
            raise PluginError(what)

        main = package_folder.distribution_of(name, [change.files])
        self._check_extras(main)
        entry = entry.replaced(
            version=str(main.version),
            description=str(main.metadata.get("Summary") or ""),
            python=package_folder.needed_python(change.files),
        )
        return read_package(entry, self.folders(change.files))

    def _check_extras(self, main: Any) -> None:
        """Raise PluginError if the package's distribution lacks an extra: pip would only warn."""
        extras = main.metadata.get_all("Provides-Extra") or ()
        provided = sorted(map(canonicalize_name, extras))
        for extra in self._extra_names:
            if canonicalize_name(extra) not in provided:
                name = canonicalize_name(main.metadata["Name"])
                what = f"{name} {main.version} has no extra {extra}"
                names = ", ".join(provided) or "none"
                raise PluginError(what, f"its extras: {names}")

    def kept_version(self, change: Change) -> PluginVersion | None:
        store = store_of(change.plugins_dir, self.entry.name)
        if self._problem(store.link_target(self.entry.version_dir)):
            return None
        return super().kept_version(change)

    def is_present(self, plugins_dir: str) -> bool:
        if not super().is_present(plugins_dir):
            return False
        return not self.problem(plugins_dir)

    def problem(self, plugins_dir: str) -> str:
        """Return why the current version cannot work here, or "" if it can."""
        return self._problem(self.entry.root(plugins_dir))

    def _problem(self, root: str) -> str:
        version = os.path.dirname(os.path.realpath(root))
        kept = read_kept_entry(version)
        if kept is not None and package_folder.other_python(kept.python):
            return broken.compiled_for(kept.python)

        for directory in self.missing_folders(root):
            return broken.project_moved(directory)
        return ""

    def missing_folders(self, root: str) -> list[str]:
        """Return the directories of a linked project that the user has moved."""
        *linked, _ = self.folders(root)
        return [directory for directory in linked if not os.path.isdir(directory)]

    def folders(self, root: str) -> list[str]:
        return [root]

    def contents(self, root: str) -> PluginVersion:
        try:
            return read_package(self.entry, self.folders(root))
        except (OSError, ValueError):
            return PluginVersion(self.entry)


class IndexPackage(PipSource):
    """A requirement for the package index."""

    def __init__(self, entry: Entry, requirement: Requirement) -> None:
        super().__init__(entry)
        self.requirement = requirement
        self._extras = extras_of(requirement)

    @property
    def argument(self) -> str | None:
        return f"{self.prefix}{self.entry.source or self.entry.name}"

    @property
    def unpinned(self) -> str:
        return f"{self.prefix}{self.entry.name}{self._extras}"

    @property
    def is_pinned(self) -> bool:
        for specifier in self.requirement.specifier:
            is_exact = specifier.operator in ("==", "===")
            if is_exact and not specifier.version.endswith(".*"):
                return True
        return False

    def _fetch_origin(self, change: Change) -> tuple[Entry, Mapping[str, str]]:
        name = canonicalize_name(self.requirement.name)
        _check_not_own(name)
        return self.entry.replaced(name=name), {}

    def _wheel(self, change: Change) -> str:
        return ""

    def _stage_newest(
        self, entry: Entry, change: Change, wheel: str, agreed: Mapping[str, str]
    ) -> PluginVersion:
        requirement = parse_requirement(str(self.requirement))
        if entry.version:
            requirement.specifier &= _not_before(entry)

        change.messages.line(f"looking for {requirement.name}{requirement.specifier}")
        resolution = resolve(str(requirement), change, agreed)
        if resolution.unbuilt:
            return PluginVersion(entry, unbuilt=resolution.unbuilt)

        versions = {package.name: package.version for package in resolution.packages}
        entry = entry.replaced(
            version=versions[entry.name], packages=resolution.packages
        )
        kept = IndexPackage(entry, requirement).kept_version(change)
        if kept is not None:
            return kept
        return self._unpack(entry, change, "", resolution.packages, agreed)


class Wheel(PipSource):
    """A wheel, given by path or by address."""

    has_checksum = True
    is_one_version = True

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self.address, self._extras = split_extras(self.address)

    @property
    def is_pinned(self) -> bool:
        return True

    def _fetch_origin(self, change: Change) -> tuple[Entry, Mapping[str, str]]:
        os.mkdir(change.built)
        file, _, _ = self.address.partition("?")
        path = Path(change.built, os.path.basename(file))
        sha256 = fetch_file(self.address, self.entry.sha256, path, change)
        return self.entry.replaced(sha256=sha256), {}


class ArchivedProject(PipSource):
    """A project in an archive, from which the package is built."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self.address, self._extras = split_extras(self.address)

    def _fetch_origin(self, change: Change) -> tuple[Entry, Mapping[str, str]]:
        sha256 = unpack(self, UnpackOptions(), change)
        # A project is built elsewhere: the staged files will be those of its wheel.
        os.rename(change.files, change.whole)
        entry = self.entry.replaced(sha256=sha256)
        return entry, {entry.name: f"in {entry.source}"}


class RepositoryProject(PipSource):
    """A project in a git repository, from which the package is built."""

    is_from_git = True
    has_subdirectories = True

    def __init__(self, entry: Entry, repository: PackageRepository) -> None:
        super().__init__(entry)
        self._repository = repository
        self._extras = extras_of(repository.requirement)
        self.ref_in_address = repository.ref

    @property
    def argument(self) -> str | None:
        return f"{self.prefix}{self.entry.source}"

    def _fetch_origin(self, change: Change) -> tuple[Entry, Mapping[str, str]]:
        entry = self.entry
        commit, is_pinned = fetch_commit(
            self._repository.address,
            change,
            change.whole,
            ref=entry.ref,
            commit=entry.commit,
            inside=self.subdirectory,
        )
        if not is_python_project(self._project(change)):
            what = f"{self.entry.source}: there is no pyproject.toml and no setup.py"
            raise PluginError(what)

        name = entry.name
        if not name:
            name = canonicalize_name(self._repository.requirement.name)
        entry = entry.replaced(
            name=name,
            commit=commit,
            pinned=entry.pinned or is_pinned,
            version="",  # the build shows it
        )
        return entry, {name: f"at commit {commit[:12]}"}


class LinkedProject(PipSource):
    """The user's own project: only its metadata and what it needs are in the plugin's folder.

    Its modules stay where they are: the editable wheel (PEP 660) names their directories.
    """

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self.address, self._extras = split_extras(self.address)

    def _build_wheel(self, change: Change) -> None:
        if not build_linked_wheel(self.address, self.entry, change):
            what = f"{self.address}: its editable wheel does not name the directory of its modules"
            remedy = (
                "move the package into src/, or add its wheel: pip wheel --no-deps "
            )
            raise PluginError(what, f"{remedy}{shlex.quote(self.address)}")

    def _stage_newest(
        self, entry: Entry, change: Change, wheel: str, agreed: Mapping[str, str]
    ) -> PluginVersion:
        # The checksum of the metadata and the directories tells one version from the next.
        entry = entry.replaced(sha256=verified_sha256(wheel, ""))
        return super()._stage_newest(entry, change, wheel, agreed)

    def folders(self, root: str) -> list[str]:
        linked = package_folder.linked_folders(root) or []
        return [*linked, root]


def _is_of_file(address: str) -> bool:
    """Return whether an address is a path or a URL, and not a requirement."""
    if address.startswith("/"):
        return True
    scheme, _, _ = address.partition("://")
    return scheme.lower() in ("https", "http")


def _not_before(entry: Entry) -> SpecifierSet:
    """Return the versions from that of `entry` on: an update never goes back."""
    try:
        oldest = Version(entry.version).public
    except InvalidVersion:
        what = f"{entry.source}: {entry.version} is not a valid version"
        raise UsageError(what) from None
    return SpecifierSet(f">={oldest}")


def _prepare() -> None:
    """Make the program's own packages importable, and check that there is pip or uv."""
    complete_import_path()
    check_installer()


def _check_not_own(name: str) -> None:
    """Raise PluginError for the name of this program."""
    if name == OWN_DISTRIBUTION:
        raise PluginError(f"{name} is this program, not a plugin")
