"""The files of a new command, in each language, and of a new category."""

from __future__ import annotations

from builtin_plugins.files.schema import schema_address

_BASH = """\
#!/usr/bin/env bash
# The library of the program is loaded already: log_info, log_error and others.
set -euo pipefail

# ARG_NAME is what "args" in command.json declares: checked, with its default.
printf 'Hello, %s!\\n' "$ARG_NAME"
"""

_SH = """\
#!/bin/sh
set -eu

# ARG_NAME is what "args" in command.json declares: checked, with its default.
printf 'Hello, %s!\\n' "$ARG_NAME"
"""

_PYTHON = """\
#!/usr/bin/env python3
import os

# ARG_NAME is what "args" in command.json declares: checked, with its default.
print(f"Hello, {os.environ['ARG_NAME']}!")
"""

_NODE = """\
#!/usr/bin/env node
// ARG_NAME is what "args" in command.json declares: checked, with its default.
console.log(`Hello, ${process.env.ARG_NAME}!`);
"""

SCRIPTS = {
    "bash": ("main.sh", _BASH),
    "python": ("main.py", _PYTHON),
    "node": ("main.js", _NODE),
    "sh": ("main.sh", _SH),
}


def command_files(word: str, language: str, description: str) -> dict[str, object]:
    """Return the files of a command, by name; a value that is no text is JSON."""
    script, text = SCRIPTS[language]
    definition = {
        "$schema": schema_address("command"),
        "name": shown_name(word),
        "description": description,
        "entrypoint": script,
        "args": [{"name": "name", "default": "world", "description": "whom to greet"}],
        "examples": [{"command": f"{word} Ada", "description": "Greet Ada"}],
    }
    return {"command.json": definition, script: text}


def category_files(word: str, description: str) -> dict[str, object]:
    return {
        "category.json": {
            "$schema": schema_address("category"),
            "name": shown_name(word),
            "description": description,
        }
    }


def shown_name(word: str) -> str:
    """Return a word as a name for people: `db-copy` is `Db copy`."""
    text = word.replace("-", " ").replace("_", " ").strip()
    return text[:1].upper() + text[1:]
