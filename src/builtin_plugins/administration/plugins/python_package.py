"""Repositories, archives and directories that are Python packages, so that pip installs them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from packaging.utils import canonicalize_name

from builtin_plugins.administration.plugins.hooks_source import Words
from builtin_plugins.plugins_folder.directory import FILE_NAME
from builtin_plugins.plugins_folder.registry import Entry
from host import PluginError
from host.hookspecs import PROJECT

_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_NAME = re.compile(
    r"(?:^\[(?:project|tool\.poetry|metadata)\][^\[]*?^|\bsetup\s*\([^\[]*?\b)"
    r"name\s*=\s*[\"']?([A-Za-z0-9._-]+)",
    re.MULTILINE,
)


def is_package(root: str) -> bool:
    """Return whether pip could install the directory `root`."""
    return any(os.path.isfile(os.path.join(root, one)) for one in ("pyproject.toml", "setup.py"))


def refuse_package(
    entry: Entry, root: str, commands: Iterable[Words], program: str, address: str
) -> None:
    """Raise PluginError if the directory `root` is a Python package and no directory plugin.

    `address` is the repository that it is in, in pip's form, "" for none.

    A directory plugin has a plugin.json, or commands outside of Python packages; a tool may keep
    its settings in a pyproject.toml there. An entry point for plugins settles it.
    """
    if not is_package(root) or os.path.lexists(os.path.join(root, FILE_NAME)):
        return
    text = ""
    for name in _FILES:
        with suppress(OSError):
            text += Path(root, name).read_text("utf-8", "replace")
    if PROJECT not in text and not all(_is_in_package(root, words) for words in commands):
        return
    found = _NAME.search(text)
    name, add = canonicalize_name(found[1]) if found else entry.name, f"{program} self plugin add"
    ways = f"from an index: {add} pip:{name}; or build a wheel and add that"
    if address:
        ways = f"add it with: {add} {shlex.quote(f'pip:{name} @ git+{address}')}"
    raise PluginError(f"{entry.source}: is a Python package, not a directory of commands", ways)


def _is_in_package(root: str, words: Words) -> bool:
    above = (os.path.join(root, *words[:end]) for end in range(1, len(words)))
    return any(os.path.isfile(os.path.join(one, "__init__.py")) for one in above)
