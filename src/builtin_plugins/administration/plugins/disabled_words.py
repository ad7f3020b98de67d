"""The commands of disabled plugins, used to explain an unknown command."""

from collections.abc import Iterator

from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.plugins_folder.registry import effective_registry
from host import Disabled, Installation, hookimpl


@hookimpl
def discover_commands(installation: Installation) -> Iterator[Disabled]:
    for name, entry in effective_registry(installation.plugins_dir).entries.items():
        if not entry.enabled:
            found = make_source(entry).current_version(installation.plugins_dir)
            yield Disabled(name, (*found.commands, *found.declared))
