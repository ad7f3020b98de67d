"""The `self` commands: what each takes. The module of its first word does it.

The module is imported when the command runs. Its function is `command`, of `new` one for each kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword
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
_NEW_WORDS = argument("words...", required=True, complete="none")
_ABOUT = free("--description", "TEXT", "What it is for, in a line.")
_SHELL = argument("shell", choices=["bash", "zsh", "fish"])
_LANGUAGE = argument(
    "--lang",
    "What its script is written in.",
    value="LANGUAGE",
    choices=["bash", "python", "node", "sh"],
    default="bash",
)
_LINTED = argument(
    "words...", "A directory, or words of a command or category.", complete="directory"
)

# Each with what it is for, what people type instead, and its arguments.
_COMMANDS: dict[str, tuple[str, list[str], list[dict[str, Any]]]] = {
    "completion": (
        "Complete words with Tab in bash, zsh and fish",
        ["completions"],
        [
            _SHELL,
            argument("--install", "Load it in every new shell."),
            argument("--uninstall", "Take that away again."),
        ],
    ),
    "doctor": (
        "Look for what is wrong with this installation",
        ["check", "diagnose", "status", "health", "fix"],
        [argument("--fix", "Apply the remedies that are safe."), FORMAT],
    ),
    "edit": (
        "Open a command's script in your editor",
        ["open"],
        [_WORDS, argument("--definition", "Its command.json, not its script.")],
    ),
    "env": (
        "Show where a command's variables come from",
        ["vars", "variables", "environment", "settings"],
        [
            _WORDS,
            argument("--all", "The caller's own variables too."),
            argument("--show-secrets", "Do not mask values of secrets."),
            FORMAT,
        ],
    ),
    "import": (
        "Make the recipes of a justfile, Makefile or package.json commands",
        ["convert", "migrate", "adopt"],
        [
            argument("file", required=True, type="file", complete="file"),
            argument("words...", "Where; by default the tool's name.", complete="none"),
            argument("--update", "Refresh an earlier import; files changed by hand stay."),
            free("--plugin", "NAME", "Write into plugins/NAME."),
            argument("--project", "Write into the nearest project.", conflicts=["--plugin"]),
            YES,
        ],
    ),
    "info": ("Show paths, versions and counts", ["config", "paths", "about", "show"], [FORMAT]),
    "init": (
        "Make a complete installation",
        ["setup"],
        [
            argument("directory", complete="directory"),
            free("--name", "NAME", "The program's name; the launcher is DIRECTORY/core/NAME."),
            argument(
                "--project",
                "Make a project with an example instead, by default here.",
                conflicts=["--name"],
            ),
        ],
    ),
    "launcher": ("Make the launcher anew", [], [argument("path", required=True)]),
    "lint": (
        "Look for what is wrong in definitions and scripts",
        ["validate", "fmt", "format"],
        [_LINTED, {**FORMAT, "choices": ["text", "json", "github"]}],
    ),
    "list": (
        "List every command",
        ["ls", "commands", "all", "tasks"],
        [_BELOW, _ALL, _LISTING_FORMAT],
    ),
    "lock": ("Build the lock anew", [], []),
    "new command": (
        "Make a command, with a script that runs",
        ["create", "generate", "scaffold", "make", "new task", "new script"],
        [_NEW_WORDS, _LANGUAGE, _ABOUT],
    ),
    "new category": ("Make a category, for commands to come", ["new group"], [_NEW_WORDS, _ABOUT]),
    "new plugin": (
        "Make a plugin in a new directory, here",
        ["new package"],
        [
            argument("name", required=True, complete="none"),
            argument("--python", "A pip package with hooks in Python and tests."),
        ],
    ),
    "search": (
        "Find commands by what they are for",
        ["find", "grep", "lookup"],
        [argument("text...", required=True, complete="none"), _ALL, _LISTING_FORMAT],
    ),
    "trust": (
        "Let the commands of a project run",
        ["allow", "untrust"],
        [
            argument("directory", "By default the nearest project.", complete="directory"),
            argument("--yes", "Do not ask; the only --yes that answers this question."),
            argument("--list", "Show the trusted projects.", conflicts=["--forget", "--yes"]),
            argument("--forget", "Trust the project no longer.", conflicts=["--yes"]),
            {**FORMAT, "description": "Of --list."},
        ],
    ),
    "uninstall": (
        "Take this installation away; your commands stay",
        ["delete"],
        [argument("--purge", "Your commands, plugins and settings, too."), YES],
    ),
    "update": (
        "Bring this program to its newest version",
        ["upgrade", "selfupdate", "self-update"],
        [
            argument("--check", "Only show whether there is a newer version."),
            {**FORMAT, "description": "Of --check."},
            YES,
            TIMEOUT,
        ],
    ),
    "version": ("Show the version", [], [FORMAT]),
    "which": (
        "Show which file a command runs",
        ["where", "whereis", "path", "type"],
        [_WORDS, argument("--all", "What it shadows too."), FORMAT],
    ),
}


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield CategoryDeclaration(("self",), "self", "Manage this program and its plugins")
    yield CategoryDeclaration(("self", "new"), "new", "Make something new that works at once")
    for words, (description, synonyms, arguments) in _COMMANDS.items():
        module, _, kind = words.partition(" ")
        folder = "program." if words in _HIDDEN else "words."
        module += "_" * iskeyword(module)
        definition = {
            "name": words,
            "description": description,
            "hidden": words in _HIDDEN,
            "entrypoint": f"{_HERE}{folder}{module}:{f'{module}_{kind}' if kind else 'command'}",
            "args": arguments,
            "x-synonyms": synonyms,
        }
        yield CommandDeclaration(("self", *words.split()), definition)
