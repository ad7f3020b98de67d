"""Words of distributions that are switched off: they lead nowhere, and it is said why."""

from __future__ import annotations

from collections.abc import Iterator

from builtin_plugins.plugin_directories.registry import disabled_distributions
from builtin_plugins.plugin_directories.switched_off import MARK
from host import CommandTree, Installation, hookimpl

_OFF = "builtin_plugins.plugin_changes.switched_off_package:SwitchedOffPackage"


@hookimpl
def discover_commands(installation: Installation) -> Iterator[CommandTree]:
    for name in disabled_distributions(installation.plugins_dir):
        yield CommandTree(f"{installation.plugins_dir}{MARK}{name}", plugin=name, finder=_OFF)
