"""Distributions in the environment: this program's requirements, and conflicts between files."""

import json
import os
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any

import importlib_metadata
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from builtin_plugins.administration.program.venv.installer import INSTALLERS
from host import OperationError
from host.hook_marker import OWN_DISTRIBUTION

# The packages of cli-host, which the RECORD of an editable installation does not list.
_OWN_NAMES = {"host": "cli-host", "builtin_plugins": "cli-host"}


def find_distribution(name: str) -> Any:
    """Return the installed distribution of that name, in any spelling; None if there is none."""
    return next(iter(importlib_metadata.distributions(name=name)), None)


def installed_commit(name: str) -> str:
    """Return the recorded commit from which a distribution was built, or "" for none."""
    found = find_distribution(name)
    try:
        return str(json.loads(found.read_text("direct_url.json"))["vcs_info"]["commit_id"])
    except (AttributeError, LookupError, TypeError, ValueError):
        return ""


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, or None if it is not installed."""
    found = find_distribution(name)
    return found and str(found.version)


def packages_directory() -> str:
    """Return the path of site-packages relative to the root of a virtual environment."""
    return os.path.relpath(sysconfig.get_path("purelib", vars={"base": "/"}), "/")


def needed(requires: Iterable[str], extras: Collection[str] = ()) -> Iterator[Requirement]:
    """Yield the requirements that apply on this system, with these extras."""
    for one in map(Requirement, requires):
        if one.marker is None or any(one.marker.evaluate({"extra": x}) for x in ("", *extras)):
            yield one


def protected() -> dict[str, str]:
    """Return the distributions that no plugin may replace, with their versions.

    These are this program, its requirements and the installers.
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


def installed(prefix: str) -> dict[str, Any]:
    """Return the distributions installed in the environment at `prefix`, by normalized name."""
    found: dict[str, Any] = {}
    for one in importlib_metadata.distributions(path=[os.path.join(prefix, packages_directory())]):
        with suppress(KeyError, OSError):  # skip a distribution with damaged metadata
            found[canonicalize_name(str(one.metadata["Name"]))] = one
    return found


def check_change(name: str, copy: str) -> None:
    """Raise OperationError if the plugin `name` or a package installed with it has a conflict.

    None of their files may belong to another distribution, and none of their top-level names may
    belong to a requirement of this program. `copy` is the environment after the change.
    """
    before, after = installed(sys.prefix), installed(copy)
    came = {one for one in after if one not in before or after[one].version != before[one].version}
    came.add(name)
    owners = {path: one for one in before for path in _files(before[one], sys.prefix)}
    names = _needed_names()
    packages = f"{packages_directory()}/"
    for one in sorted(came):
        for path in sorted(_files(after[one], copy), key=lambda path: (".pyc" in path, path)):
            inside = path.removeprefix(packages)
            top = "" if inside == path else inside.partition("/")[0].partition(".")[0]
            owner = names.get(top.casefold()) or owners.get(path)
            if owner and owner not in came.difference(names.values()):
                raise OperationError(f"{name}: {inside} belongs to {owner}; nothing was changed")


def _needed_names() -> dict[str, str]:
    """Map the top-level modules of this program and its requirements to their distributions."""
    names = dict(_OWN_NAMES)
    for name in protected():  # some of these packages may be in other environments on sys.path
        for file in getattr(find_distribution(name), "files", None) or ():
            if top := file.parts[0].partition(".")[0]:
                names.setdefault(top.casefold(), name)
    return names


def _files(distribution: Any, prefix: str) -> Iterator[str]:
    """Yield the files of a distribution that are inside `prefix`, as relative paths."""
    for file in distribution.files or ():
        path = os.path.relpath(str(file.locate()), prefix)
        if not path.startswith(".."):
            yield path
