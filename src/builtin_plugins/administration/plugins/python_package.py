"""Repositories, archives and directories that are Python packages, so that pip installs them."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from packaging.utils import InvalidName, canonicalize_name

from builtin_plugins.administration.plugins.hooks_source import Words
from builtin_plugins.administration.program.environment.installer import has_pip
from builtin_plugins.plugins_folder.directory import FILE_NAME
from builtin_plugins.plugins_folder.registry import Entry
from host import PluginError
from host.hookspecs import PROJECT
from host.run import read_regular

_LARGEST = 1 << 20  # bytes of a file that is looked at
_IN_SETUP_CFG = re.compile(r"^\[metadata\][^\[]*?^name\s*=\s*(\S+)", re.MULTILINE)
_IN_SETUP_PY = re.compile(r"\bname\s*=\s*[\"']([^\"']+)[\"']")
_DECLARES = re.compile(  # in pyproject.toml, setup.cfg, setup.py
    rf"""^\[[\w.-]*(?:entry-points|plugins)\.["']?{PROJECT}["']?\] | ^\s*{PROJECT}\s*=
    | ^\s*\[{PROJECT}\] | ["']{PROJECT}["']\s*:""",
    re.MULTILINE | re.VERBOSE,
)


def refuse_package(
    entry: Entry, root: str, commands: Iterable[Words], program: str, address: str
) -> None:
    """Raise PluginError if the directory `root` is a Python package and no directory plugin.

    `address` is the repository that it is in, in pip's form, "" for none.

    A directory plugin has a plugin.json, or commands outside of Python packages; a tool may keep
    its settings in a pyproject.toml there. An entry point for plugins settles it.
    """
    if os.path.lexists(os.path.join(root, FILE_NAME)):
        return
    project = _text(root, "pyproject.toml")
    setup_cfg, setup_py = _text(root, "setup.cfg"), _text(root, "setup.py")
    name = _name(project, setup_cfg, setup_py)
    if name is None:
        return
    declares = any(map(_DECLARES.search, (project, setup_cfg, setup_py)))
    if not declares and not all(_is_in_package(root, words) for words in commands):
        return
    with suppress(InvalidName):
        canonicalize_name(name, validate=True)
        entry = entry.replaced(name=name)
    raise PluginError(
        f"{entry.source}: is a Python package, not a directory of commands",
        "; ".join(_ways(entry, root, f"{program} self plugin add", address)),
    )


def _text(root: str, name: str) -> str:
    try:
        return read_regular(os.path.join(root, name), _LARGEST, PluginError).decode(
            "utf-8", "replace"
        )
    except (OSError, PluginError):
        return ""


def _name(project: str, setup_cfg: str, setup_py: str) -> str | None:
    """Return the package's name, "" for an unknown one, None where there is no package."""
    try:
        values: Any = tomllib.loads(project)
    except tomllib.TOMLDecodeError:
        values = {}
    tool = values.get("tool")
    for table in (values.get("project"), tool.get("poetry") if isinstance(tool, dict) else None):
        if isinstance(table, dict):
            return str(table.get("name", ""))
    for pattern, text in ((_IN_SETUP_CFG, setup_cfg), (_IN_SETUP_PY, setup_py)):
        if found := pattern.search(text):
            return found[1]
    return "" if setup_py or "build-system" in values else None


def _is_in_package(root: str, words: Words) -> bool:
    above = (os.path.join(root, *words[:end]) for end in range(1, len(words)))
    return any(os.path.isfile(os.path.join(one, "__init__.py")) for one in above)


def _ways(entry: Entry, root: str, add: str, address: str) -> list[str]:
    """Return how the package is added: from its repository, from an index, or as a wheel."""
    ways = [f"from an index: {add} pip:{entry.name}", "or build a wheel and add that"]
    if address:
        ways = [f"add it with: {add} {shlex.quote(f'pip:{entry.name} @ git+{address}')}"]
    if entry.dev:
        python = shlex.quote(sys.executable)
        way = f"{python} -m pip install" if has_pip() else f"uv pip install --python {python}"
        ways = [f"while you write it: {way} -e {shlex.quote(root)}", *ways]
    return ways


def escaped(path: str) -> str:
    """Escape what ends a path in pip's addresses."""
    return re.sub(r"[\s@#;]", lambda found: quote(found[0]), path)
