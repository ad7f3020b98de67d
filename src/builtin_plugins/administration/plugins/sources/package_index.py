"""The file of a distribution, asked of the user's index with pip or uv.

A wheel is brought by reading alone. A source distribution is code: finding it runs none
of that, bringing it with pip does, and building it in any case.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement
from packaging.tags import Tag, sys_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from builtin_plugins.administration.plugins.sources.bring_file import bring_file, checked
from builtin_plugins.administration.plugins.transaction import Transaction
from builtin_plugins.administration.program.environment.installer import has_pip
from host import OperationError

_WHEELS_ONLY = ("--only-binary", ":all:")
_VERSIONS = re.compile(r"^Available versions: (.+)$", re.MULTILINE)


class Candidate(NamedTuple):
    """A wheel and its SHA-256, or the version of what has none."""

    path: str = ""
    sha256: str = ""
    version: str = ""


def find(wanted: Requirement, sha256: str, tx: Transaction) -> Candidate:
    """Stage the newest wheel that meets a requirement, if there is one.

    `sha256` is what it must have, "" for any. Where only a source distribution meets it,
    nothing is brought. Raises OperationError.
    """
    if not has_pip():
        return _find_with_uv(wanted, sha256, tx)
    try:
        path = _download(wanted, sha256, tx.tree, tx, *_WHEELS_ONLY)
    except OperationError as refusal:
        version = _newest_source(wanted, tx)
        if version and (sha256 or "No matching distribution" in str(refusal)):
            return Candidate(version=version)
        raise
    return Candidate(path, checked(path, sha256))


def build(wanted: Requirement, sha256: str, tx: Transaction) -> Candidate:
    """Bring the source distribution of the one version wanted; build and stage its wheel.

    Returns the SHA-256 of the source distribution, as no two builds are the same. This
    runs what the package says. Raises OperationError.
    """
    sources = os.path.join(tx.area, "source")
    os.mkdir(sources)
    if has_pip():
        source = _download(wanted, sha256, sources, tx)
        digest = checked(source, sha256)
    else:
        file = _locked(wanted, tx).get("sdist")
        if not file:
            raise OperationError(f"{wanted}: has neither a wheel for this machine nor its source")
        source = os.path.join(sources, _name_of(file))
        digest = _bring(file, sha256, source, tx)
    return Candidate(build_from(source, wanted, tx), digest)


def build_from(source: str, wanted: Requirement, tx: Transaction) -> str:
    """Build and stage the wheel of a source distribution or directory; return the wheel's path."""
    if not source.endswith(".whl") or os.path.isdir(source):
        built = os.path.join(tx.area, "built")
        os.mkdir(built)
        if has_pip():
            tx.installer.pip("wheel", "--no-deps", "--wheel-dir", built, source)
        else:
            options = ("--wheel", "--python", sys.executable, "--no-create-gitignore")
            tx.installer.uv("build", *options, "--out-dir", built, source)
        source = _only_file(built, wanted)
    path = os.path.join(tx.tree, os.path.basename(source))
    os.rename(source, path)
    return path


def _download(
    wanted: Requirement, sha256: str, directory: str, tx: Transaction, *options: str
) -> str:
    """Let pip bring the distribution alone; return the file's path.

    pip checks a hash before it runs anything, where it is that of an exact version;
    others are checked when they are here.
    """
    asked = [f"{wanted.name}{wanted.specifier}"]
    if sha256 and str(wanted.specifier).startswith("=="):
        place = os.path.join(tx.area, "requirement.txt")
        Path(place).write_text(f"{asked[0]} --hash=sha256:{sha256}\n", encoding="utf-8")
        asked = ["--requirement", place]
    tx.installer.pip("download", "--no-deps", *options, "--dest", directory, *asked)
    return _only_file(directory, wanted)


def _only_file(directory: str, wanted: Requirement) -> str:
    files = os.listdir(directory)
    if len(files) != 1:
        raise OperationError(f"{wanted.name}: expected one file, found {len(files)}")
    return os.path.join(directory, files[0])


def _newest_source(wanted: Requirement, tx: Transaction) -> str:
    """Return the newest version of what has no wheel here, "" when there is none."""
    options = ["--pre"] if wanted.specifier.prereleases else []
    try:
        said = tx.installer.pip("index", "versions", wanted.name, *options)
    except OperationError:
        return ""
    found = _VERSIONS.search(said)
    versions = found[1].split(", ") if found else []
    return next(iter(wanted.specifier.filter(versions)), "")


def _find_with_uv(wanted: Requirement, sha256: str, tx: Transaction) -> Candidate:
    package = _locked(wanted, tx)
    wheels = {tag: wheel for wheel in package.get("wheels", ()) for tag in _tags(_name_of(wheel))}
    wheel = next((wheels[tag] for tag in sys_tags() if tag in wheels), None)  # the best comes first
    if wheel is None:
        return Candidate(version=str(package["version"]))
    path = os.path.join(tx.tree, _name_of(wheel))
    return Candidate(path, _bring(wheel, sha256, path, tx))


def _tags(name: str) -> Iterable[Tag]:
    """Return what a wheel of this name is for; nothing for what is no name of a wheel."""
    try:
        return parse_wheel_filename(name)[3]
    except InvalidWheelFilename:
        return ()


def _locked(wanted: Requirement, tx: Transaction) -> dict[str, Any]:
    """Return what uv finds, as an entry of pylock.toml has it (PEP 751)."""
    options = ("--quiet", "--no-deps", "--no-header", "--format", "pylock.toml")
    asked = f"{wanted.name}{wanted.specifier}\n"
    said = tx.installer.uv("pip", "compile", "-", "--python", sys.executable, *options, asked=asked)
    try:
        [package] = tomllib.loads(said)["packages"]
    except (tomllib.TOMLDecodeError, LookupError, ValueError):
        raise OperationError(f"{wanted.name}: what uv finds cannot be understood") from None
    return dict(package)


def _name_of(file: dict[str, Any]) -> str:
    address = str(file.get("url") or file.get("path") or "")
    return os.path.basename(str(file.get("name") or unquote(urlsplit(address).path)))


def _bring(file: dict[str, Any], sha256: str, target: str, tx: Transaction) -> str:
    """Copy or download a file of uv's lock; return its SHA-256, checked."""
    address = str(file.get("url") or file.get("path") or "")
    if address.startswith("file://"):
        address = unquote(urlsplit(address).path)
    listed = file.get("hashes", {}).get("sha256", "")
    return bring_file(address, sha256 or listed, Path(target), tx)
