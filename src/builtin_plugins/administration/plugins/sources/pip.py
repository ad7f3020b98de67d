"""Python packages, each in a folder of its own with everything that the program does not have.

Wheels are only unpacked. A project is built, which runs its code, after the user agrees: `fetch`
returns contents with `unbuilt` names, and `build` gets the names that the user agreed to.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from builtin_plugins.administration.plugins import package_folder
from builtin_plugins.administration.plugins.plugin_contents import (
    PluginContents,
    is_python_project,
    read_package,
)
from builtin_plugins.administration.plugins.resolution import (
    build_wheel,
    file_address,
    install_into,
    resolve,
    why_not_newest,
)
from builtin_plugins.administration.plugins.sources.base import PluginSource
from builtin_plugins.administration.plugins.sources.fetch_file import fetch_file
from builtin_plugins.administration.plugins.sources.git import fetch_commit
from builtin_plugins.administration.plugins.sources.requirements import (
    parse_package_repository,
    parse_requirement,
)
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.venv.installer import check_installer
from builtin_plugins.io.addresses import without_credentials
from builtin_plugins.io.files.atomic import remove_path
from builtin_plugins.plugins_folder.directory import read_kept_entry, store_of
from builtin_plugins.plugins_folder.registry import Entry
from host import OperationError, PluginError, UsageError
from host.hook_marker import GROUP
from host.run.importing import complete_import_path

_WHEEL = ".whl"


class PipSource(PluginSource):
    """A requirement for the package index, a repository to build a wheel from, or a wheel.

    `repository` is None if the source is not a repository; `requirement` is None for a wheel.
    """

    prefix = "pip:"
    suffixes = (_WHEEL,)
    name_hint = ""  # the name of a package cannot be changed

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry)
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

    @property
    def _extras(self) -> tuple[str, ...]:
        return tuple(sorted(self.requirement.extras)) if self.requirement else ()

    def fetch(self, tx: Transaction) -> PluginContents:
        complete_import_path()
        check_installer()
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
            return PluginContents(entry, unbuilt={name: f"at commit {entry.commit[:12]}"})
        if self.entry.packages:
            built = {one.name: one.version for one in self.entry.packages if one.built}
            if built:
                return PluginContents(self.entry, unbuilt=built)
            return self._stage_recorded({}, tx)
        return self._fetch_newest(tx)

    def _fetch_wheel(self, tx: Transaction) -> PluginContents:
        name = os.path.basename(self.address.partition("?")[0])
        path = os.path.join(tx.area, name)
        sha256 = fetch_file(self.address, self.entry.sha256, Path(path), tx)
        return self._with_requirements(self.entry.replaced(sha256=sha256), path, tx)

    def _fetch_newest(self, tx: Transaction, agreed: Collection[str] = ()) -> PluginContents:
        """Stage the newest version on the index; the packages `agreed` may be built."""
        requirement = parse_requirement(str(self.requirement))
        name = canonicalize_name(requirement.name)
        if name in package_folder.program_distributions():
            return self._of_program(name)
        if version := self.entry.version:  # an update never goes back
            try:
                requirement.specifier &= SpecifierSet(f">={Version(version).public}")
            except InvalidVersion:
                raise UsageError(f"{self.entry.source}: {version} is not a valid version") from None
        tx.messages.line(f"looking for {requirement.name}{requirement.specifier}")
        resolution = resolve(str(requirement), tx, sources=agreed)
        entry = self.entry.replaced(name=name)
        if resolution.unbuilt:
            return PluginContents(entry, unbuilt=resolution.unbuilt)
        [version] = [one.version for one in resolution.packages if one.name == name]
        if why := why_not_newest(requirement, version, tx):
            tx.messages.warn(f"{name}: {version} is used instead of the newest version: {why}")
        entry = entry.replaced(version=version, packages=resolution.packages)
        return PipSource(entry).kept_version(tx) or self._stage(entry, {}, tx)

    def build(self, tx: Transaction, agreed: Sequence[str]) -> PluginContents:
        if not self.repository:
            if self.entry.packages:
                return self._stage_recorded({}, tx, agreed)
            return self._fetch_newest(tx, agreed)
        built = os.path.join(tx.area, "built")
        if os.path.isdir(built):
            [file] = os.listdir(built)
            return self._with_requirements(self.entry, os.path.join(built, file), tx, agreed)
        tx.messages.line(f"building {self.entry.name}")
        return self._with_requirements(self.entry, build_wheel(_checkout(tx), tx), tx, agreed)

    def _with_requirements(
        self, entry: Entry, wheel: str, tx: Transaction, agreed: Collection[str] = ()
    ) -> PluginContents:
        """Stage the wheel of a file or project, with the recorded packages or the newest ones."""
        name, _ = _name_and_version(wheel)
        if entry.name not in ("", name):
            raise PluginError(f"{entry.name}: the fetched package has the name {name}")
        if name in package_folder.program_distributions():
            raise PluginError(f"{name} cannot be a plugin: this program itself needs it")
        entry = entry.replaced(name=name)
        if entry.packages:
            return self._stage_recorded({name: wheel}, tx, agreed)
        extras = f"[{','.join(self._extras)}]" if self._extras else ""
        wanted = f"{name}{extras} @ {file_address(wheel)}"
        resolution = resolve(wanted, tx, local=name, sources=agreed)
        if resolution.unbuilt:
            return PluginContents(entry, unbuilt=resolution.unbuilt)
        return self._stage(entry.replaced(packages=resolution.packages), {name: wheel}, tx)

    def _stage_recorded(
        self, wheels: Mapping[str, str], tx: Transaction, agreed: Collection[str] = ()
    ) -> PluginContents:
        """Stage the recorded packages, or resolve again if they do not fit this program."""
        staged = self._stage(self.entry, wheels, tx)
        program = package_folder.program_distributions()
        folder = package_folder.distributions_in([tx.files])
        name = staged.entry.name
        problem = package_folder.unmet_requirement(name, self._extras, folder, program)
        if not problem:
            return staged
        tx.messages.line(f"{name} {problem}; looking for versions that fit")
        remove_path(tx.files)
        again = PipSource(self.entry.replaced(packages=()))
        for wheel in wheels.values():
            return again._with_requirements(again.entry, wheel, tx, agreed)
        return again._fetch_newest(tx, agreed)

    def _of_program(self, name: str) -> PluginContents:
        """Return a plugin among the requirements of the program: nothing is to be installed."""
        distribution = package_folder.program_distributions()[name]
        if not package_folder.entry_points({name: distribution}):
            raise PluginError(f"{name} cannot be a plugin: this program itself needs it")
        return PluginContents(Entry(name, "environment", version=str(distribution.version)))

    def _stage(self, entry: Entry, wheels: Mapping[str, str], tx: Transaction) -> PluginContents:
        """Install the packages of `entry`, and the wheels, into the staged folder; check it."""
        tx.messages.line(f"installing {entry.name}")
        program = package_folder.program_distributions()
        lacking = [one for one in entry.packages if one.name not in program]
        install_into(tx.files, lacking, wheels, tx)
        folder = package_folder.distributions_in([tx.files])
        main = folder[entry.name]
        if not package_folder.entry_points(folder):
            what = f"{entry.name} is not a plugin: it has no entry point in the group {GROUP}"
            raise PluginError(what)
        module, owner = package_folder.taken_module(tx.files, program)
        if module:
            raise PluginError(f"{entry.name}: {module} would replace the module of {owner}")
        entry = entry.replaced(
            version=str(main.version),
            description=str(main.metadata["Summary"] or ""),
            python=package_folder.needed_python(tx.files),
        )
        return read_package(entry, [tx.files])

    def kept_version(self, tx: Transaction) -> PluginContents | None:
        return None if self._problem(self._kept_root(tx.plugins_dir)) else super().kept_version(tx)

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
        folder = package_folder.distributions_in(self.folders(root))
        program = package_folder.program_distributions()
        return package_folder.unmet_requirement(self.entry.name, self._extras, folder, program)

    def folders(self, root: str) -> list[str]:
        """Return the directories for the import path of the version whose files are in `root`."""
        linked = package_folder.linked_folders(root) if self.entry.dev else []
        return [*(linked or ()), root]

    def contents(self, root: str) -> PluginContents:
        try:
            return read_package(self.entry, self.folders(root))
        except (OSError, ValueError):
            return PluginContents(self.entry)


def _checkout(tx: Transaction) -> str:
    """Return the directory into which the files of a repository are written."""
    return os.path.join(tx.area, "checkout")


def _name_and_version(wheel: str) -> tuple[str, str]:
    file = os.path.basename(wheel)
    try:
        name, version, *_ = parse_wheel_filename(file)
    except InvalidWheelFilename as failure:
        raise OperationError(f"{file}: not a valid wheel: {failure}") from None
    return name, str(version)
