"""The words of plugins that may not answer to them, used to explain an unknown command."""

from collections.abc import Iterator

from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.plugins_folder.registry import effective_registry
from host import Disabled, Installation, RecordedWords, hookimpl


@hookimpl
def discover_commands(installation: Installation) -> Iterator[Disabled | RecordedWords]:
    plugins_dir = installation.plugins_dir
    for name, entry in effective_registry(plugins_dir).entries.items():
        if entry.enabled:
            if entry.words:
                yield RecordedWords(name, entry.words)
            continue

        version = make_source(entry).current_version(plugins_dir)
        commands = [*version.commands, *version.declared]
        # If its files cannot be read, the first words are known from the addition.
        if not commands:
            commands = [(word,) for word in entry.words]
        yield Disabled(name, tuple(commands))
