"""The three commands that the package adds to a program, written in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from host import CategoryDeclaration, CommandDeclaration, Installation, hookimpl

_COMMANDS: dict[str, dict[str, Any]] = {
    "build": {
        "description": "Write pages about commands, or check that they are up to date",
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
                "name": "--check",
                "description": "Write nothing; fail if a file is stale",
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
            {"command": "build --output docs/commands --check", "description": "in CI"},
        ],
    },
    "diff": {
        "description": "List the differences between two states of the commands",
        "effects": "read",
        "args": [
            {
                "name": "old",
                "required": True,
                "complete": "directory",
                "description": "Directory of an installation, or a git ref of this one",
            },
            {
                "name": "new",
                "complete": "directory",
                "description": "Directory or git ref; by default, this installation as it is now",
            },
            {
                "name": "--format",
                "value": "FORMAT",
                "choices": ["text", "json", "github"],
                "default": "text",
                "description": "Format of the list; github annotates a workflow run",
            },
        ],
        "examples": [{"command": "diff origin/main", "description": "before a push"}],
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
    """Declare `docs build|diff|skill`, which read only definitions and so need no variables."""
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
