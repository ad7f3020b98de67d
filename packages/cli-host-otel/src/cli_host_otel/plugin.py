"""The hook: it names the function that sends a span, and the commands whose runs it gets."""

from __future__ import annotations

import os
from collections.abc import Iterator

from host import (
    AfterRun,
    DefinitionError,
    Installation,
    Problem,
    Watch,
    hookimpl,
    read_json,
)

_FUNCTION = "cli_host_otel.span:send_span"
_FILE = "otel.json"
_KEY = "commands"

# The variables that name the collector; the first that is set counts.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


@hookimpl
def after_run(installation: Installation) -> Iterator[AfterRun | Watch]:
    """Declare the runs of the commands in `config/otel.json`, or all runs without that file."""
    path = os.path.join(installation.config_dir, _FILE)
    yield Watch(path)
    for words in _traced(path):
        yield AfterRun("trace", _FUNCTION, words, traced_if=ENDPOINTS)


def _traced(path: str) -> list[tuple[str, ...]]:
    """Return the words of the traced commands; () stands for all commands."""
    if not os.path.lexists(path):
        return [()]
    commands = None
    content = read_json(path)
    if isinstance(content, dict):
        commands = content.get(_KEY)
    if not isinstance(commands, list) or not _are_texts(commands):
        expected = 'expected a list of commands, such as ["deploy", "db migrate"]'
        raise DefinitionError(Problem(path, f'"{_KEY}": {expected}'))

    all_words = [tuple(text.split()) for text in commands]
    traced: list[tuple[str, ...]] = []
    for words in sorted(all_words):
        # The words of a category stand for all commands below it, which must not be sent twice.
        is_below = any(words[: len(shorter)] == shorter for shorter in traced)
        if not is_below:
            traced.append(words)
    return traced


def _are_texts(values: list[object]) -> bool:
    return all(isinstance(value, str) for value in values)
