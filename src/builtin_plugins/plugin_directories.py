"""Commands of directory plugins: whatever lies in `plugins/`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from host import CommandTree, Installation, hookimpl
from host.definition import read_json
from host.errors import PluginError
from host.registry import Registered, read_registered

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")


@hookimpl
def discover_commands(installation: Installation) -> Iterator[CommandTree]:
    plugins_dir = Path(installation.plugins_dir)
    try:
        registered = read_registered(installation.plugins_dir)
    except PluginError:
        registered = []
    entries = {entry.name: entry for entry in registered}
    present = sorted(path.name for path in plugins_dir.glob("*") if _is_plugin(path))
    ordered = [name for name in entries if name in present]
    for name in [*ordered, *(name for name in present if name not in entries)]:
        entry = entries.get(name)
        if entry is None or entry.enabled:
            directory = plugins_dir / name
            yield CommandTree(str(_tree_of(directory)), plugin=name, dev=directory.is_symlink())


def _is_plugin(path: Path) -> bool:
    return bool(_NAME.match(path.name)) and path.name != "self" and path.is_dir()


def _tree_of(directory: Path) -> Path:
    """Return where the plugin's categories are: its plugin.json's `directory`, else itself."""
    try:
        values = read_json(str(directory / "plugin.json"))
    except FileNotFoundError:
        return directory
    inner = values.get("directory", "") if isinstance(values, dict) else ""
    tree = directory / inner if isinstance(inner, str) else directory
    root = os.path.realpath(directory)
    real = os.path.realpath(tree)
    if real != root and not real.startswith(root + os.sep):
        raise PluginError(f'{directory}/plugin.json: "directory": leaves the plugin')
    return tree
