"""The hook of the history: it declares the commands that show it."""

from collections.abc import Iterator
from typing import Any

from host import CommandDeclaration, hookimpl

_FORMAT = {"name": "--format", "value": "FORMAT", "choices": ["text", "json"], "default": "text"}
_YES = {"name": "--yes", "description": "Do not ask."}
_ID = {"name": "id", "required": True, "complete": "builtin_plugins.history.completion:run_ids"}
_WORDS = {
    "name": "words...",
    "description": "A category or command (default: all).",
    "complete": "host.cli.completion:command_words",
}
_ORIGINS = ["terminal", "ci", "cron", "mcp", "fleet", "script"]


def _text(name: str, value: str, description: str) -> dict[str, Any]:
    return {"name": name, "value": value, "description": description, "complete": "none"}


_COMMANDS: dict[tuple[str, ...], tuple[str, list[dict[str, Any]]]] = {
    ("history",): (
        "Show recorded runs",
        [
            _WORDS,
            {"name": "--failed", "description": "Only runs with a status other than 0."},
            {"name": "--running", "description": "Only runs that have not ended."},
            _text("--since", "TIME", "Only runs since TIME: 90m, 12h, 7d, or a date."),
            {
                "name": "--origin",
                "value": "ORIGIN",
                "choices": _ORIGINS,
                "description": "Only runs that this started.",
            },
            {
                **_text("--limit", "N", "At most N runs; 0 means all."),
                "type": "integer",
                "default": "50",
            },
            {**_FORMAT, "choices": ["text", "json", "csv"]},
        ],
    ),
    ("history", "show"): ("Show everything about a recorded run", [_ID, _FORMAT]),
    ("history", "rerun"): ("Run a recorded command again", [_ID, _YES]),
    ("history", "clear"): ("Delete all recorded runs", [_YES]),
}


@hookimpl
def discover_commands() -> Iterator[CommandDeclaration]:
    for words, (description, arguments) in _COMMANDS.items():
        function = "_".join(words)
        definition = {
            "name": " ".join(words),
            "description": description,
            "entrypoint": f"builtin_plugins.history.commands:{function}",
            "args": arguments,
        }
        yield CommandDeclaration(("self", *words), definition)
