"""The words of disabled plugins, by which an unknown word is explained."""

from __future__ import annotations

import os
from collections.abc import Iterator

from builtin_plugins.administration.plugins.contents import read_contents, read_installed
from builtin_plugins.plugins_folder.registry import effective_registry
from host import Disabled, HostError, Installation, hookimpl


@hookimpl
def discover_commands(installation: Installation) -> Iterator[Disabled]:
    for name, entry in effective_registry(installation.plugins_dir).entries.items():
        if entry.enabled:
            continue
        try:
            if entry.kind == "pip":
                contents = read_installed(name)
            else:
                contents = read_contents(os.path.join(installation.plugins_dir, name))
        except HostError:
            continue  # `self plugin list` reports it
        yield Disabled(name, tuple(contents.commands))
