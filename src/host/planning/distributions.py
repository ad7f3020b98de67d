"""What installed distributions register as plugins."""

from __future__ import annotations

import re

import importlib_metadata

from host.hookspecs import OWN_DISTRIBUTION, PROJECT
from host.run.lock import Plugin


def entry_points() -> list[Plugin]:
    """Return what installed distributions register, the built-in plugins first, then by name.

    A distribution whose metadata cannot be read is left out.
    """
    found = []
    for distribution in importlib_metadata.distributions():
        try:
            place = getattr(distribution, "_path", None)  # there is no public name for it
            files = [place / name for name in ("entry_points.txt", "METADATA")] if place else []
            if any(one.exists() and not one.is_file() for one in files):
                continue  # reading a FIFO never ends
            points = distribution.entry_points.select(group=PROJECT)
            if not points:
                continue  # reading a distribution's metadata costs more than all of this
            name, version = str(distribution.metadata["Name"]), str(distribution.version)
        except Exception:  # noqa: BLE001, S112 - another package's files may hold anything
            continue
        builtin = name == OWN_DISTRIBUTION
        project = re.sub("[-_.]+", "-", name).lower()  # as packaging compares names
        found += [
            Plugin(point.name, name, version, point.value, ours=builtin, project=project)
            for point in points
        ]
    return sorted(found, key=lambda one: (not one.ours, one.name, one.distribution))
