"""The folder of a package: its distributions, its entry points, and whether it works here.

Everything is read from metadata; no code of the package is run.
"""

import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import importlib_metadata
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from host.hook_marker import GROUP, OWN_DISTRIBUTION
from host.records import PackageEntryPoint
from host.run.importing import complete_import_path, program_path

# The packages of cli-host, which the RECORD of an editable installation does not list.
_OWN_MODULES = {"host": OWN_DISTRIBUTION, "builtin_plugins": OWN_DISTRIBUTION}
_COMPILED = re.compile(
    r"\.cpython-\d+\w*-[^/]*\.so\Z"
)  # code for one version of Python


def distributions_in(path: Sequence[str]) -> dict[str, Any]:
    """Return the distributions in the directories `path` by canonical name; the first wins.

    Distributions with unreadable metadata are skipped.
    """
    found: dict[str, Any] = {}
    for distribution in importlib_metadata.distributions(path=[*path]):
        with suppress(KeyError, OSError, ValueError):
            found.setdefault(
                canonicalize_name(str(distribution.metadata["Name"])), distribution
            )
    return found


def program_distributions() -> dict[str, Any]:
    """Return what the program has: cli-host and its requirements, recursively, by canonical name.

    Other packages of the environment do not count, because they vanish if it is made again.
    """
    complete_import_path()
    found: dict[str, Any] = {}
    pending = [Requirement(OWN_DISTRIBUTION)]
    while pending:
        name = canonicalize_name(pending.pop().name)
        if name not in found:
            matches = importlib_metadata.distributions(name=name, path=program_path())
            distribution = next(iter(matches), None)
            if distribution is not None:
                found[name] = distribution
                pending += needed(distribution.requires or ())
    return found


def needed(
    requires: Iterable[str], extras: Collection[str] = ()
) -> Iterator[Requirement]:
    """Yield the requirements that apply on this system, with these extras."""
    for text in requires:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(
            marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            yield requirement


def entry_points(distributions: Mapping[str, Any]) -> list[PackageEntryPoint]:
    """Return the entry points for plugins of these distributions."""
    points = []
    for name, distribution in sorted(distributions.items()):
        for point in distribution.entry_points.select(group=GROUP):
            version = str(distribution.version)
            points.append(PackageEntryPoint(point.name, point.value, name, version))
    return points


def unmet_requirement(
    name: str,
    extras: Collection[str],
    folder: Mapping[str, Any],
    program: Mapping[str, Any],
) -> str:
    """Return the first requirement of the package `name` that is not met, or "".

    `folder` has the distributions of its folder, and `program` those of the program. The result is
    a text such as "needs click<9, the program has 9.0".
    """
    pending = [(name, tuple(extras))]
    known = set()
    while pending:
        name, extras = pending.pop()
        distribution = folder.get(name) or program.get(name)
        if (name, extras) in known or distribution is None:
            continue
        known.add((name, extras))
        try:
            requirements = [*needed(distribution.requires or (), extras)]
        except InvalidRequirement:
            continue
        for requirement in requirements:
            other = canonicalize_name(requirement.name)
            text = f"{requirement.name}{requirement.specifier}"
            provider = folder.get(other) or program.get(other)
            if provider is None:
                return f"needs {text}, which is missing"
            version = str(provider.version)
            if not requirement.specifier.contains(version, prereleases=True):
                owner = "its folder" if other in folder else "the program"
                return f"needs {text}, {owner} has {version}"
            # A package of the program meets its requirements, but perhaps not those of an extra.
            if other in folder or requirement.extras:
                pending.append((other, tuple(sorted(requirement.extras))))
    return ""


def taken_module(folders: Sequence[str], program: Mapping[str, Any]) -> tuple[str, str]:
    """Return a top-level module in the folders that the program also has, and its distribution.

    The folders come before the program's own packages on the import path, so such a module would
    replace the program's in the plugin's processes. The last one has the installed packages; in the
    others, which are linked, a directory without `__init__.py` is no module. Returns ("", "") if
    there is none.
    """
    owners = dict(_OWN_MODULES)
    for name, distribution in program.items():
        for file in distribution.files or ():
            top = file.parts[0].partition(".")[0]
            if (top and len(file.parts) > 1) or file.suffix == ".py":
                owners.setdefault(top.casefold(), name)
    for folder in folders:
        for entry in sorted(os.listdir(folder)):
            module = entry.partition(".")[0]
            is_module = entry.endswith((".py", ".so"))
            if "." not in entry and entry not in ("__pycache__", "bin"):
                init = os.path.join(folder, entry, "__init__.py")
                is_module = folder == folders[-1] or os.path.isfile(init)
            if is_module and module.casefold() in owners:
                return entry, owners[module.casefold()]
    return "", ""


def needed_python(folder: str) -> str:
    """Return this version of Python if the folder has code that only this version loads, or ""."""
    for _, _, names in os.walk(folder):
        if any(_COMPILED.search(name) for name in names):
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
        for line in file.read_text("utf-8", "replace").splitlines():
            if line.startswith(("import ", "import\t")):
                return None
            if line.strip() and not line.startswith("#"):
                folders.append(os.path.join(folder, line.strip()))
    return folders
