"""The distributions in the environment that runs this program, and those that it needs."""

from __future__ import annotations

import json
import os
import sysconfig
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import importlib_metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from builtin_plugins.administration.program.environment.installer import INSTALLERS
from host.hookspecs import OWN_DISTRIBUTION


def find_distribution(name: str) -> Any:
    """Return the installed distribution of that name, in any spelling, or None."""
    return next(iter(importlib_metadata.distributions(name=name)), None)


def installed_commit(name: str) -> str:
    """Return the commit that an installed distribution was built from, "" if none is recorded."""
    found = find_distribution(name)
    try:
        return str(json.loads(found.read_text("direct_url.json"))["vcs_info"]["commit_id"])
    except (AttributeError, LookupError, TypeError, ValueError):
        return ""


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, None if it is not installed."""
    found = find_distribution(name)
    return found and str(found.version)


def packages_directory() -> str:
    """Return the site-packages directory of a virtual environment, relative to it."""
    return os.path.relpath(sysconfig.get_path("purelib", vars={"base": "/"}), "/")


def needed(requires: Iterable[str], extras: Collection[str] = ()) -> Iterator[Requirement]:
    """Yield those of a distribution's requirements that apply here, with these extras."""
    for one in map(Requirement, requires):
        if one.marker is None or any(one.marker.evaluate({"extra": x}) for x in ("", *extras)):
            yield one


def protected() -> dict[str, str]:
    """Return the distributions that no plugin may replace, with their versions.

    These are this program, what it needs, and the installers.
    """
    found: dict[str, str] = {}
    pending = [OWN_DISTRIBUTION, *INSTALLERS]
    while pending:
        name = canonicalize_name(pending.pop())
        distribution = find_distribution(name)
        if name not in found and distribution is not None:
            found[name] = str(distribution.version)
            pending += [one.name for one in needed(distribution.requires or ())]
    return found
