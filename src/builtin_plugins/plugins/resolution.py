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
from urllib.parse import quote

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from builtin_plugins.library.files.atomic import discard
from builtin_plugins.plugins.change import Change
from builtin_plugins.plugins.index_files import listed_checksums
from builtin_plugins.plugins.installer import (
    Answer,
    Installer,
    checked_output,
    has_pip,
    shortened,
)
from builtin_plugins.plugins.package_folder import (
    distributions_in,
    linked_folders,
    program_distributions,
)
from builtin_plugins.plugins.sources.fetch_file import verified_sha256
from builtin_plugins.plugins.sources.requirements import extras_of
from builtin_plugins.plugins_folder.entry import Package
from host import OperationError

_VERSIONS = re.compile(r"^Available versions: (.+)$", re.MULTILINE)
# How pip and uv name a package that has only a source distribution, or that does not exist.
_NO_WHEEL_PIP = re.compile(
    r"No matching distribution found for ([^\n]+?)(?: \(from |\n|$)"
)
_NO_WHEEL_UV = re.compile(r"Wheels are required for `([^`]+)`")
# How both name a package that is required from an address and has no wheel there.
_NOT_BUILT = re.compile(r"Failed to build [`']([\w.-]+)")
_REQUIREMENT = r"(?<![\w.-])({name})((?:\s*(?:[<>=!~]=?|===)\s*[\w.*+!-]+\s*,?)+)"
_DEPENDS = (
    r"(?<![\w.=-])([A-Za-z][\w.-]*(?:\[[^\]]*\])?(?:(?: |==)\d[\w.!+-]*)?) depends on "
)
_WHEEL = "Wheel-Version: 1.0\nGenerator: cli-host\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class Resolution(NamedTuple):
    """The packages that a folder needs.

    If `unbuilt` is not empty, it maps the packages that the user must first agree to build to their
    versions. `direct` has the names of packages that come from files or addresses, not from an
    index.
    """

    packages: tuple[Package, ...] = ()
    unbuilt: Mapping[str, str] = {}
    direct: frozenset[str] = frozenset()


def resolve(
    wanted: str, change: Change, *, local: str = "", sources: Collection[str] = ()
) -> Resolution:
    """Return what the requirement `wanted` needs besides what the program has.

    `local` is the name of a package that comes from a file, so that no index is asked for it. The
    packages in `sources` may be built. Raises OperationError if there is no solution, for example
    because a requirement contradicts a version of the program.
    """
    program = program_distributions()
    constraints = Path(change.area, "constraints.txt")
    stubs = os.path.join(change.area, "stubs")
    lines = _write_stubs(program, stubs)
    constraints.write_text("".join(lines), encoding="utf-8")

    options = ["--constraint", str(constraints), *_binary_options(sources)]
    if has_pip():
        resolution = _resolve_with_pip(wanted, options, sources, change)
    else:
        resolution = _resolve_with_uv(wanted, options, sources, change)

    # Nobody could install these at the recorded version and checksum later.
    addressed = resolution.direct - {*program, canonicalize_name(local)}
    if addressed:
        raise _addressed(wanted, ", ".join(sorted(addressed)))
    return resolution


def _write_stubs(program: Mapping[str, Any], directory: str) -> list[str]:
    """Write a wheel without code for each distribution of the program; return constraints.

    cli-host itself may be on no index, and a constraint with an address asks no index for the
    others.
    """
    lines = []
    os.makedirs(directory, exist_ok=True)
    for name, distribution in program.items():
        path = _write_wheel(distribution, directory)
        lines.append(f"{name} @ {file_address(path)}\n")
    return lines


def _write_wheel(distribution: Any, directory: str, linked: Sequence[str] = ()) -> str:
    """Write a wheel with the metadata of a distribution into `directory`; return its path.

    It has none of the distribution's code. Installed, it makes the directories `linked`
    importable.
    """
    canonical_name = canonicalize_name(str(distribution.metadata["Name"]))
    name = canonical_name.replace("-", "_")
    base = f"{name}-{distribution.version}"
    info = f"{base}.dist-info"

    files = {f"{info}/WHEEL": _WHEEL, f"{info}/RECORD": ""}
    for file in ("METADATA", "entry_points.txt"):
        files[f"{info}/{file}"] = distribution.read_text(file) or ""
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


def _resolve_with_pip(
    wanted: str, options: Sequence[str], sources: Collection[str], change: Change
) -> Resolution:
    """Return pip's answer. Raises OperationError if it finds no solution.

    Installed packages are ignored: pip would count those that somebody added to the program's
    environment as satisfied.
    """
    report = os.path.join(change.area, "report.json")
    requirements = _requirements_file([wanted], change)
    command = ["install", "--dry-run", "--ignore-installed", "--report", report]
    command += [*options, "--requirement", requirements]
    # pip would build what a package requires from an address, whatever the options say.
    answer = change.installer.try_pip(*command, can_build=bool(sources))
    if answer.failed:
        return _unresolved(answer.output, _NO_WHEEL_PIP, wanted, sources, change)

    packages = []
    direct = set()
    answered = json.loads(Path(report).read_text("utf-8"))
    for item in answered["install"]:
        name = canonicalize_name(item["metadata"]["name"])
        version = item["metadata"]["version"]
        if item["is_direct"]:
            direct.add(str(name))
            continue

        file = item["download_info"]
        url = file["url"]
        sha256 = file["archive_info"]["hashes"]["sha256"]
        listed = listed_checksums(name, version, url, sha256, answer.output, change)
        is_built = not url.endswith(".whl")
        packages.append(Package(name, version, listed, is_built))
    return Resolution(tuple(packages), direct=frozenset(direct))


def _resolve_with_uv(
    wanted: str, options: Sequence[str], sources: Collection[str], change: Change
) -> Resolution:
    """Return uv's answer. Raises OperationError if it finds no solution."""
    lock = ("--no-header", "--format", "pylock.toml")
    answer = _uv_compile(f"{wanted}\n", change.installer, *lock, *options)
    if answer.failed:
        return _unresolved(answer.output, _NO_WHEEL_UV, wanted, sources, change)

    direct = set()
    from_index = {}
    pins = ""
    for name, item in _locked_packages(answer).items():
        if "wheels" in item or "sdist" in item:
            from_index[name] = item
            pins += f"{name}=={item['version']}\n"
        else:
            direct.add(name)

    # The first answer lists only the files for this system; this one those for every system.
    options = (*lock, "--universal", "--no-deps")
    answer = _uv_compile(pins, change.installer, *options)
    everywhere = _locked_packages(answer)

    packages = []
    for name, item in from_index.items():
        sha256 = _file_checksums(item)
        sha256 |= _file_checksums(everywhere.get(name, {}))
        is_built = "wheels" not in item
        version = str(item["version"])
        packages.append(Package(name, version, tuple(sorted(sha256)), is_built))
    return Resolution(tuple(packages), direct=frozenset(direct))


def _uv_compile(given: str, installer: Installer, *options: str) -> Answer:
    command = ("pip", "compile", "-", "--python", sys.executable, "--quiet")
    return installer.try_uv(*command, *options, given=given)


def _locked_packages(answer: Answer) -> dict[str, dict[str, Any]]:
    """Return the packages of a pylock.toml by name; none if uv failed."""
    if answer.failed:
        return {}
    packages = tomllib.loads(answer.output).get("packages", [])
    return {package["name"]: package for package in packages}


def _file_checksums(package: Mapping[str, Any]) -> set[str]:
    """Return the checksums of the files that pylock.toml lists for a package."""
    files = [*package.get("wheels", ())]
    if "sdist" in package:
        files.append(package["sdist"])

    checksums = set()
    for file in files:
        sha256 = file.get("hashes", {}).get("sha256")
        if sha256:  # an index may list another checksum, or none
            checksums.add(sha256)
    return checksums


def _unresolved(
    output: str,
    no_wheel: re.Pattern[str],
    wanted: str,
    sources: Collection[str],
    change: Change,
) -> Resolution:
    """Return the packages that must be built, from the output of a resolution that failed.

    Raises OperationError if a build would not help.
    """
    unbuilt: dict[str, str] = {}
    for text in no_wheel.findall(output):
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue

        name = canonicalize_name(requirement.name)
        if name in sources:
            continue
        with suppress(OperationError):  # the package may not exist
            version = newest_version(requirement, change.installer)
            if version:
                unbuilt[name] = version
    if unbuilt:
        return Resolution(unbuilt=unbuilt)

    if not sources:
        addressed = _NOT_BUILT.search(output)
        if addressed:
            raise _addressed(wanted, addressed[1])
    raise OperationError(_explained(output, wanted))


def _addressed(wanted: str, names: str) -> OperationError:
    what = f"{_subject(wanted)} needs {names} from an address"
    return OperationError(what, "only packages of an index can be required")


def _subject(wanted: str) -> str:
    """Return a requirement for messages, without the address of a file."""
    return wanted.partition(" @ ")[0]


def newest_version(wanted: Requirement, installer: Installer, *options: str) -> str:
    """Return the newest version that the index has for a requirement, or "" for none.

    Raises OperationError if the index does not have the package.
    """
    if not has_pip():
        given = f"{wanted.name}{wanted.specifier}\n"
        pins = ("--no-deps", "--no-header", "--no-annotate")
        answer = _uv_compile(given, installer, *pins, *options)
        pin = checked_output(answer, "uv pip compile").strip()
        _, _, version = pin.partition("==")
        return version

    if wanted.specifier.prereleases:
        options = ("--pre", *options)
    listed = installer.pip("index", "versions", wanted.name, *options)
    line = _VERSIONS.search(listed)
    if line is None:
        return ""

    # The newest version comes first.
    versions = line[1].split(", ")
    for version in wanted.specifier.filter(versions):
        return str(version)
    return ""


def why_not_newest(wanted: Requirement, version: str, change: Change) -> str:
    """Return why a newer version than `version` is not used, or "" if there is none.

    The reason is a requirement of the newer version that contradicts a version of the program.
    """
    try:
        newest = newest_version(wanted, change.installer, *_binary_options(()))
    except OperationError:
        return ""
    if newest in ("", version):
        return ""

    try:
        resolve(f"{wanted.name}{extras_of(wanted)}=={newest}", change)
    except OperationError as failure:
        return failure.what
    return ""


def _explained(output: str, wanted: str) -> str:
    """Return why `wanted` has no solution: the requirement that the program contradicts, if any."""
    for name, distribution in program_distributions().items():
        # An author may have written a name with other separators than its canonical form has.
        spelling = re.escape(name).replace(r"\-", "[-_.]")
        for match in re.finditer(_REQUIREMENT.format(name=spelling), output):
            text = "".join(match[0].split()).rstrip(",")
            if not _excludes(text, distribution.version):
                continue

            subject = _subject(wanted)
            owner = re.search(_DEPENDS + re.escape(text), output)
            if owner:
                subject = owner[1]

            subject = subject.replace("==", " ")
            has = f"the program has {name} {distribution.version}"
            return f"{subject} needs {text}, {has}"
    return f"{_subject(wanted)}: {shortened(output)}"


def _excludes(text: str, version: str) -> bool:
    """Return whether `text` is a requirement that excludes a version."""
    try:
        specifier = Requirement(text).specifier
    except InvalidRequirement:
        return False
    return not specifier.contains(version, prereleases=True)


def install_into(
    folder: str, packages: Sequence[Package], files: Mapping[str, str], change: Change
) -> None:
    """Install packages at their recorded versions, and wheels by name, into a new folder.

    Only files with a recorded checksum are used. Raises OperationError if the folder does not
    contain exactly these packages afterwards: pip skips what it cannot place, with status 0.
    """
    lines = []
    sources = []
    for package in packages:
        lines.append(_requirement_of(package))
        if package.built:
            sources.append(package.name)
    for name, path in files.items():
        sha256 = verified_sha256(path, "")
        lines.append(f"{name} @ {file_address(path)} --hash=sha256:{sha256}")

    os.makedirs(folder, exist_ok=True)
    if lines:
        requirements = _requirements_file(lines, change)
        options = ["--target", folder, "--no-deps", *_binary_options(sources)]
        change.installer.install(*options, "--requirement", requirements)

    discard(os.path.join(folder, ".lock"))  # of uv
    _check_installed(folder, packages, lines)


def _requirement_of(package: Package) -> str:
    """Return the line of a requirements file for a recorded package."""
    line = f"{package.name}=={package.version}"
    for checksum in package.sha256:
        line += f" --hash=sha256:{checksum}"
    return line


def _check_installed(
    folder: str, packages: Sequence[Package], lines: Sequence[str]
) -> None:
    """Raise OperationError if a folder lacks packages, or has others than those of `lines`."""
    installed = []
    for name, distribution in distributions_in([folder]).items():
        installed.append(f"{name}=={distribution.version}")
    recorded = {f"{package.name}=={package.version}" for package in packages}
    is_complete = recorded.issubset(installed)
    if is_complete and len(installed) == len(lines):
        return

    versions = ", ".join(installed) or "nothing"
    expected = re.sub(r" --hash=\S+", "", ", ".join(lines))
    what = f"the folder of the package has {versions}; expected {expected}"
    raise OperationError(what)


def _requirements_file(lines: Iterable[str], change: Change) -> str:
    """Write requirements to a file, so that pip cannot take one for an option."""
    path = Path(change.area, "requirements.txt")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return str(path)


def build_wheel(directory: str, change: Change) -> None:
    """Build the wheel of a project in `change.built`. This runs the project's own code."""
    installer = change.installer
    if has_pip():
        installer.pip("wheel", "--no-deps", "--wheel-dir", change.built, directory)
        return
    # Without the option, uv writes a .gitignore beside the wheel.
    options = ("--wheel", "--python", sys.executable, "--no-create-gitignore")
    installer.uv("build", *options, "--out-dir", change.built, directory)


def build_linked_wheel(directory: str, change: Change) -> bool:
    """Build a wheel in `change.built` that leads to the modules of a project where they are.

    It has the metadata of the project's editable wheel, which pip and uv only install. Returns
    whether the editable wheel names the directories of the modules. This runs the project's own
    code.
    """
    editable = os.path.join(change.area, "editable")
    target = ("--target", editable, "--no-deps")
    change.installer.install(*target, "--editable", directory)

    folders = linked_folders(editable)
    if not folders:
        return False
    [distribution] = distributions_in([editable]).values()
    _write_wheel(distribution, change.built, folders)
    return True
