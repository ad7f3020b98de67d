"""Check that the files of new packages conflict with no others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import importlib_metadata
from packaging.utils import canonicalize_name

from builtin_plugins.administration.program.environment.distributions import (
    find_distribution,
    packages_directory,
    protected,
)
from host import OperationError

# The RECORD of an editable installation does not list them.
_OWN_NAMES = {"host": "cli-host", "builtin_plugins": "cli-host"}


def installed(prefix: str) -> dict[str, Any]:
    """Return the distributions in the environment at `prefix` itself, by normalized name."""
    found: dict[str, Any] = {}
    for one in importlib_metadata.distributions(path=[os.path.join(prefix, packages_directory())]):
        with suppress(KeyError, OSError):  # its metadata is damaged
            found[canonicalize_name(str(one.metadata["Name"]))] = one
    return found


def check_change(name: str, prefix: str, copy: str) -> None:
    """Raise OperationError if a distribution installed for `name` conflicts with others.

    None of its files may belong to another distribution, and none of its top-level names to one
    that this program needs. `prefix` is the environment before the change, `copy` the one after.
    """
    before, after = installed(prefix), installed(copy)
    came = {one for one in after if one not in before or after[one].version != before[one].version}
    came.add(name)
    owners = {path: one for one in before for path in _files(before[one], prefix)}
    names = _needed_names()
    packages = f"{packages_directory()}/"
    for one in sorted(came):
        for path in sorted(_files(after[one], copy)):
            inside = path.removeprefix(packages)
            top = "" if inside == path else inside.partition("/")[0].partition(".")[0]
            owner = names.get(top.casefold()) or owners.get(path)
            if owner and owner not in came.difference(names.values()):
                raise OperationError(f"{name}: {inside} belongs to {owner}; nothing was changed")


def _needed_names() -> dict[str, str]:
    """Map the top-level names of what this program needs to their distributions."""
    names = dict(_OWN_NAMES)
    for name in protected():  # even in another environment, if visible from here
        for file in getattr(find_distribution(name), "files", None) or ():
            if top := file.parts[0].partition(".")[0]:
                names.setdefault(top.casefold(), name)
    return names


def _files(distribution: Any, prefix: str) -> Iterator[str]:
    """Yield the files that a distribution records inside `prefix`, relative to that."""
    for file in distribution.files or ():
        path = os.path.relpath(str(file.locate()), prefix)
        if not path.startswith(".."):
            yield path
