"""Pure: whether packages may bring the files that they bring, decided by paths alone.

All paths are relative to the environment.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping

from packaging.utils import canonicalize_name

from host import Record

_METADATA = (".dist-info", ".egg-info")
_AT_START = ("sitecustomize", "usercustomize")  # Python's `site` imports them


class InstalledFiles(Record):
    """The files of an environment before a change.

    `packages` is the directory of importable packages. `owners` maps the case-folded path of
    each file to the distributions that record it; a file of the environment itself has none.
    `needed` are the distributions that the program needs, and `names` maps their case-folded
    top-level names to them.
    """

    packages: str
    owners: Mapping[str, set[str]]
    needed: set[str]
    names: Mapping[str, str]


def problems(paths: Iterable[str], incoming: set[str], there: InstalledFiles) -> Iterator[str]:
    """Yield why the distributions `incoming` may not bring, change or remove files at `paths`."""
    for path in sorted(paths):
        if owner := _owner(path.casefold(), incoming, there) or _taken(path, incoming, there):
            yield f"{path.removeprefix(f'{there.packages}/')} belongs to {owner}"


def _owner(folded: str, incoming: set[str], there: InstalledFiles) -> str:
    """Return who else has a file at that path, or in the place of a directory above it."""
    while folded not in there.owners:
        if not folded:
            return ""
        folded = posixpath.dirname(folded)
    owners = there.owners[folded]
    if owners & incoming and not owners & there.needed:
        return ""
    return min(owners & there.needed or owners, default="the environment itself")


def _taken(path: str, incoming: set[str], there: InstalledFiles) -> str:
    """Return to which other distribution the top-level name in a path belongs."""
    top = _top(path, there.packages).casefold()
    if not top.endswith(_METADATA):
        return there.names.get(top.partition(".")[0], "")
    name = canonicalize_name(top.rpartition(".")[0].partition("-")[0])
    return "" if name in incoming - there.needed else name


def _top(path: str, packages: str) -> str:
    """Return the first part of a path below `packages`, "" for one elsewhere."""
    inside = path[len(packages) + 1 :]
    return inside.partition("/")[0] if path.casefold().startswith(f"{packages}/".casefold()) else ""


def run_at_start(paths: Iterable[str], packages: str) -> list[str]:
    """Return the top-level names of files that each start of Python runs."""
    tops = {_top(path, packages) for path in paths}
    return sorted(one for one in tops if one.endswith(".pth") or one.partition(".")[0] in _AT_START)


def wheel_paths(
    members: Iterable[str], scripts: Iterable[str], packages: str, name: str
) -> Iterator[str]:
    """Yield where an installer puts the files and scripts of the wheel of distribution `name`.

    Raises ValueError for a name that may lead elsewhere.
    """
    schemes = {
        "purelib": packages,
        "platlib": packages,
        "scripts": "bin",
        "data": "",
        "headers": f"include/site/{packages.split('/')[-2]}/{name}",
    }
    for member in [*members, *(f"{name}.data/scripts/{one}" for one in scripts)]:
        is_plain = posixpath.normpath(member) == member and "\\" not in member
        if not is_plain or f"{member}/".startswith(("/", "./", "../")):
            raise ValueError(f"{member} is no plain path")
        top, _, inside = member.partition("/")
        scheme, _, rest = inside.partition("/")
        if not top.endswith(".data"):
            yield f"{packages}/{member}"
        elif scheme in schemes and rest:
            yield posixpath.join(schemes[scheme], rest)
        else:
            raise ValueError(f"{member} is in no place of a wheel")
