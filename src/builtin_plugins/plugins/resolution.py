"""Find the packages that a plugin needs with pip or uv, and install them into a folder.

Wheels are only unpacked. The code of a source distribution runs if, and only if, the user agreed to
build it.
"""

import json
import os
import re
import sys
import tomllib
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.tags import sys_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

from builtin_plugins.library.addresses import bare_address
from builtin_plugins.library.files.atomic import discard
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.fetch_file import verified_sha256
from builtin_plugins.plugins.package_folder import (
    addressed_requirement,
    distributions_in,
    linked_folders,
    needed,
    own_distribution,
)
from builtin_plugins.plugins.pip_or_uv import (
    Answer,
    Installer,
    InstallerError,
    checked_output,
    has_pip,
)
from builtin_plugins.registry.entry import Entry, Package
from host import OperationError, PluginError
from host.hook_marker import OWN_DISTRIBUTION

_VERSIONS = re.compile(r"^Available versions: (.+)$", re.MULTILINE)
# How pip and uv name a package that has only a source distribution, or that does not exist.
_NO_WHEEL = re.compile(
    r"No matching distribution found for ([^\n]+?)(?: \(from |\n|$)"
    r"|Wheels are required for `([^`]+)`"
)
_BUILD_OPTIONS = ("--only-binary ", "--no-binary ", "--no-build")
_WHEEL = "Wheel-Version: 1.0\nGenerator: cli-host\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class Resolution(NamedTuple):
    """The packages that a folder needs.

    If `unbuilt` is not empty, it maps the packages that the user must first agree to build to their
    versions.
    """

    packages: tuple[Package, ...] = ()
    unbuilt: Mapping[str, str] = {}


class _Found(NamedTuple):
    """An installer's answer, its packages, and the names of those from a file or an address.

    `metadata` has what pip says of each package.
    """

    answer: Answer
    packages: Sequence[Package] = ()
    direct: Collection[str] = ()
    metadata: Sequence[Mapping[str, Any]] = ()


def resolve(
    wanted: str, change: Change, sources: Mapping[str, str], *, own: str = ""
) -> Resolution:
    """Return what the requirement `wanted` needs, itself included unless `own` is its name.

    `own` is the name of a package that comes from a file. The packages in `sources`, which maps
    names to versions, may be built. Raises InstallerError if there is no solution, and PluginError
    if a package is required from an address: nobody could install that at the recorded version and
    checksum later.
    """
    subject, _, _ = wanted.partition(" @ ")  # a file is not shown
    constraints = _constraints(change)
    allowed = {canonicalize_name(own), OWN_DISTRIBUTION}
    buildable = {
        name: version
        for name, version in sources.items()
        if canonicalize_name(name) not in allowed
    }
    built: dict[str, Package] = {}
    if buildable and has_pip():
        # If pip may build one package, it also builds what any package requires from an address.
        # uv refuses that.
        found = _build_metadata(buildable, subject, change)
        for package, metadata in zip(found.packages, found.metadata, strict=True):
            built[package.name] = package
            constraints.append(_stub(metadata, change))
        buildable = {}
    else:
        # The user agreed to these versions, and uv would build an older one that fits better.
        constraints += _pins(buildable)

    path = _write_lines("constraints.txt", constraints, change)
    options = ["--constraint", path, *_binary_options(buildable)]
    found = _find([wanted], options, buildable, change)
    if found.answer.failed:
        return _unresolved(found.answer, subject, [subject], sources, change)

    packages = [*found.packages]
    for name in found.direct:
        if name in built:
            packages.append(built[name])
        elif name not in allowed:
            raise from_address(subject, name)
    return Resolution(tuple(sorted(packages, key=_name_of)))


def _build_metadata(sources: Mapping[str, str], subject: str, change: Change) -> _Found:
    """Return what pip finds for source distributions; it builds their metadata, and nothing else.

    Raises PluginError if one of them requires a package from an address.
    """
    pins = _pins(sources)
    options = ["--no-deps", *_binary_options(sources)]
    found = _find(pins, options, sources, change)
    if found.answer.failed:
        raise InstallerError(subject, found.answer)

    for metadata in found.metadata:
        addressed = addressed_requirement(metadata.get("requires_dist", ()))
        if addressed:
            raise from_address(metadata["name"], addressed)
    return found


def find_recorded(
    packages: Sequence[Package], change: Change, sources: Collection[str]
) -> Resolution:
    """Return recorded packages at the same versions, with the files that fit this machine.

    The packages in `sources` may be built. Raises InstallerError if a version is not to be had, and
    OperationError for a file that has the recorded name but another content.
    """
    if not packages:
        return Resolution()
    pins = _pins({package.name: package.version for package in packages})
    options = ["--no-deps", *_binary_options(sources)]
    found = _find(pins, options, sources, change)
    if found.answer.failed:
        subject = "the recorded packages"
        return _unresolved(found.answer, subject, pins, sources, change)

    recorded = {package.name: package for package in packages}
    for package in found.packages:
        _check_file(package, recorded[package.name])
    return Resolution(tuple(found.packages))


def _pins(versions: Mapping[str, str]) -> list[str]:
    return [f"{name}=={version}" for name, version in versions.items()]


def _name_of(package: Package) -> str:
    return package.name


def _check_file(package: Package, recorded: Package) -> None:
    """Raise OperationError if a file is the recorded one by its name, but not by its content."""
    if recorded.file not in ("", package.file):
        return
    if not recorded.sha256 or set(package.sha256) & set(recorded.sha256):
        return
    hashes = " or ".join(recorded.sha256)
    found = "".join(package.sha256) or "unknown"
    raise OperationError(f"{package.file}: the SHA-256 is {found}, expected {hashes}")


def from_address(subject: str, name: str) -> PluginError:
    """Return the error for a package that requires `name` from an address."""
    what = f"{subject} requires {name} from an address"
    return PluginError(what, "only packages of an index can be required")


def _constraints(change: Change) -> list[str]:
    """Return what every package must agree with: this program, and the ranges it requires.

    cli-host may be on no index, so that a stub stands for it.
    """
    constraints = []
    own = own_distribution()
    if own is not None:
        metadata = {"name": OWN_DISTRIBUTION, "version": str(own.version)}
        constraints.append(_stub(metadata, change))
        for requirement in needed(own):
            constraints.append(f"{requirement.name}{requirement.specifier}")
    return constraints


def _stub(metadata: Mapping[str, Any], change: Change) -> str:
    """Write a wheel without code that has this metadata; return the constraint that names it."""
    name, version = metadata["name"], metadata["version"]
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    for extra in metadata.get("provides_extra", ()):
        lines.append(f"Provides-Extra: {extra}")
    for requirement in metadata.get("requires_dist", ()):
        lines.append(f"Requires-Dist: {requirement}")

    text = "\n".join([*lines, ""])
    wheel = _write_wheel(name, version, {"METADATA": text}, change.area)
    return f"{name} @ {file_address(wheel)}"


def _write_wheel(
    name: str,
    version: str,
    metadata: Mapping[str, str],
    directory: str,
    linked: Sequence[str] = (),
) -> str:
    """Write a wheel without code into `directory`; return its path.

    `metadata` has the files of its metadata. Installed, it makes the directories `linked`
    importable.
    """
    name = canonicalize_name(name).replace("-", "_")
    base = f"{name}-{version}"
    files = {"WHEEL": _WHEEL, "RECORD": "", **metadata}
    files = {f"{base}.dist-info/{file}": text for file, text in files.items()}
    if linked:
        files[f"{name}.pth"] = "\n".join([*linked, ""])

    path = os.path.join(directory, f"{base}-py3-none-any.whl")
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            # Without a time, so that the same metadata gives the same checksum.
            wheel.writestr(zipfile.ZipInfo(file), text)
    return path


def file_address(path: str) -> str:
    return f"file://{quote(path)}"


def _binary_options(sources: Collection[str]) -> list[str]:
    """Return the options that forbid to build any packages but `sources`."""
    options = ["--only-binary", ":all:"]
    for name in sorted(sources):
        options.append(f"--no-binary={name}")
    return options


def _find(
    wanted: Sequence[str],
    options: Sequence[str],
    sources: Collection[str],
    change: Change,
) -> _Found:
    """Return what pip or uv would install for the requirements `wanted`."""
    if has_pip():
        return _find_with_pip(wanted, options, change, can_build=bool(sources))
    return _find_with_uv(wanted, options, sources, change)


def _find_with_pip(
    wanted: Sequence[str], options: Sequence[str], change: Change, *, can_build: bool
) -> _Found:
    report = os.path.join(change.area, "report.json")
    # Installed packages would count as satisfied.
    command = ["install", "--dry-run", "--ignore-installed", "--report", report]
    command += [*options, *wanted]
    answer = change.installer.pip(*command, can_build=can_build)
    if answer.failed:
        return _Found(answer)

    packages = []
    direct = []
    metadata = []
    answered = json.loads(Path(report).read_text("utf-8"))
    for item in answered["install"]:
        name = canonicalize_name(item["metadata"]["name"])
        if item["is_direct"]:
            direct.append(name)
            continue

        metadata.append(item["metadata"])

        file = item["download_info"]
        archive = file["archive_info"]
        # pip before 23.1 writes only the key `hash`.
        hashes = archive.get("hashes")
        if hashes is None:
            algorithm, _, digest = archive.get("hash", "").partition("=")
            hashes = {algorithm: digest}
        version = item["metadata"]["version"]
        packages.append(_package(name, version, file["url"], hashes))
    return _Found(answer, packages, direct, metadata)


def _find_with_uv(
    wanted: Sequence[str],
    options: Sequence[str],
    sources: Collection[str],
    change: Change,
) -> _Found:
    command = ("pip", "compile", "-", "--python", sys.executable, "--quiet")
    _check_settings_of_uv([*command, "--no-header", *options], sources, change)
    lock = ["--no-header", "--format", "pylock.toml", *options]
    # An option replaces the value of its variable.
    for path in change.session.environ.get("UV_CONSTRAINT", "").split():
        lock += ["--constraint", path]
    given = "\n".join([*wanted, ""])
    answer = change.installer.uv(*command, *lock, given=given, can_build=bool(sources))
    if answer.failed:
        return _Found(answer)

    packages = []
    direct = []
    for item in tomllib.loads(answer.output).get("packages", []):
        name = canonicalize_name(item["name"])
        if "wheels" in item:
            file = min(item["wheels"], key=_place_of_wheel)
        elif "sdist" in item:
            file = item["sdist"]
        else:
            direct.append(name)
            continue
        hashes = file.get("hashes", {})
        packages.append(_package(name, item["version"], _url(file), hashes))
    return _Found(answer, packages, direct)


def _check_settings_of_uv(
    command: Sequence[str], sources: Collection[str], change: Change
) -> None:
    """Raise OperationError if uv's settings let it build more than `sources`.

    They are added to the options, so that no option overrides them.
    """
    answer = change.installer.uv(*command, "--emit-build-options", can_build=False)
    lines = checked_output(answer, "its settings").splitlines()
    # A setting may make it print other options, too, such as the address of an index.
    found = {line for line in lines if line.startswith(_BUILD_OPTIONS)}
    expected = {"--only-binary :all:", *[f"--no-binary {name}" for name in sources]}
    if found != expected:
        options = ", ".join(sorted(found ^ expected))
        what = f"the settings of uv change what may be built: {options}"
        raise OperationError(what, "remove them from uv.toml, or set UV_NO_CONFIG=1")


def _place_of_wheel(file: Mapping[str, Any]) -> int:
    """Return the place of a wheel in the order in which Python's tags prefer wheels."""
    _, _, _, tags = parse_wheel_filename(_name_of_file(_url(file)))
    order = list(sys_tags())
    places = [order.index(tag) for tag in tags if tag in order]
    return min(places, default=len(order))


def _url(file: Mapping[str, Any]) -> str:
    """Return the address or the path of a file in a pylock.toml."""
    return str(file.get("url") or file["path"])


def _name_of_file(url: str) -> str:
    # As pip reads an index: behind the name of a wheel may be a slash.
    return os.path.basename(unquote(urlsplit(url).path).rstrip("/"))


def _package(name: str, version: str, url: str, hashes: Mapping[str, str]) -> Package:
    file = _name_of_file(url)
    sha256: tuple[str, ...] = ()
    if "sha256" in hashes:  # an index may list another checksum, or none
        sha256 = (hashes["sha256"],)
    is_built = not file.endswith(".whl")
    return Package(name, version, sha256, file, bare_address(url), is_built)


def _unresolved(
    answer: Answer,
    subject: str,
    wanted: Iterable[str],
    sources: Collection[str],
    change: Change,
) -> Resolution:
    """Return the packages that must be built, for a failed resolution of requirements `wanted`.

    Raises InstallerError if a build would not help.
    """
    unbuilt: dict[str, str] = {}
    known = {}
    for text in wanted:
        requirement = Requirement(text)
        known[canonicalize_name(requirement.name)] = requirement
    # The installer only proposes names; the index is asked about each.
    for match in _NO_WHEEL.finditer("\n".join(answer.said)):
        try:
            requirement = Requirement(match[1] or match[2])
        except InvalidRequirement:
            continue

        name = canonicalize_name(requirement.name)
        if name in sources:
            continue
        if not requirement.specifier:  # uv names no version
            requirement = known.get(name, requirement)
        with suppress(OperationError):  # the package may not exist
            version = newest_version(requirement, change.installer)
            if version:
                unbuilt[name] = version
    if unbuilt:
        return Resolution(unbuilt=unbuilt)
    raise InstallerError(subject, answer)


def newest_version(wanted: Requirement, installer: Installer) -> str:
    """Return the newest version that the index has for a requirement, or "" for none.

    Raises OperationError if the index does not have the package.
    """
    if not has_pip():
        command = ("pip", "compile", "-", "--python", sys.executable, "--quiet")
        bare = ("--no-deps", "--no-header", "--no-annotate")
        given = f"{wanted.name}{wanted.specifier}\n"
        answer = installer.uv(*command, *bare, given=given, can_build=False)
        pin = checked_output(answer, wanted.name).strip()
        _, _, version = pin.partition("==")
        return version

    # An index that does not answer has let the user wait before.
    options = ["--retries", "0"]
    if wanted.specifier.prereleases:
        options.append("--pre")
    asked = ("index", "versions", wanted.name, *options)
    listed = checked_output(installer.pip(*asked, can_build=False), wanted.name)
    line = _VERSIONS.search(listed)
    if line is None:
        return ""

    # The newest version comes first.
    versions = line[1].split(", ")
    for version in wanted.specifier.filter(versions):
        return str(version)
    return ""


def install_into(
    folder: str,
    entry: Entry,
    packages: Sequence[Package],
    wheel: str,
    agreed: Collection[str],
    change: Change,
) -> None:
    """Install packages, and the own wheel of `entry` if any, into a new folder.

    Only the packages `agreed` may be built. A file whose checksum is known must have it. Raises
    OperationError if the folder lacks a package afterwards: pip skips what it cannot place, with
    status 0.
    """
    sources = [package.name for package in packages if package.built]
    unasked = ", ".join(sorted(set(sources) - set(agreed)))
    if unasked:
        raise OperationError(f"{entry.name}: nobody agreed to build {unasked}")

    checksums = {}
    names = []
    for package in packages:
        names.append(package.name)
        checksums[f"{package.name}=={package.version}"] = package.sha256
    if wheel:
        names.append(entry.name)
        sha256 = verified_sha256(wheel, "")
        checksums[f"{entry.name} @ {file_address(wheel)}"] = (sha256,)

    options = ["--target", folder, "--no-deps", *_binary_options(sources)]
    lines = _with_checksums(checksums)
    options += ["--requirement", _write_lines("requirements.txt", lines, change)]
    os.makedirs(folder, exist_ok=True)
    change.installer.install(entry.name, *options, can_build=bool(sources))
    discard(os.path.join(folder, ".lock"))  # of uv

    installed = distributions_in(folder)
    for name in names:
        if name not in installed:
            raise OperationError(f"{change.installer.name} did not install {name}")


def _with_checksums(checksums: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the lines of a requirements file for requirements with their checksums."""
    # An installer that checks one file wants a checksum for each.
    if not all(checksums.values()):
        return [*checksums]

    lines = []
    for requirement, allowed in checksums.items():
        hashes = [f"--hash=sha256:{checksum}" for checksum in allowed]
        lines.append(" ".join([requirement, *hashes]))
    return lines


def _write_lines(name: str, lines: Iterable[str], change: Change) -> str:
    """Write a file for an installer, which cannot take a line for an option; return its path."""
    path = Path(change.area, name)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return str(path)


def build_wheel(directory: str, entry: Entry, change: Change) -> None:
    """Build the wheel of a project in `change.built`. This runs the project's own code."""
    installer = change.installer
    if has_pip():
        options = ("--no-deps", "--wheel-dir", change.built)
        answer = installer.pip("wheel", *options, directory, can_build=True)
    else:
        command = ("build", "--wheel", "--python", sys.executable)
        # Without the last option, uv writes a .gitignore beside the wheel.
        options = ("--out-dir", change.built, "--no-create-gitignore")
        answer = installer.uv(*command, *options, directory, can_build=True)
    checked_output(answer, entry.name)


def build_linked_wheel(directory: str, entry: Entry, change: Change) -> bool:
    """Build a wheel in `change.built` that leads to the modules of a project where they are.

    It has the metadata of the project's editable wheel, which pip and uv only install. Returns
    whether the editable wheel names the directories of the modules. This runs the project's own
    code.
    """
    editable = os.path.join(change.area, "editable")
    options = ("--target", editable, "--no-deps", "--editable", directory)
    change.installer.install(entry.name, *options, can_build=True)

    folders = linked_folders(editable)
    if not folders:
        return False

    [[name, distribution]] = distributions_in(editable).items()
    metadata = {}
    for file in ("METADATA", "entry_points.txt"):
        metadata[file] = distribution.read_text(file) or ""
    version = str(distribution.version)
    _write_wheel(name, version, metadata, change.built, folders)
    return True
