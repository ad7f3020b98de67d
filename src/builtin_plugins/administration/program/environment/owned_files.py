"""Whether packages may bring the files that they bring.

All paths are relative to the environment.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import importlib_metadata
from packaging.utils import canonicalize_name

from builtin_plugins.administration.program.environment.distributions import (
    find_distribution,
    packages_directory,
    protected,
)
from host import OperationError, Record

_METADATA = (".dist-info", ".egg-info")
_ENVIRONMENT = "the environment itself"
# The RECORD of an editable installation does not list them.
_OWN_NAMES = {"host": "cli-host", "builtin_plugins": "cli-host"}


class InstalledFiles(Record):
    """The files of an environment.

    `packages` is the directory of importable packages. `owners` maps the case-folded path of
    each file to the distribution that records it, or to the environment itself. `names` maps
    the case-folded top-level names of what this program needs to their distributions.
    """

    packages: str
    owners: Mapping[str, str]
    names: Mapping[str, str]


def problems(paths: Iterable[str], incoming: set[str], there: InstalledFiles) -> Iterator[str]:
    """Yield why the distributions `incoming` may not bring files at `paths`."""
    own = {"", *incoming}.difference(there.names.values())
    for path in sorted(paths):
        owner = _owner(path, there)
        if owner not in own:
            yield f"{path.removeprefix(f'{there.packages}/')} belongs to {owner}"


def _owner(path: str, there: InstalledFiles) -> str:
    """Return to which distribution a path belongs, "" for none.

    That is the owner of its top-level name, of a file at that path, or of one in the place of a
    directory above it.
    """
    top = _top(path, there.packages).casefold()
    if top.endswith(_METADATA):
        return canonicalize_name(top.rpartition(".")[0].partition("-")[0])
    if name := there.names.get(top.partition(".")[0]):
        return name
    folded = path.casefold()
    while folded and folded not in there.owners:
        folded = posixpath.dirname(folded)
    return there.owners.get(folded, "")


def _top(path: str, packages: str) -> str:
    """Return the first part of a path below `packages`, "" for one elsewhere."""
    inside = path[len(packages) + 1 :]
    return inside.partition("/")[0] if path.casefold().startswith(f"{packages}/".casefold()) else ""


def installed_files(prefix: str) -> InstalledFiles:
    """Return the files in the environment at `prefix`."""
    owners: dict[str, str] = {}
    for place in ("", "bin"):
        with os.scandir(os.path.join(prefix, place)) as entries:
            files = [one.name for one in entries if not one.is_dir(follow_symlinks=False)]
        owners |= {os.path.join(place, name).casefold(): _ENVIRONMENT for name in files}
    for name, distribution in installed(prefix).items():
        owners |= {path.casefold(): name for path in _files(distribution, prefix)}
    names = dict(_OWN_NAMES)
    for name in protected():  # also one that is elsewhere, where the environment sees that
        for file in getattr(find_distribution(name), "files", None) or ():
            if top := file.parts[0].partition(".")[0]:
                names.setdefault(top.casefold(), name)
    return InstalledFiles(packages_directory(), owners, names)


def installed(prefix: str) -> dict[str, Any]:
    """Return the distributions that the environment at `prefix` itself holds."""
    found: dict[str, Any] = {}
    for one in importlib_metadata.distributions(path=[os.path.join(prefix, packages_directory())]):
        with suppress(KeyError, OSError):  # its metadata is damaged
            found[canonicalize_name(str(one.metadata["Name"]))] = one
    return found


def _files(distribution: Any, prefix: str) -> Iterator[str]:
    """Yield the files that a distribution records and that are there, relative to `prefix`."""
    for file in distribution.files or ():
        path = os.path.relpath(str(file.locate()), prefix)
        if not path.startswith(".."):
            yield path


def check_change(name: str, prefix: str, copy: str) -> None:
    """Raise OperationError if a distribution that came with `name` may not bring its files.

    The environment at `prefix` is the one before the change, `copy` the one after it.
    """
    before, after = installed(prefix), installed(copy)
    came = {one for one in after if one not in before or after[one].version != before[one].version}
    paths = {path for one in {*came, name} for path in _files(after[one], copy)}
    found = list(problems(paths, came | {name}, installed_files(prefix)))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise OperationError(f"{name}: {found[0]}{more}; nothing was changed")
