"""What installed distributions register as plugins."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

import importlib_metadata

from host.hookspecs import OWN_DISTRIBUTION, PROJECT
from host.run.lock import Plugin


def entry_points() -> Iterator[Plugin]:
    """Yield what installed distributions register, our own plugins first, then by name.

    A distribution whose metadata cannot be read is passed over, and one that nobody would end
    reading: a FIFO in there.
    """
    found = []
    for distribution in importlib_metadata.distributions():
        try:
            if not _is_of_files(distribution):
                continue
            points = distribution.entry_points.select(group=PROJECT)
            if not points:
                continue  # reading a distribution's metadata costs more than all of this
            name = str(distribution.metadata["Name"])
            version = str(distribution.version)
            ours = name == OWN_DISTRIBUTION
            project = name if ours else _canonical(name)
            found += [
                Plugin(point.name, name, version, point.value, ours=ours, project=project)
                for point in points
            ]
        except Exception:  # noqa: BLE001, S112 - whatever is wrong there, it is not ours
            continue
    yield from sorted(found, key=lambda one: (not one.ours, one.name, one.distribution))


def _is_of_files(distribution: object) -> bool:
    place = getattr(distribution, "_path", None)  # where it is, there is no other way to ask
    for name in ("entry_points.txt", "METADATA") if place else ():
        try:
            if not stat.S_ISREG(os.stat(f"{place}/{name}").st_mode):
                return False
        except OSError:
            pass  # an egg has others, and most have no entry points
    return True


def _canonical(name: str) -> str:
    from packaging.utils import canonicalize_name  # as much to import as all the rest here

    return canonicalize_name(name)
