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

from builtin_plugins.administration.plugins.index_files import listed_checksums
from builtin_plugins.administration.plugins.package_folder import (
    distributions_in,
    linked_folders,
    program_distributions,
)
from builtin_plugins.administration.plugins.sources.fetch_file import verified_sha256
from builtin_plugins.administration.plugins.sources.requirements import extras_of
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.venv.installer import (
    Installer,
    has_pip,
    shortened,
)
from builtin_plugins.io.files.atomic import discard
from builtin_plugins.plugins_folder.entry import Package
from host import OperationError

_VERSIONS = re.compile(r"^Available versions: (.+)$", re.MULTILINE)
# How pip and uv name a package that has only a source distribution, or that does not exist.
_NO_WHEEL_PIP = re.compile(
    r"No matching distribution found for ([^\n]+?)(?: \(from |\n|$)"
)
_NO_WHEEL_UV = re.compile(r"Wheels are required for `([^`]+)`")
_REQUIREMENT = r"(?<![\w.-])({name})((?:\s*(?:[<>=!~]=?|===)\s*[\w.*+!-]+\s*,?)+)"
_DEPENDS = (
    r"(?<![\w.=-])([A-Za-z][\w.-]*(?:\[[^\]]*\])?(?:(?: |==)\d[\w.!+-]*)?) depends on "
)
_WHEEL = "Wheel-Version: 1.0\nGenerator: cli-host\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class Resolution(NamedTuple):
    """The packages that a folder needs.

    If `unbuilt` is not empty, it maps the packages that the user must first agree to build to their
    versions.
    """

    packages: tuple[Package, ...] = ()
    unbuilt: Mapping[str, str] = {}


def resolve(
    wanted: str, tx: Transaction, *, local: str = "", sources: Collection[str] = ()
) -> Resolution:
    """Return what the requirement `wanted` needs besides what the program has.

    `local` is the name of a package that comes from a file, so that no index is asked for it. The
    packages in `sources` may be built. Raises OperationError if there is no solution, for example
    because a requirement contradicts a version of the program.
    """
    program = program_distributions()
    constraints = os.path.join(tx.area, "constraints.txt")
    lines = _write_stubs(program, os.path.join(tx.area, "stubs"))
    Path(constraints).write_text("".join(lines), encoding="utf-8")
    options = ["--constraint", constraints, *_binary_options(sources)]
    find = _resolve_with_pip if has_pip() else _resolve_with_uv
    resolution = find(wanted, options, sources, tx)
    if isinstance(resolution, str):
        raise OperationError(_explained(resolution, wanted, program))

    without = {*program, canonicalize_name(local)} if local else program
    packages = [
        package for package in resolution.packages if package.name not in without
    ]
    return resolution._replace(packages=tuple(packages))


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
    name = canonicalize_name(str(distribution.metadata["Name"])).replace("-", "_")
    base = f"{name}-{distribution.version}"
    info = f"{base}.dist-info"
    files = {f"{info}/WHEEL": _WHEEL, f"{info}/RECORD": ""}
    for file in ("METADATA", "entry_points.txt"):
        files[f"{info}/{file}"] = distribution.read_text(file) or ""
    if linked:
        files[f"{name}.pth"] = "".join(f"{path}\n" for path in linked)

    path = os.path.join(directory, f"{base}-py3-none-any.whl")
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            # Without a time, so that the same metadata gives the same checksum.
            wheel.writestr(zipfile.ZipInfo(file), text)
    return path


def file_address(path: str) -> str:
    return f"file://{quote(path)}"


def _binary_options(sources: Collection[str]) -> list[str]:
    return [
        "--only-binary",
        ":all:",
        *(f"--no-binary={name}" for name in sorted(sources)),
    ]


def _resolve_with_pip(
    wanted: str, options: Sequence[str], sources: Collection[str], tx: Transaction
) -> Resolution | str:
    """Return pip's answer, or its output if it finds no solution.

    Installed packages are ignored: pip would count those that somebody added to the program's
    environment as satisfied.
    """
    report = os.path.join(tx.area, "report.json")
    answer = tx.installer.try_pip(
        *("install", "--dry-run", "--ignore-installed", "--report", report),
        *(*options, "--requirement", _requirements_file([wanted], tx)),
    )
    if answer.failed:
        return (
            _unbuilt(_NO_WHEEL_PIP.findall(answer.output), sources, tx) or answer.output
        )

    packages = []
    for item in json.loads(Path(report).read_text("utf-8"))["install"]:
        name = canonicalize_name(item["metadata"]["name"])
        version = item["metadata"]["version"]
        url = item["download_info"]["url"]
        archive = item["download_info"].get("archive_info", {})
        sha256 = archive.get("hashes", {}).get("sha256", "")
        if not sha256:  # a directory or repository that a package requires
            continue
        listed = listed_checksums(name, version, url, sha256, answer.output, tx)
        packages.append(Package(name, version, listed, not url.endswith(".whl")))
    return Resolution(tuple(packages))


def _resolve_with_uv(
    wanted: str, options: Sequence[str], sources: Collection[str], tx: Transaction
) -> Resolution | str:
    """Return uv's answer, or its output if it finds no solution."""
    compile_ = (
        "pip",
        "compile",
        "-",
        "--python",
        sys.executable,
        "--quiet",
        "--no-header",
    )
    lock = (*compile_, "--format", "pylock.toml")
    answer = tx.installer.try_uv(*lock, *options, given=f"{wanted}\n")
    if answer.failed:
        return (
            _unbuilt(_NO_WHEEL_UV.findall(answer.output), sources, tx) or answer.output
        )
    chosen = tomllib.loads(answer.output).get("packages", [])
    from_index = [
        package for package in chosen if "wheels" in package or "sdist" in package
    ]
    # The first answer lists only the files for this system; this one those for every system.
    pins = "".join(
        f"{package['name']}=={package['version']}\n" for package in from_index
    )
    listed = tx.installer.try_uv(*lock, "--universal", "--no-deps", given=pins)
    everywhere = (
        [] if listed.failed else tomllib.loads(listed.output).get("packages", [])
    )
    packages = []
    for item in from_index:
        name = item["name"]
        files: list[Any] = []
        for listing in (item, *everywhere):
            if listing["name"] == name:
                files += listing.get("wheels", ())
                files += filter(None, [listing.get("sdist")])
        hashes = [file.get("hashes", {}).get("sha256", "") for file in files]
        sha256 = tuple(sorted({*filter(None, hashes)}))
        packages.append(
            Package(name, str(item["version"]), sha256, "wheels" not in item)
        )
    return Resolution(tuple(packages))


def _unbuilt(
    requirements: Iterable[str], sources: Collection[str], tx: Transaction
) -> Resolution | None:
    """Return the packages that could be built, or None if a build would not help."""
    found: dict[str, str] = {}
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        name = canonicalize_name(requirement.name)
        if name not in sources:
            with suppress(OperationError):
                if version := newest_version(requirement, tx.installer):
                    found[name] = version
    return Resolution(unbuilt=found) if found else None


def newest_version(wanted: Requirement, installer: Installer, *options: str) -> str:
    """Return the newest version that the index has for a requirement, or "" for none.

    Raises OperationError if the index does not have the package.
    """
    if not has_pip():
        compile_ = (
            "pip",
            "compile",
            "-",
            "--python",
            sys.executable,
            "--quiet",
            "--no-deps",
        )
        line = installer.uv(
            *compile_,
            *("--no-header", "--no-annotate", *options),
            given=f"{wanted.name}{wanted.specifier}\n",
        )
        return line.strip().partition("==")[2]
    more = ["--pre"] if wanted.specifier.prereleases else []
    found = _VERSIONS.search(
        installer.pip("index", "versions", wanted.name, *more, *options)
    )
    versions = found[1].split(", ") if found else []
    return next(iter(wanted.specifier.filter(versions)), "")


def why_not_newest(wanted: Requirement, version: str, tx: Transaction) -> str:
    """Return why a newer version than `version` is not used, or "" if there is none.

    The reason is a requirement of the newer version that contradicts a version of the program.
    """
    try:
        newest = newest_version(wanted, tx.installer, *_binary_options(()))
    except OperationError:
        return ""
    if newest in ("", version):
        return ""
    try:
        resolve(f"{wanted.name}{extras_of(wanted)}=={newest}", tx)
    except OperationError as failure:
        return failure.what
    return ""


def _explained(output: str, wanted: str, program: Mapping[str, Any]) -> str:
    """Return why `wanted` has no solution: the requirement that the program contradicts, if any."""
    for name, distribution in program.items():
        spelling = re.escape(name).replace(r"\-", "[-_.]")
        for requirement in re.finditer(_REQUIREMENT.format(name=spelling), output):
            text = "".join(requirement[0].split()).rstrip(",")
            try:
                contradicts = not Requirement(text).specifier.contains(
                    distribution.version, prereleases=True
                )
            except InvalidRequirement:
                continue
            if contradicts:
                owner = re.search(_DEPENDS + re.escape(text), output)
                subject = (owner[1] if owner else wanted.partition(" @ ")[0]).replace(
                    "==", " "
                )
                return f"{subject} needs {text}, the program has {name} {distribution.version}"
    return f"{wanted.partition(' @ ')[0]}: {shortened(output)}"


def install_into(
    folder: str, packages: Sequence[Package], files: Mapping[str, str], tx: Transaction
) -> None:
    """Install packages at their recorded versions, and wheels by name, into a new folder.

    Only files with a recorded checksum are used. Raises OperationError if the folder does not
    contain exactly these packages afterwards: pip skips what it cannot place, with status 0.
    """
    lines = []
    for package in packages:
        hashes = "".join(f" --hash=sha256:{checksum}" for checksum in package.sha256)
        lines.append(f"{package.name}=={package.version}{hashes}")
    for name, path in files.items():
        lines.append(
            f"{name} @ {file_address(path)} --hash=sha256:{verified_sha256(path, '')}"
        )
    sources = [package.name for package in packages if package.built]
    os.makedirs(folder, exist_ok=True)
    if lines:
        target = ("install", "--target", folder, "--no-deps", *_binary_options(sources))
        tx.installer.install(*target, "--requirement", _requirements_file(lines, tx))
    discard(os.path.join(folder, ".lock"))  # of uv
    installed = {}
    for name, distribution in distributions_in([folder]).items():
        installed[name] = str(distribution.version)
    is_complete = all(
        installed.get(package.name) == package.version for package in packages
    )
    if not is_complete or len(installed) != len(lines):
        what = f"the folder of the package has {_listing(installed)}; expected {', '.join(lines)}"
        raise OperationError(re.sub(r" --hash=\S+", "", what))


def _listing(versions: Mapping[str, str]) -> str:
    return (
        ", ".join(f"{name}=={version}" for name, version in versions.items())
        or "nothing"
    )


def _requirements_file(lines: Iterable[str], tx: Transaction) -> str:
    """Write requirements to a file, so that pip cannot take one for an option."""
    path = os.path.join(tx.area, "requirements.txt")
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def build_wheel(directory: str, tx: Transaction) -> None:
    """Build the wheel of a project in `tx.built`. This runs the project's own code."""
    if has_pip():
        tx.installer.pip("wheel", "--no-deps", "--wheel-dir", tx.built, directory)
    else:
        options = ("--wheel", "--python", sys.executable, "--no-create-gitignore")
        tx.installer.uv("build", *options, "--out-dir", tx.built, directory)


def build_linked_wheel(directory: str, tx: Transaction) -> bool:
    """Build a wheel in `tx.built` that leads to the modules of a project where they are.

    It has the metadata of the project's editable wheel, which pip and uv only install. Returns
    whether the editable wheel names the directories of the modules. This runs the project's own
    code.
    """
    editable = os.path.join(tx.area, "editable")
    target = ("--target", editable, "--no-deps")
    tx.installer.install("install", *target, "--editable", directory)

    folders = linked_folders(editable)
    if not folders:
        return False
    [distribution] = distributions_in([editable]).values()
    _write_wheel(distribution, tx.built, folders)
    return True
