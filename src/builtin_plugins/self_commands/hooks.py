"""The `self` commands: the arguments of each, and where it is, so that only that is imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from builtin_plugins.options import FORMAT, TIMEOUT, YES
from host import CategoryDeclaration, CommandDeclaration, hookimpl

_HERE = "builtin_plugins.self_commands."

_ALL = {"name": "--all", "description": "Hidden ones and other systems' too."}
_LISTING_FORMAT = {
    "name": "--format",
    "value": "FORMAT",
    "default": "text",
    "complete": "host.cli.completion:formats",
    "description": "text, json, tree or a plugin's.",
}
_WORDS = {"name": "words...", "required": True, "complete": "host.cli.completion:command_words"}

# Each with its module (and function, where that is not `command`), what it is for, and arguments.
_COMMANDS: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "completion": (
        "completion",
        "Complete words with Tab in bash, zsh and fish",
        [
            {"name": "shell", "choices": ["bash", "zsh", "fish"]},
            {"name": "--install", "description": "Load it in every new shell."},
            {"name": "--uninstall", "description": "Take that away again."},
        ],
    ),
    "doctor": (
        "doctor.command",
        "Look for what is wrong with this installation",
        [{"name": "--fix", "description": "Apply the remedies that are safe."}, FORMAT],
    ),
    "edit": (
        "edit",
        "Open a command's script in your editor",
        [_WORDS, {"name": "--definition", "description": "Its command.json, not its script."}],
    ),
    "env": (
        "env",
        "Show where a command's variables come from",
        [
            _WORDS,
            {"name": "--all", "description": "The caller's own variables too."},
            {"name": "--show-secrets", "description": "Do not mask values of secrets."},
            FORMAT,
        ],
    ),
    "info": ("info", "Show paths, versions and counts", [FORMAT]),
    "init": (
        "init",
        "Make a complete installation",
        [
            {"name": "directory", "complete": "directory"},
            {
                "name": "--name",
                "value": "NAME",
                "complete": "none",
                "description": "The program's name; the launcher is DIRECTORY/core/NAME.",
            },
        ],
    ),
    "lint": (
        "lint.command",
        "Look for what is wrong in definitions and scripts",
        [
            {
                "name": "words...",
                "complete": "directory",
                "description": "A directory, or words of a command or category.",
            },
            {**FORMAT, "choices": ["text", "json", "github"]},
        ],
    ),
    "list": (
        "list",
        "List every command",
        [{**_WORDS, "required": False}, _ALL, _LISTING_FORMAT],
    ),
    "lock": ("lock", "Build the lock anew", []),
    "new command": (
        "new:new_command",
        "Make a command, with a script that runs",
        [
            {"name": "words...", "complete": "none"},
            {
                "name": "--lang",
                "value": "LANGUAGE",
                "choices": ["bash", "python", "node", "sh"],
                "description": "What its script is written in.",
            },
            {
                "name": "--description",
                "value": "TEXT",
                "complete": "none",
                "description": "What it is for, in a line.",
            },
        ],
    ),
    "new category": (
        "new:new_category",
        "Make a category, for commands to come",
        [
            {"name": "words...", "complete": "none"},
            {
                "name": "--description",
                "value": "TEXT",
                "complete": "none",
                "description": "What it is for, in a line.",
            },
        ],
    ),
    "new plugin": (
        "new:new_plugin",
        "Make a plugin in a new directory, here",
        [
            {"name": "name", "required": True, "complete": "none"},
            {"name": "--python", "description": "A pip package with hooks in Python and tests."},
        ],
    ),
    "search": (
        "search",
        "Find commands by what they are for",
        [{"name": "text...", "required": True, "complete": "none"}, _ALL, _LISTING_FORMAT],
    ),
    "uninstall": (
        "uninstall",
        "Take this installation away; your commands stay",
        [{"name": "--purge", "description": "Your commands, plugins and settings, too."}, YES],
    ),
    "update": (
        "update",
        "Bring this program to its newest version",
        [
            {"name": "--check", "description": "Only tell whether there is a newer version."},
            {**FORMAT, "description": "Of --check."},
            YES,
            TIMEOUT,
        ],
    ),
    "version": ("version", "Show the version", [FORMAT]),
    "which": (
        "which",
        "Show which file a command runs",
        [_WORDS, {"name": "--all", "description": "What it shadows too."}, FORMAT],
    ),
    "launcher": ("launcher", "Make the launcher anew", [{"name": "path", "required": True}]),
}
_HIDDEN = ("launcher",)  # for install.sh and `self update`


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield CategoryDeclaration(("self",), "self", "Manage this program and its plugins")
    yield CategoryDeclaration(("self", "new"), "new", "Make something new that works at once")
    for words, (place, description, args) in _COMMANDS.items():
        reference = _HERE + (place if ":" in place else f"{place}:command")
        yield CommandDeclaration(
            ("self", *words.split()),
            {
                "name": words,
                "description": description,
                "hidden": words in _HIDDEN,
                "entrypoint": reference,
                "args": args,
            },
        )
