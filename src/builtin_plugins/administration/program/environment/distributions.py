"""What is installed in the environment that runs this program."""

from __future__ import annotations

import json
import os
import sysconfig
from typing import Any

import importlib_metadata


def find_distribution(name: str) -> Any:
    """Return the installed distribution of that name, in any spelling; None for none."""
    return next(iter(importlib_metadata.distributions(name=name)), None)


def installed_commit(name: str) -> str:
    """Return the commit that an installed distribution was built from, "" if none is recorded."""
    found = find_distribution(name)
    try:
        return str(json.loads(found.read_text("direct_url.json"))["vcs_info"]["commit_id"])
    except (AttributeError, LookupError, TypeError, ValueError):
        return ""


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, None when it is not there."""
    found = find_distribution(name)
    return found and str(found.version)


def packages_directory() -> str:
    """Return where importable packages are in a virtual environment, relative to it."""
    return os.path.relpath(sysconfig.get_path("purelib", vars={"base": "/"}), "/")
