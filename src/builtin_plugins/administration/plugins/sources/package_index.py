"""Find and download a distribution from the user's index, with pip or uv.

Downloading a wheel runs none of its code. The code of a source distribution does not run during the
search, but runs when pip downloads the distribution and at each build.
"""

import os
import re
import sys
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from builtin_plugins.administration.plugins.sources.fetch_file import fetch_file, verified_sha256
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.venv.installer import Installer, has_pip
from host import OperationError

_VERSIONS = re.compile(r"^Available versions: (.+)$", re.MULTILINE)


def find(wanted: Requirement, sha256: str, tx: Transaction) -> tuple[str, str, str]:
    """Stage the newest wheel that meets a requirement; return (path, SHA-256, "").

    `sha256` is the expected checksum, or "" for any. If only a source distribution meets the
    requirement, nothing is downloaded; the result is ("", "", version). Raises OperationError.
    """
    if not has_pip():
        return _find_with_uv(wanted, sha256, tx)
    try:
        path = _download(wanted, sha256, tx.files, tx, "--only-binary", ":all:")
    except OperationError:
        with suppress(OperationError):
            if version := newest_version(wanted, tx.installer):
                return "", "", version
        raise
    return path, verified_sha256(path, sha256), ""


def build(wanted: Requirement, sha256: str, tx: Transaction) -> tuple[str, str]:
    """Download the source distribution of the exact version; build and stage its wheel.

    Returns the wheel's path and the SHA-256 of the source distribution. The wheel's own SHA-256
    would be useless, because each build produces a different wheel. This runs the package's own
    code. Raises OperationError.
    """
    directory = os.path.join(tx.area, "source")
    os.mkdir(directory)
    if has_pip():
        sdist = _download(wanted, sha256, directory, tx)
        digest = verified_sha256(sdist, sha256)
    else:
        file = _resolved(wanted, tx.installer).get("sdist")
        if not file:
            raise OperationError(f"{wanted}: has no source distribution or wheel for this machine")
        sdist, digest = _fetch(file, sha256, directory, tx)
    return build_from(sdist, tx), digest


def build_from(path: str, tx: Transaction) -> str:
    """Build and stage the wheel of a source distribution or directory; return the wheel's path."""
    if has_pip():
        tx.installer.pip("wheel", "--no-deps", "--wheel-dir", tx.files, path)
    else:
        options = ("--wheel", "--python", sys.executable, "--no-create-gitignore")
        tx.installer.uv("build", *options, "--out-dir", tx.files, path)
    return _file_in(tx.files)


def _download(
    wanted: Requirement, sha256: str, directory: str, tx: Transaction, *options: str
) -> str:
    """Download the distribution without its requirements, with pip; return the file's path.

    pip checks the SHA-256 before it runs any code; it accepts a SHA-256 only for an exact version.
    """
    requirement = [f"{wanted.name}{wanted.specifier}"]
    if sha256:
        path = os.path.join(tx.area, "requirement.txt")
        Path(path).write_text(f"{requirement[0]} --hash=sha256:{sha256}\n", encoding="utf-8")
        requirement = ["--requirement", path]
    tx.installer.pip("download", "--no-deps", *options, "--dest", directory, *requirement)
    return _file_in(directory)


def _file_in(directory: str) -> str:
    return os.path.join(directory, *os.listdir(directory))


def newest_version(wanted: Requirement, installer: Installer) -> str:
    """Return the newest version that meets a requirement, or "" for none; change nothing."""
    if not has_pip():
        return str(_resolved(wanted, installer)["version"])
    options = ["--pre"] if wanted.specifier.prereleases else []
    found = _VERSIONS.search(installer.pip("index", "versions", wanted.name, *options))
    versions = found[1].split(", ") if found else []
    return next(iter(wanted.specifier.filter(versions)), "")


def _find_with_uv(wanted: Requirement, sha256: str, tx: Transaction) -> tuple[str, str, str]:
    package = _resolved(wanted, tx.installer)
    supported = {*sys_tags()}
    for wheel in package.get("wheels", ()):
        if supported & parse_wheel_filename(_address_of(wheel)[1])[3]:
            return *_fetch(wheel, sha256, tx.files, tx), ""
    return "", "", str(package["version"])


def _resolved(wanted: Requirement, installer: Installer) -> dict[str, Any]:
    """Return the package that uv finds, as an entry of pylock.toml (PEP 751)."""
    options = ("--quiet", "--no-deps", "--no-header", "--format", "pylock.toml")
    requirement = f"{wanted.name}{wanted.specifier}\n"
    printed = installer.uv(
        *("pip", "compile", "-", "--python", sys.executable), *options, given=requirement
    )
    [package] = tomllib.loads(printed)["packages"]
    return dict(package)


def _address_of(file: dict[str, Any]) -> tuple[str, str]:
    """Return the address or path, and the name, of a file that uv's pylock.toml lists."""
    address = str(file.get("url") or file.get("path") or "")
    path = unquote(urlsplit(address).path)
    name = str(file.get("name") or os.path.basename(path))
    return (path if address.startswith("file://") else address), name


def _fetch(file: dict[str, Any], sha256: str, directory: str, tx: Transaction) -> tuple[str, str]:
    """Copy or download a file that uv's pylock.toml lists; return its path and checked SHA-256."""
    address, name = _address_of(file)
    path, listed = os.path.join(directory, name), file.get("hashes", {}).get("sha256", "")
    return path, fetch_file(address, sha256 or listed, Path(path), tx)
