"""The folder of a package: its distributions, its entry points, and whether it works here.

Everything is read from metadata; no code of the package is run.
"""

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import importlib_metadata
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from host.hook_marker import GROUP, OWN_DISTRIBUTION
from host.processes.importing import complete_import_path, program_path
from host.records import PackageEntryPoint

# The packages of cli-host, which the RECORD of an editable installation does not list.
_OWN_MODULES = {"host": OWN_DISTRIBUTION, "builtin_plugins": OWN_DISTRIBUTION}
# Code for one version of Python; abi3 and pure modules are for several.
_COMPILED = re.compile(r"\.cpython-\d+\w*-[^/]*\.so\Z")


def distributions_in(path: Sequence[str]) -> dict[str, Any]:
    """Return the distributions in the directories `path` by canonical name; the first wins.

    Distributions with unreadable metadata are skipped.
    """
    distributions: dict[str, Any] = {}
    for distribution in importlib_metadata.distributions(path=[*path]):
        with suppress(KeyError, OSError, ValueError):
            name = canonicalize_name(str(distribution.metadata["Name"]))
            distributions.setdefault(name, distribution)
    return distributions


def program_distributions() -> dict[str, Any]:
    """Return what the program has: cli-host and its requirements, recursively, by canonical name.

    Other packages of the environment do not count, because they vanish if it is made again.
    """
    complete_import_path()
    path = program_path()

    program: dict[str, Any] = {}
    pending = [Requirement(OWN_DISTRIBUTION)]
    while pending:
        name = canonicalize_name(pending.pop().name)
        if name in program:
            continue

        for distribution in importlib_metadata.distributions(name=name, path=path):
            program[name] = distribution
            pending += needed(distribution)
            break  # the first one is imported
    return program


def needed(distribution: Any, extras: Collection[str] = ()) -> Iterator[Requirement]:
    """Yield the requirements of a distribution that apply on this system, with these extras."""
    choices = [{"extra": extra} for extra in ("", *extras)]
    for text in distribution.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(map(marker.evaluate, choices)):
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
    providers = {**program, **folder}
    pending = [(name, tuple(extras))]
    checked = set()
    while pending:
        name, extras = pending.pop()
        if name not in providers:
            continue
        if (name, extras) in checked:
            continue
        checked.add((name, extras))

        try:
            requirements = list(needed(providers[name], extras))
        except InvalidRequirement:
            continue
        for requirement in requirements:
            problem = _mismatch(requirement, folder, program)
            if problem:
                return problem

            # A package of the program meets its requirements, but perhaps not those of an extra.
            other = canonicalize_name(requirement.name)
            if other in folder or requirement.extras:
                pending.append((other, tuple(sorted(requirement.extras))))
    return ""


def _mismatch(
    requirement: Requirement, folder: Mapping[str, Any], program: Mapping[str, Any]
) -> str:
    """Return why a requirement is not met, or ""; the folder comes before the program."""
    text = f"{requirement.name}{requirement.specifier}"
    name = canonicalize_name(requirement.name)
    owner = "its folder"
    provider = folder.get(name)
    if provider is None:
        owner = "the program"
        provider = program.get(name)
    if provider is None:
        return f"needs {text}, which is missing"

    version = str(provider.version)
    if requirement.specifier.contains(version, prereleases=True):
        return ""
    return f"needs {text}, {owner} has {version}"


def taken_module(folders: Sequence[str], program: Mapping[str, Any]) -> tuple[str, str]:
    """Return a top-level module in the folders that the program also has, and its distribution.

    The folders come before the program's own packages on the import path, so such a module would
    replace the program's in the plugin's processes. The last one has the installed packages; in the
    others, which are linked, a directory without `__init__.py` is no module. Returns ("", "") if
    there is none.
    """
    owners = _owners_of_modules(program)
    for folder in folders:
        is_linked = folder != folders[-1]
        for entry in sorted(os.listdir(folder)):
            name, _, _ = entry.partition(".")
            module = name.casefold()  # some file systems ignore case
            if module not in owners:
                continue
            if _is_module(os.path.join(folder, entry), is_linked=is_linked):
                return entry, owners[module]
    return "", ""


def _owners_of_modules(program: Mapping[str, Any]) -> dict[str, str]:
    """Return the distributions of the program's top-level modules, by name in lower case."""
    owners = dict(_OWN_MODULES)
    for name, distribution in program.items():
        for file in distribution.files or ():
            is_top_level = len(file.parts) == 1
            if is_top_level and file.suffix != ".py":
                continue

            module, _, _ = file.parts[0].partition(".")
            if module:
                owners.setdefault(module.casefold(), name)
    return owners


def _is_module(path: str, *, is_linked: bool) -> bool:
    """Return whether a file or directory can be imported from the directory it is in."""
    name = os.path.basename(path)
    if "." in name:
        return name.endswith((".py", ".so"))
    if name in ("__pycache__", "bin"):  # pip writes console scripts into bin
        return False
    if not is_linked:
        return True
    return os.path.isfile(os.path.join(path, "__init__.py"))


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
