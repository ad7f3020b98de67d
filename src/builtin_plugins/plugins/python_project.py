"""Python projects: whether a directory is one, and its name."""

import os
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from builtin_plugins.registry.directory import MANIFEST
from builtin_plugins.registry.version import Words
from host.hook_marker import GROUP

_PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_NAME = re.compile(r"\bname\s*=\s*[\"']?([A-Za-z0-9._-]+)")


def is_python_project(root: str) -> bool:
    """Return whether pip could install the directory `root`."""
    for name in ("pyproject.toml", "setup.py"):
        if os.path.isfile(os.path.join(root, name)):
            return True
    return False


def is_package(root: str, commands: Collection[Words]) -> bool:
    """Return whether the directory `root` is a Python package, not a directory plugin.

    A directory without plugin.json is a package if pip could install it and if it declares an entry
    point for plugins or contains no commands.
    """
    if not is_python_project(root):
        return False
    if os.path.lexists(os.path.join(root, MANIFEST)):
        return False
    if not commands:
        return True
    # A directory of scripts may have a pyproject.toml only for its tools.
    return GROUP in _project_texts(root)


def project_name(root: str) -> str:
    """Return the canonical name of the Python project in `root`, or "" if no file states it."""
    # Imported here: only packages need it.
    from packaging.utils import canonicalize_name

    name = _name_in_pyproject(root)
    if name:
        return canonicalize_name(name)

    # A project of setuptools may state it only in setup.cfg or setup.py.
    match = _NAME.search(_project_texts(root))
    if match is None:
        return ""
    return canonicalize_name(match[1])


def _name_in_pyproject(root: str) -> str:
    """Return the name that pyproject.toml gives a project, also the one for Poetry, or ""."""
    project = _pyproject(root)
    for keys in (("project",), ("tool", "poetry")):
        name = _table(project, *keys).get("name")
        if isinstance(name, str):
            return name
    return ""


def _pyproject(root: str) -> dict[str, Any]:
    """Return the content of a project's pyproject.toml, or {} if it cannot be read."""
    import tomllib  # imported here: only packages need it

    try:
        text = Path(root, "pyproject.toml").read_text("utf-8")
        return tomllib.loads(text)
    except (OSError, ValueError):
        return {}


def _table(table: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return the table at the end of `keys`, or {} if there is none."""
    for key in keys:
        inner = table.get(key)
        if not isinstance(inner, dict):
            return {}
        table = inner
    return table


def _project_texts(root: str) -> str:
    text = ""
    for name in _PROJECT_FILES:
        with suppress(OSError):
            text += Path(root, name).read_text("utf-8", "replace")
    return text
