"""The `self` commands: what each takes. The module of its first word does it.

That is imported when the command runs: its function `command`, of `new` one for each kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from builtin_plugins.io.self_options import FORMAT, TIMEOUT, YES, argument, free
from host import CategoryDeclaration, CommandDeclaration, hookimpl

_HERE = "builtin_plugins.administration."
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

# Each with what it is for, and its arguments.
_COMMANDS: dict[str, tuple[str, *tuple[dict[str, Any], ...]]] = {
    "completion": (
        "Complete words with Tab in bash, zsh and fish",
        argument("shell", choices=["bash", "zsh", "fish"]),
        argument("--install", "Load it in every new shell."),
        argument("--uninstall", "Take that away again."),
    ),
    "doctor": (
        "Look for what is wrong with this installation",
        argument("--fix", "Apply the remedies that are safe."),
        FORMAT,
    ),
    "edit": (
        "Open a command's script in your editor",
        _WORDS,
        argument("--definition", "Its command.json, not its script."),
    ),
    "env": (
        "Show where a command's variables come from",
        _WORDS,
        argument("--all", "The caller's own variables too."),
        argument("--show-secrets", "Do not mask values of secrets."),
        FORMAT,
    ),
    "info": ("Show paths, versions and counts", FORMAT),
    "init": (
        "Make a complete installation",
        argument("directory", complete="directory"),
        free("--name", "NAME", "The program's name; the launcher is DIRECTORY/core/NAME."),
    ),
    "launcher": ("Make the launcher anew", argument("path", required=True)),
    "lint": (
        "Look for what is wrong in definitions and scripts",
        argument(
            "words...", "A directory, or words of a command or category.", complete="directory"
        ),
        {**FORMAT, "choices": ["text", "json", "github"]},
    ),
    "list": ("List every command", _BELOW, _ALL, _LISTING_FORMAT),
    "lock": ("Build the lock anew",),
    "new command": (
        "Make a command: a script that runs",
        _NEW_WORDS,
        argument(
            "--lang",
            "What its script is written in.",
            value="LANGUAGE",
            choices=["bash", "python", "node", "sh"],
        ),
        _ABOUT,
        argument("--folder", "A folder with a command.json, not a script."),
        argument("--from", "A script of yours, taken as it is.", value="FILE", complete="file"),
        argument("--move", "Remove that script then."),
    ),
    "new category": ("Make a category, for commands to come", _NEW_WORDS, _ABOUT),
    "new plugin": (
        "Make a plugin in a new directory, here",
        argument("name", required=True, complete="none"),
        argument("--python", "A pip package with hooks in Python and tests."),
    ),
    "search": (
        "Find commands by what they are for",
        argument("text...", required=True, complete="none"),
        _ALL,
        _LISTING_FORMAT,
    ),
    "uninstall": (
        "Take this installation away; your commands stay",
        argument("--purge", "Your commands, plugins and settings, too."),
        YES,
    ),
    "update": (
        "Bring this program to its newest version",
        argument("--check", "Only tell whether there is a newer version."),
        {**FORMAT, "description": "Of --check."},
        YES,
        TIMEOUT,
    ),
    "version": ("Show the version", FORMAT),
    "which": (
        "Show which file a command runs",
        _WORDS,
        argument("--all", "What it shadows too."),
        FORMAT,
    ),
}

# What people type instead, behind the program's name or behind `self`.
_SYNONYMS = {
    "completion": ("completions",),
    "doctor": ("check", "diagnose", "status", "health", "fix"),
    "edit": ("open",),
    "env": ("vars", "variables", "environment", "settings"),
    "info": ("config", "paths", "about", "show"),
    "init": ("setup",),
    "lint": ("validate", "fmt", "format"),
    "list": ("ls", "commands", "all", "tasks"),
    "new category": ("new group",),
    "new command": ("create", "generate", "scaffold", "make", "new task", "new script"),
    "new plugin": ("new package",),
    "search": ("find", "grep", "lookup"),
    "uninstall": ("delete",),
    "update": ("upgrade", "selfupdate", "self-update"),
    "which": ("where", "whereis", "path", "type"),
}


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield CategoryDeclaration(("self",), "self", "Manage this program and its plugins")
    yield CategoryDeclaration(("self", "new"), "new", "Make something new that works at once")
    for words, (description, *args) in _COMMANDS.items():
        module, _, kind = words.partition(" ")
        definition = {
            "name": words,
            "description": description,
            "hidden": words in _HIDDEN,
            "entrypoint": f"{_place(module)}:{f'{module}_{kind}' if kind else 'command'}",
            "args": args,
            "x-synonyms": _SYNONYMS.get(words, ()),
        }
        yield CommandDeclaration(("self", *words.split()), definition)


def _place(module: str) -> str:
    return _HERE + ("program." if module == "launcher" else "words.") + module
