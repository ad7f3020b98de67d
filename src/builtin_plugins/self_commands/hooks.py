"""The `self` commands: the arguments of each, and where it is, so that only that is imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from builtin_plugins.self_options import FORMAT, TIMEOUT, YES, argument, free
from host import CategoryDeclaration, CommandDeclaration, hookimpl

_HERE = "builtin_plugins.self_commands."
_HIDDEN = ("launcher",)  # for install.sh and `self update`

_ALL = argument("--all", "Hidden ones and other systems' too.")
_LISTING_FORMAT = argument(
    "--format",
    "text, json, tree or a plugin's.",
    value="FORMAT",
    default="text",
    complete="host.cli.completion:formats",
)
_BELOW = argument("words...", complete="host.cli.completion:command_words")
_WORDS = {**_BELOW, "required": True}
_NEW_WORDS = argument("words...", complete="none")
_ABOUT = free("--description", "TEXT", "What it is for, in a line.")

# Each with its module (and function, where that is not `command`), what it is for, and arguments.
_COMMANDS: dict[str, tuple[str, str, list[dict[str, Any]]]] = {
    "completion": (
        "completion",
        "Complete words with Tab in bash, zsh and fish",
        [
            argument("shell", choices=["bash", "zsh", "fish"]),
            argument("--install", "Load it in every new shell."),
            argument("--uninstall", "Take that away again."),
        ],
    ),
    "doctor": (
        "doctor.command",
        "Look for what is wrong with this installation",
        [argument("--fix", "Apply the remedies that are safe."), FORMAT],
    ),
    "edit": (
        "edit",
        "Open a command's script in your editor",
        [_WORDS, argument("--definition", "Its command.json, not its script.")],
    ),
    "env": (
        "env",
        "Show where a command's variables come from",
        [
            _WORDS,
            argument("--all", "The caller's own variables too."),
            argument("--show-secrets", "Do not mask values of secrets."),
            FORMAT,
        ],
    ),
    "info": ("info", "Show paths, versions and counts", [FORMAT]),
    "init": (
        "init",
        "Make a complete installation",
        [
            argument("directory", complete="directory"),
            free("--name", "NAME", "The program's name; the launcher is DIRECTORY/core/NAME."),
        ],
    ),
    "launcher": ("launcher", "Make the launcher anew", [argument("path", required=True)]),
    "lint": (
        "lint.command",
        "Look for what is wrong in definitions and scripts",
        [
            argument(
                "words...",
                "A directory, or words of a command or category.",
                complete="directory",
            ),
            {**FORMAT, "choices": ["text", "json", "github"]},
        ],
    ),
    "list": ("list", "List every command", [_BELOW, _ALL, _LISTING_FORMAT]),
    "lock": ("lock", "Build the lock anew", []),
    "new command": (
        "new:new_command",
        "Make a command, with a script that runs",
        [
            _NEW_WORDS,
            argument(
                "--lang",
                "What its script is written in.",
                value="LANGUAGE",
                choices=["bash", "python", "node", "sh"],
            ),
            _ABOUT,
        ],
    ),
    "new category": (
        "new:new_category",
        "Make a category, for commands to come",
        [_NEW_WORDS, _ABOUT],
    ),
    "new plugin": (
        "new:new_plugin",
        "Make a plugin in a new directory, here",
        [
            argument("name", required=True, complete="none"),
            argument("--python", "A pip package with hooks in Python and tests."),
        ],
    ),
    "search": (
        "search",
        "Find commands by what they are for",
        [argument("text...", required=True, complete="none"), _ALL, _LISTING_FORMAT],
    ),
    "uninstall": (
        "uninstall",
        "Take this installation away; your commands stay",
        [argument("--purge", "Your commands, plugins and settings, too."), YES],
    ),
    "update": (
        "update",
        "Bring this program to its newest version",
        [
            argument("--check", "Only tell whether there is a newer version."),
            {**FORMAT, "description": "Of --check."},
            YES,
            TIMEOUT,
        ],
    ),
    "version": ("version", "Show the version", [FORMAT]),
    "which": (
        "which",
        "Show which file a command runs",
        [_WORDS, argument("--all", "What it shadows too."), FORMAT],
    ),
}


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield CategoryDeclaration(("self",), "self", "Manage this program and its plugins")
    yield CategoryDeclaration(("self", "new"), "new", "Make something new that works at once")
    for words, (place, description, args) in _COMMANDS.items():
        definition = {
            "name": words,
            "description": description,
            "hidden": words in _HIDDEN,
            "entrypoint": _HERE + (place if ":" in place else f"{place}:command"),
            "args": args,
        }
        yield CommandDeclaration(("self", *words.split()), definition)
