"""The two commands that the package adds to a program, written in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from host import CategoryDeclaration, CommandDeclaration, Installation, hookimpl

_COMMANDS: dict[str, dict[str, Any]] = {
    "build": {
        "description": "Write pages about commands",
        "effects": "change",
        "args": [
            {
                "name": "--format",
                "value": "FORMAT",
                "choices": ["markdown", "html", "man"],
                "default": "markdown",
                "description": "Format of the pages",
            },
            {
                "name": "--output",
                "value": "DIR",
                "complete": "directory",
                "description": "Directory for one page per category",
            },
            {
                "name": "--inject",
                "value": "FILE",
                "type": "file",
                "description": "Markdown file that gets a list of commands between two markers",
            },
            {
                "name": "category...",
                "description": "Top-level categories (default: all)",
            },
        ],
        "examples": [
            {
                "command": "build --output docs/commands",
                "description": "write the pages",
            },
        ],
    },
    "skill": {
        "description": "Print a SKILL.md about this program's commands for assistants",
        "effects": "change",
        "args": [
            {
                "name": "--install",
                "description": "Write it to assistants' folders in HOME",
                "conflicts": ["--output"],
            },
            {
                "name": "--output",
                "value": "DIR",
                "complete": "directory",
                "description": "Write it and the files that it names to this directory",
            },
        ],
    },
}


@hookimpl
def discover_commands(
    installation: Installation,
) -> Iterator[CategoryDeclaration | CommandDeclaration]:
    """Declare `docs build|skill`, which read only definitions and so need no variables."""
    yield CategoryDeclaration(
        ("docs",), "Docs", "Document the commands of this program"
    )
    for word, fields in _COMMANDS.items():
        definition = {
            **fields,
            "name": f"Docs {word}",
            "entrypoint": f"cli_host_docs.{word}:main",
            "sources": False,
            "help": "page",
        }
        yield CommandDeclaration(("docs", word), definition)
