"""The commands of `self plugin`: the arguments of each, and where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from builtin_plugins.options import FORMAT, TIMEOUT, YES
from host import CategoryDeclaration, CommandDeclaration, hookimpl

_HERE = "builtin_plugins.plugin_commands."

_NAME = {"name": "name", "required": True, "complete": f"{_HERE}names:plugin_names"}
_DRY_RUN = {"name": "--dry-run", "description": "Only show what would change."}

# Each with its module and function, what it is for, and its arguments.
_COMMANDS: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "add": (
        "add:command",
        "Add a plugin from a directory, git, an archive or pip",
        [
            {"name": "source", "required": True},
            {
                "name": "--ref",
                "value": "REF",
                "complete": "none",
                "description": "A branch, tag or commit of a git repository.",
            },
            {
                "name": "--name",
                "value": "NAME",
                "complete": "none",
                "description": "The plugin's name here.",
            },
            {
                "name": "--sha256",
                "value": "HASH",
                "complete": "none",
                "description": "What an archive or wheel must have as its SHA-256.",
            },
            {"name": "--ssh", "description": "Clone user/repo over ssh."},
            {"name": "--gitlab", "description": "user/repo is on GitLab."},
            {"name": "--bitbucket", "description": "user/repo is on Bitbucket."},
            {"name": "--force", "description": "Add it though a command has words already taken."},
            YES,
            TIMEOUT,
        ],
    ),
    "list": ("list:command", "List all plugins", [FORMAT]),
    "show": ("show:command", "Show all about one plugin", [_NAME, FORMAT]),
    "update": (
        "update:command",
        "Bring plugins to their newest version",
        [{**_NAME, "name": "names...", "required": False}, _DRY_RUN, YES, TIMEOUT],
    ),
    "rollback": (
        "rollback:command",
        "Go back to an earlier version",
        [_NAME, {"name": "version", "complete": "none"}],
    ),
    "remove": ("remove:command", "Remove a plugin", [_NAME, YES]),
    "enable": ("switch:enable", "Switch a plugin on", [_NAME]),
    "disable": ("switch:disable", "Switch a plugin off, keep its files", [_NAME]),
    "sync": (
        "sync:command",
        "Bring in what a shared registry lists",
        [{"name": "file"}, _DRY_RUN, YES, TIMEOUT],
    ),
}


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    about = "Add, list, update and remove plugins"
    yield CategoryDeclaration(("self", "plugin"), "plugin", about)
    for word, (place, description, args) in _COMMANDS.items():
        definition = {"name": word, "description": description, "entrypoint": _HERE + place}
        yield CommandDeclaration(("self", "plugin", word), {**definition, "args": args})
