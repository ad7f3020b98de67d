"""Python packages, each in a folder of its own with everything that the program does not have.

Wheels are only unpacked. A project is built, which runs its code, after the user agrees: `fetch`
returns contents with `unbuilt` names, and `build` gets the names that the user agreed to.
"""

import hashlib
import os
import shlex
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import (
    InvalidWheelFilename,
    canonicalize_name,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from builtin_plugins.administration.plugins import package_folder
from builtin_plugins.administration.plugins.package_contents import read_package
from builtin_plugins.administration.plugins.plugin_contents import PluginContents
from builtin_plugins.administration.plugins.python_project import is_python_project
from builtin_plugins.administration.plugins.resolution import (
    build_editable,
    build_wheel,
    file_address,
    install_into,
    resolve,
    stub_requirement,
    why_not_newest,
)
from builtin_plugins.administration.plugins.sources.archive import unpack
from builtin_plugins.administration.plugins.sources.base import (
    ARCHIVES,
    SUBDIRECTORY,
    PluginSource,
    split_extras,
    whole_of,
)
from builtin_plugins.administration.plugins.sources.fetch_file import fetch_file
from builtin_plugins.administration.plugins.sources.git import fetch_commit
from builtin_plugins.administration.plugins.sources.requirements import (
    PackageRepository,
    parse_package_repository,
    parse_requirement,
)
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.venv.installer import check_installer
from builtin_plugins.io.addresses import without_credentials
from builtin_plugins.io.archive import UnpackOptions
from builtin_plugins.io.files.atomic import remove_path
from builtin_plugins.plugins_folder.directory import read_kept_entry, store_of
from builtin_plugins.plugins_folder.entry import Entry
from host import OperationError, PluginError, UsageError
from host.hook_marker import GROUP
from host.run.importing import complete_import_path

_WHEEL = ".whl"


class PipSource(PluginSource):
    """A package in a folder of its own; each subclass is one kind of origin.

    An object of this class itself has an origin that is none of them, so it cannot be fetched.
    """

    prefix = "pip:"
    suffixes = (_WHEEL,)
    name_hint = ""  # the name of a package cannot be changed

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self._extras = ""  # such as "[keyring]"

    @classmethod
    def of(cls, entry: Entry) -> "PipSource":
        address = entry.source.partition(SUBDIRECTORY)[0] or entry.name
        if entry.dev:
            return LinkedProject(entry)
        if address.startswith("/") or address.partition("://")[0].lower() in (
            "https",
            "http",
        ):
            file = split_extras(address)[0].partition("?")[0]
            if file.endswith(_WHEEL):
                return Wheel(entry)
            return (
                ArchivedProject(entry) if file.endswith(ARCHIVES) else PipSource(entry)
            )
        with suppress(UsageError):
            repository = parse_package_repository(address)
            if repository is not None:
                return RepositoryProject(entry, repository)
            return IndexPackage(entry, parse_requirement(address))
        return PipSource(entry)

    @staticmethod
    def address_of(text: str, site: str, *, ssh: bool) -> str:  # noqa: ARG004 - for git
        requirement = text.strip()
        if parse_package_repository(requirement) is None:
            parse_requirement(
                requirement
            )  # a wheel is given by its path or address instead
        return requirement

    @staticmethod
    def stored(address: str) -> str:
        package = parse_package_repository(address)
        return package.source if package else PluginSource.stored(address)

    @property
    def argument(self) -> str | None:
        return None

    @property
    def _extra_names(self) -> tuple[str, ...]:
        return tuple(filter(None, self._extras.strip("[]").split(",")))

    def fetch(self, tx: Transaction) -> PluginContents:
        raise UsageError(f"{self.entry.source}: not a source of a package")

    def build(self, tx: Transaction, agreed: Sequence[str]) -> PluginContents:
        _prepare()
        # The build shows what the package requires. If a requirement must be built, too, this
        # method is called again: the wheel is there then.
        if not os.path.isdir(tx.built):
            tx.messages.line(f"building {self.entry.name}")
            build_wheel(self._project(tx), tx)
        [file] = os.listdir(tx.built)
        return self._with_requirements(
            self.entry, os.path.join(tx.built, file), tx, agreed
        )

    def _project(self, tx: Transaction) -> str:
        """Return the directory of the fetched project."""
        project = os.path.join(whole_of(tx), self.subdirectory).rstrip("/")
        is_inside = os.path.realpath(project).startswith(os.path.realpath(whole_of(tx)))
        if not is_inside or not os.path.isdir(project):
            raise PluginError(f"{self.entry.source}: there is no such directory in it")
        return project

    def _with_requirements(
        self, entry: Entry, wheel: str, tx: Transaction, agreed: Collection[str] = ()
    ) -> PluginContents:
        """Stage the wheel of a file or project, with the recorded packages or the newest ones."""
        name = _name_of(wheel)
        self._check_name(name)
        entry = entry.replaced(name=name)
        if entry.packages:
            staged = self._stage_recorded(entry, tx, wheel)
            if staged is not None:
                return staged
            entry = entry.replaced(packages=())
        wanted = f"{name}{self._extras} @ {file_address(wheel)}"
        resolution = resolve(wanted, tx, local=name, sources=agreed)
        if resolution.unbuilt:
            return PluginContents(entry, unbuilt=resolution.unbuilt)
        return self._stage(entry.replaced(packages=resolution.packages), tx, wheel)

    def _check_name(self, name: str) -> None:
        """Raise PluginError if a package of this name cannot be the plugin."""
        if self.entry.name not in ("", name):
            raise PluginError(
                f"{self.entry.name}: the fetched package has the name {name}"
            )
        if name in package_folder.program_distributions():
            raise PluginError(
                f"{name} cannot be a plugin: this program itself needs it"
            )

    def _stage_recorded(
        self, entry: Entry, tx: Transaction, wheel: str = ""
    ) -> PluginContents | None:
        """Stage the recorded packages, or nothing if they do not fit this program.

        `wheel` is the path of the plugin's own wheel, or "" if it comes from the index.
        """
        staged = self._stage_packages(entry, tx, wheel)
        name = staged.entry.name
        problem = self._unmet_requirement(name, tx.files)
        if not problem:
            return staged

        tx.messages.line(f"{name} {problem}; looking for versions that fit")
        remove_path(tx.files)
        return None

    def _stage(
        self, entry: Entry, tx: Transaction, wheel: str = "", linked_from: str = ""
    ) -> PluginContents:
        """Stage what was just resolved, as `_stage_packages` does.

        Raises PluginError if an extra or a requirement is missing.
        """
        staged = self._stage_packages(entry, tx, wheel, linked_from)
        name = staged.entry.name
        main = package_folder.distributions_in([tx.files])[name]
        extras = main.metadata.get_all("Provides-Extra") or ()
        provided = sorted(map(canonicalize_name, extras))
        for extra in self._extra_names:
            if canonicalize_name(extra) not in provided:
                what = f"{name} {staged.entry.version} has no extra {extra}"
                raise PluginError(what, f"its extras: {', '.join(provided) or 'none'}")
        if problem := self._unmet_requirement(name, tx.files):
            raise PluginError(f"{name} {problem}")
        return staged

    def _unmet_requirement(self, name: str, folder: str) -> str:
        """Return the first requirement that the program and `folder` do not meet, or ""."""
        distributions = package_folder.distributions_in([folder])
        program = package_folder.program_distributions()
        return package_folder.unmet_requirement(
            name, self._extra_names, distributions, program
        )

    def _stage_packages(
        self, entry: Entry, tx: Transaction, wheel: str = "", linked_from: str = ""
    ) -> PluginContents:
        """Unpack the packages of `entry`, and its own `wheel` if any, into the staged folder.

        The files in the directory `linked_from` are those of a linked project. Raises PluginError
        if the result cannot be a plugin.
        """
        tx.messages.line(f"installing {entry.name}")
        program = package_folder.program_distributions()
        lacking = [package for package in entry.packages if package.name not in program]
        install_into(tx.files, lacking, {entry.name: wheel} if wheel else {}, tx)
        if linked_from:
            for name in os.listdir(linked_from):
                if name.endswith((".dist-info", ".pth")):
                    os.rename(
                        os.path.join(linked_from, name), os.path.join(tx.files, name)
                    )
        folder = package_folder.distributions_in([tx.files])
        main = folder[entry.name]
        if not package_folder.entry_points(folder):
            what = f"{entry.name} is not a plugin: it has no entry point in the group {GROUP}"
            raise PluginError(what)
        folders = package_folder.linked_folders(tx.files) or [] if linked_from else []
        module, owner = package_folder.taken_module([*folders, tx.files], program)
        if module:
            raise PluginError(
                f"{entry.name}: {module} would replace the module of {owner}"
            )
        entry = entry.replaced(
            version=str(main.version),
            description=str(main.metadata.get("Summary") or ""),
            python=package_folder.needed_python(tx.files),
        )
        return read_package(entry, [*folders, tx.files])

    def kept_version(self, tx: Transaction) -> PluginContents | None:
        return (
            None
            if self._problem(self._kept_root(tx.plugins_dir))
            else super().kept_version(tx)
        )

    def _kept_root(self, plugins_dir: str) -> str:
        store = store_of(plugins_dir, self.entry.name)
        return store.link_target(self.entry.version_dir)

    def is_present(self, plugins_dir: str) -> bool:
        return super().is_present(plugins_dir) and not self.problem(plugins_dir)

    def problem(self, plugins_dir: str) -> str:
        """Return why the current version cannot work here, or "" if it can."""
        return self._problem(os.path.join(plugins_dir, self.entry.name))

    def _problem(self, root: str) -> str:
        kept = read_kept_entry(os.path.dirname(os.path.realpath(root)))
        if kept is not None and package_folder.other_python(kept.python):
            return f"built for Python {kept.python}"
        *linked, folder_of_packages = self.folders(root)
        for directory in linked:
            if not os.path.isdir(directory):
                return f"its directory {directory} is missing"
        return self._unmet_requirement(self.entry.name, folder_of_packages)

    def folders(self, root: str) -> list[str]:
        return [root]

    def contents(self, root: str) -> PluginContents:
        try:
            return read_package(self.entry, self.folders(root))
        except (OSError, ValueError):
            return PluginContents(self.entry)


class IndexPackage(PipSource):
    """A requirement for the package index."""

    def __init__(self, entry: Entry, requirement: Requirement) -> None:
        super().__init__(entry)
        self.requirement = requirement
        self._extras = _extras_of(requirement)

    @property
    def argument(self) -> str | None:
        return f"{self.prefix}{self.entry.source or self.entry.name}"

    @property
    def is_pinned(self) -> bool:
        for version in self.requirement.specifier:
            if version.operator.startswith("==") and not version.version.endswith(".*"):
                return True
        return False

    def fetch(self, tx: Transaction) -> PluginContents:
        _prepare()
        built = self.entry.built_packages
        if built:
            return PluginContents(self.entry, unbuilt=built)
        return self._stage_recorded_or_newest(tx)

    def build(self, tx: Transaction, agreed: Sequence[str]) -> PluginContents:
        _prepare()
        return self._stage_recorded_or_newest(tx, agreed)

    def _stage_recorded_or_newest(
        self, tx: Transaction, agreed: Collection[str] = ()
    ) -> PluginContents:
        entry = self.entry
        if entry.packages:
            staged = self._stage_recorded(entry, tx)
            if staged is not None:
                return staged
            entry = entry.replaced(packages=())
        return self._fetch_newest(entry, tx, agreed)

    def _fetch_newest(
        self, entry: Entry, tx: Transaction, agreed: Collection[str] = ()
    ) -> PluginContents:
        """Stage the newest version on the index; the packages `agreed` may be built."""
        requirement = parse_requirement(str(self.requirement))
        name = canonicalize_name(requirement.name)
        if name in package_folder.program_distributions():
            return _of_program(name)
        if version := entry.version:  # an update never goes back
            try:
                requirement.specifier &= SpecifierSet(f">={Version(version).public}")
            except InvalidVersion:
                raise UsageError(
                    f"{entry.source}: {version} is not a valid version"
                ) from None
        tx.messages.line(f"looking for {requirement.name}{requirement.specifier}")
        resolution = resolve(str(requirement), tx, sources=agreed)
        entry = entry.replaced(name=name)
        if resolution.unbuilt:
            return PluginContents(entry, unbuilt=resolution.unbuilt)
        versions = {package.name: package.version for package in resolution.packages}
        version = versions[name]
        if why := why_not_newest(requirement, version, tx):
            tx.messages.warn(
                f"{name}: {version} is used instead of the newest version: {why}"
            )
        entry = entry.replaced(version=version, packages=resolution.packages)
        return IndexPackage(entry, requirement).kept_version(tx) or self._stage(
            entry, tx
        )


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

    def fetch(self, tx: Transaction) -> PluginContents:
        _prepare()
        name = os.path.basename(self.address.partition("?")[0])
        os.mkdir(
            tx.built
        )  # where `build` looks for the wheel, if a requirement must be built
        path = os.path.join(tx.built, name)
        sha256 = fetch_file(self.address, self.entry.sha256, Path(path), tx)
        entry = self.entry.replaced(sha256=sha256)
        if entry.built_packages:
            return PluginContents(entry, unbuilt=entry.built_packages)
        return self._with_requirements(entry, path, tx)


class ArchivedProject(PipSource):
    """A project in an archive, from which the package is built."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self.address, self._extras = split_extras(self.address)

    def fetch(self, tx: Transaction) -> PluginContents:
        _prepare()
        sha256 = unpack(self, UnpackOptions(), tx)
        os.rename(tx.files, whole_of(tx))
        entry = self.entry.replaced(sha256=sha256)
        return PluginContents(entry, unbuilt={entry.name: f"in {entry.source}"})


class RepositoryProject(PipSource):
    """A project in a git repository, from which the package is built."""

    is_from_git = True
    has_subdirectories = True

    def __init__(self, entry: Entry, repository: PackageRepository) -> None:
        super().__init__(entry)
        self._repository = repository
        self._extras = _extras_of(repository.requirement)
        self.ref_in_address = repository.ref

    @property
    def argument(self) -> str | None:
        return f"{self.prefix}{self.entry.source}"

    def fetch(self, tx: Transaction) -> PluginContents:
        _prepare()
        address = self._repository.address
        wanted = self.entry.replaced(source=without_credentials(address), version="")
        found = fetch_commit(wanted, address, tx, whole_of(tx))
        if not is_python_project(self._project(tx)):
            what = f"{self.entry.source}: there is no pyproject.toml and no setup.py"
            raise PluginError(what)
        name = self.entry.name or canonicalize_name(self._repository.requirement.name)
        entry = found.replaced(source=self.entry.source, name=name)
        return PluginContents(entry, unbuilt={name: f"at commit {entry.commit[:12]}"})


class LinkedProject(PipSource):
    """The user's own project: only its metadata and what it needs are in the plugin's folder.

    Its modules stay where they are: the editable wheel (PEP 660) names their directories.
    """

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
        self.address, self._extras = split_extras(self.address)

    def build(self, tx: Transaction, agreed: Sequence[str]) -> PluginContents:
        _prepare()
        if not os.path.isdir(
            tx.built
        ):  # otherwise, this is a second call, as in `PipSource.build`
            tx.messages.line(f"building {self.entry.name}")
            build_editable(self.address, tx)
        distributions = package_folder.distributions_in([tx.built])
        [name] = distributions
        self._check_name(name)
        folders = package_folder.linked_folders(tx.built)
        if not folders:
            what = f"{self.address}: its editable wheel does not name the directory of its modules"
            remedy = (
                "move the package into src/, or add its wheel: pip wheel --no-deps "
            )
            raise PluginError(what, f"{remedy}{shlex.quote(self.address)}")
        wanted = stub_requirement(distributions[name], self._extras, tx.built)
        resolution = resolve(wanted, tx, local=name, sources=agreed)
        if resolution.unbuilt:
            return PluginContents(self.entry, unbuilt=resolution.unbuilt)
        texts = [
            distributions[name].read_text(file)
            for file in ("METADATA", "entry_points.txt")
        ]
        facts = [*folders, *filter(None, texts)]
        sha256 = hashlib.sha256("\n".join(facts).encode()).hexdigest()
        entry = self.entry.replaced(
            name=name, sha256=sha256, packages=resolution.packages
        )
        return self._stage(entry, tx, linked_from=tx.built)

    def folders(self, root: str) -> list[str]:
        linked = package_folder.linked_folders(root) or []
        return [*linked, root]


def _prepare() -> None:
    """Make the program's own packages importable, and check that there is pip or uv."""
    complete_import_path()
    check_installer()


def _extras_of(requirement: Requirement) -> str:
    return f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""


def _of_program(name: str) -> PluginContents:
    """Return a plugin among the requirements of the program: nothing is to be installed."""
    distribution = package_folder.program_distributions()[name]
    if not package_folder.entry_points({name: distribution}):
        raise PluginError(f"{name} cannot be a plugin: this program itself needs it")
    return PluginContents(Entry(name, "environment", version=str(distribution.version)))


def _name_of(wheel: str) -> str:
    file = os.path.basename(wheel)
    try:
        return parse_wheel_filename(file)[0]
    except InvalidWheelFilename as failure:
        raise OperationError(f"{file}: not a valid wheel: {failure}") from None
