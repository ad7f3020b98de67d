"""Repositories, archives and directories that are Python packages, so that pip installs them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from contextlib import suppress

from packaging.utils import InvalidName, canonicalize_name

from builtin_plugins.administration.plugins.hooks_source import Words
from builtin_plugins.plugins_folder.directory import FILE_NAME
from builtin_plugins.plugins_folder.registry import Entry
from host import PluginError
from host.hookspecs import PROJECT
from host.run import read_regular

_LARGEST = 1 << 20  # bytes of a file that is looked at
_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_NAME = re.compile(
    r"(?:^\[(?:project|tool\.poetry|metadata)\][^\[]*?^|\bsetup\s*\([^\[]*?\b)"
    r"name\s*=\s*[\"']?([^\"'\n]+)",
    re.MULTILINE,
)


def refuse_package(
    entry: Entry, root: str, commands: Iterable[Words], program: str, address: str
) -> None:
    """Raise PluginError if the directory `root` is a Python package and no directory plugin.

    `address` is the repository that it is in, in pip's form, "" for none.

    A directory plugin has a plugin.json, or commands outside of Python packages; a tool may keep
    its settings in a pyproject.toml there. An entry point for plugins settles it.
    """
    text = "".join(_text(root, name) for name in _FILES)
    if os.path.lexists(os.path.join(root, FILE_NAME)) or not text:
        return
    if PROJECT not in text and not all(_is_in_package(root, words) for words in commands):
        return
    if found := _NAME.search(text):
        with suppress(InvalidName):
            entry = entry.replaced(name=canonicalize_name(found[1].strip(), validate=True))
    raise PluginError(
        f"{entry.source}: is a Python package, not a directory of commands",
        _ways(entry, f"{program} self plugin add", address),
    )


def _text(root: str, name: str) -> str:
    try:
        content = read_regular(os.path.join(root, name), _LARGEST, PluginError)
    except (OSError, PluginError):
        return ""
    return content.decode("utf-8", "replace")


def _is_in_package(root: str, words: Words) -> bool:
    above = (os.path.join(root, *words[:end]) for end in range(1, len(words)))
    return any(os.path.isfile(os.path.join(one, "__init__.py")) for one in above)


def _ways(entry: Entry, add: str, address: str) -> str:
    """Return how the package is added: from its repository, from an index, or as a wheel."""
    if address:
        return f"add it with: {add} {shlex.quote(f'pip:{entry.name} @ git+{address}')}"
    return f"from an index: {add} pip:{entry.name}; or build a wheel and add that"
