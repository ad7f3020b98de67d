"""The folder of a package: its distributions, its entry points, and whether it works here.

Everything is read from metadata; no code of the package is run.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

import importlib_metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from host.hook_marker import GROUP, OWN_DISTRIBUTION
from host.processes.importing import OWN_PACKAGES, complete_import_path, program_path
from host.records import PackageEntryPoint

# Code for one version of Python; abi3 and pure modules are for several.
_COMPILED = re.compile(r"\.cpython-\d+\w*-[^/]*\.so\Z")


def distributions_in(folder: str) -> dict[str, Any]:
    """Return the distributions in a folder, or in a wheel, by canonical name.

    Distributions with unreadable metadata are skipped.
    """
    distributions: dict[str, Any] = {}
    for distribution in importlib_metadata.distributions(path=[folder]):
        with suppress(KeyError, OSError, ValueError):
            name = canonicalize_name(str(distribution.metadata["Name"]))
            distributions.setdefault(name, distribution)
    return distributions


def distribution_of(name: str, path: Sequence[str]) -> Any:
    """Return the first distribution of this name in the directories `path`, or None."""
    found = importlib_metadata.distributions(name=name, path=[*path])
    return next(iter(found), None)


def own_distribution() -> Any:
    """Return the distribution of this program, or None if it has no metadata."""
    complete_import_path()
    return distribution_of(OWN_DISTRIBUTION, program_path())


def needed(distribution: Any) -> Iterator[Requirement]:
    """Yield the requirements of a distribution that apply on this system, without extras."""
    for text in distribution.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}):
            yield requirement


def requirements_of(wheel: str) -> list[str]:
    """Return the requirements of a wheel as its metadata has them."""
    requirements: list[str] = []
    for distribution in distributions_in(wheel).values():
        requirements += distribution.requires or ()
    return requirements


def addressed_requirement(requirements: Iterable[str]) -> str:
    """Return the name of a package that is required from an address, or ""."""
    for text in requirements:
        with suppress(ValueError):  # the installer says what is wrong
            requirement = Requirement(text)
            if requirement.url:
                return requirement.name
    return ""


def entry_points(name: str, folder: str) -> tuple[PackageEntryPoint, ...]:
    """Return the entry points for plugins of the package `name`.

    Those of what it requires are not the plugin's.
    """
    distribution = distribution_of(name, [folder])
    if distribution is None:
        return ()

    points = []
    for point in distribution.entry_points.select(group=GROUP):
        version = str(distribution.version)
        points.append(PackageEntryPoint(point.name, point.value, name, version))
    return tuple(points)


def own_module(folder: str) -> str:
    """Return a file or directory in the folder that Python would import as one of ours, or ""."""
    importable = []
    for package in OWN_PACKAGES:
        importable.append(package)
        importable += [f"{package}{suffix}" for suffix in all_suffixes()]

    for entry in sorted(os.listdir(folder)):
        if entry.casefold() in importable:  # some file systems ignore case
            return entry
    return ""


def needed_python(folder: str) -> str:
    """Return this version of Python if the folder has code that only this version loads, or ""."""
    for _, _, names in os.walk(folder):
        if any(map(_COMPILED.search, names)):
            return _this_python()
    return ""


def other_python(version: str) -> bool:
    """Return whether code that is compiled for this version of Python cannot be loaded here."""
    return version not in ("", _this_python())


def _this_python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def linked_folders(folder: str) -> list[str] | None:
    """Return the directories that the `.pth` files of an editable installation name.

    Returns None if one of these files contains code: the package is then imported by a hook, which
    only works in the program's environment.
    """
    folders = []
    for file in sorted(Path(folder).glob("*.pth")):
        text = file.read_text("utf-8", "replace")
        for line in text.splitlines():
            # These are the rules of Python's module `site`.
            if line.startswith(("import ", "import\t")):
                return None

            path = line.strip()
            if path and not line.startswith("#"):
                folders.append(os.path.join(folder, path))
    return folders
