"""The words of plugins that may not answer to them, used to explain an unknown command."""

from collections.abc import Iterator

from builtin_plugins.administration.plugins.sources.base import make_source
from builtin_plugins.plugins_folder.registry import effective_registry
from host import Disabled, Installation, RecordedWords, hookimpl


@hookimpl
def discover_commands(installation: Installation) -> Iterator[Disabled | RecordedWords]:
    for name, entry in effective_registry(installation.plugins_dir).entries.items():
        if entry.enabled:
            if entry.words:
                yield RecordedWords(name, entry.words)
            continue
        contents = make_source(entry).current_version(installation.plugins_dir)
        words = (*contents.commands, *contents.declared)
        yield Disabled(name, words or tuple((word,) for word in entry.words))
