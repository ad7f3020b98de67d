"""The `self` commands and their arguments; the module named after the first word runs one.

The module is imported when the command runs. Its function is `command`; `new` has one per kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword
from typing import Any

from builtin_plugins.io.self_options import FORMAT, TIMEOUT, YES, argument, free
from host import CategoryDeclaration, CommandDeclaration, hookimpl

# `launcher` is for install.sh and `self update`, `news` for the end of listings.
_HIDDEN = ("launcher", "news")

_WORDS = argument("words...", required=True, complete="host.cli.completion:command_words")
_BELOW = {**_WORDS, "required": False}
_NEW_WORDS = {**_WORDS, "complete": "none"}
_LINTED = argument("words...", "A directory, or words of a command.", complete="directory")
_TEXT = argument("text...", required=True, complete="none")
_SHELL = argument("shell", choices=["bash", "zsh", "fish"])
_DIRECTORY = argument("directory", complete="directory")
_PLUGIN = argument("name", required=True, complete="none")

_ABOUT = free("--description", "TEXT", "What it is for, in a line.")
_ALL = argument("--all", "Hidden ones and other systems' too.")
_ALL_SHADOWED = argument("--all", "What it shadows too.")
_ALL_VARIABLES = argument("--all", "The caller's own variables too.")
_CHECK = argument("--check", "Only show whether there is a newer version.")
_DEFINITION = argument("--definition", "Its command.json, not its script.")
_DRY_RUN = argument("--dry-run", "Only show what would change.")
_FIX = argument("--fix", "Apply the remedies that are safe.")
_FOLDER = argument("--folder", "A folder with a command.json, not a script.")
_FROM = {
    **argument("--from", "A script of yours, taken as it is.", value="FILE", type="file"),
    "conflicts": ["--lang", "--description", "--folder"],
}
_INSTALL = argument("--install", "Load it in every new shell.")
_LANGUAGES = ["bash", "python", "node", "sh"]
_LANGUAGE = argument("--lang", "The script's language.", value="LANGUAGE", choices=_LANGUAGES)
_LINT_FORMAT = {**FORMAT, "choices": ["text", "json", "github"]}
_FORMATS = "host.cli.completion:formats"
_LISTING_FORMAT = argument(
    "--format", "text, json, tree or a plugin's.", value="FORMAT", default="text", complete=_FORMATS
)
_MOVE = argument("--move", "Remove that script then.")
_NAME = free("--name", "NAME", "The program's name; the launcher is DIRECTORY/core/NAME.")
_PURGE = argument("--purge", "Your commands, plugins and settings, too.")
_PYTHON = argument("--python", "A pip package with hooks in Python and tests.")
_INTO_PLUGIN = free("--plugin", "NAME", "Write into plugins/NAME.")
_A_PROJECT = argument("--project", "Make a project with an example.", conflicts=["--name"])
_FORGET = argument("--forget", "Trust the project no longer.", conflicts=["--yes"])
_INTO_PROJECT = argument("--project", "Write into the nearest project.", conflicts=["--plugin"])
_PROJECT = argument("directory", "By default the nearest project.", complete="directory")
_TRUSTED = argument("--list", "Show the trusted projects.", conflicts=["--forget", "--yes"])
_TRUST_YES = argument("--yes", "Do not ask; the only --yes that answers this question.")
_RECIPES = argument("file", required=True, type="file", complete="file")
_REFRESH = argument("--update", "Refresh an earlier import; files changed by hand stay.")
_SECRETS = argument("--show-secrets", "Do not mask values of secrets.")
_WHERE = argument("words...", "Where; by default the tool's name.", complete="none")
_TEAM = argument("--from", "A team's git address, archive or directory.", value="SOURCE")
_UNINSTALL = argument("--uninstall", "Take that away again.", conflicts=["--install"])

# The description of each, and its arguments.
_COMMANDS: dict[str, tuple[str, *tuple[dict[str, Any], ...]]] = {
    "completion": ("Complete words with Tab in bash, zsh and fish", _SHELL, _INSTALL, _UNINSTALL),
    "doctor": ("Look for what is wrong with this installation", _FIX, FORMAT),
    "edit": ("Open a command's script in your editor", _WORDS, _DEFINITION),
    "env": ("Show where a command's variables come from", _WORDS, _ALL_VARIABLES, _SECRETS, FORMAT),
    "import": (
        "Make commands of a justfile, Makefile or package.json",
        *(_RECIPES, _WHERE, _REFRESH, _INTO_PLUGIN, _INTO_PROJECT, YES),
    ),
    "info": ("Show paths, versions and counts", FORMAT),
    "init": ("Make a complete installation", _DIRECTORY, _NAME, _A_PROJECT, _TEAM, YES, TIMEOUT),
    "launcher": ("Make the launcher anew", argument("path", required=True)),
    "lint": ("Look for what is wrong in definitions and scripts", _LINTED, _LINT_FORMAT),
    "list": ("List every command", _BELOW, _ALL, _LISTING_FORMAT),
    "lock": ("Build the lock anew",),
    "new command": (
        "Make a command: a script that runs",
        *(_NEW_WORDS, _LANGUAGE, _ABOUT, _FOLDER, _FROM, _MOVE),
    ),
    "new category": ("Make a category, for commands to come", _NEW_WORDS, _ABOUT),
    "new plugin": ("Make a plugin in a new directory, here", _PLUGIN, _PYTHON),
    "news": ("Mention news of the repository, and look for more once a day",),
    "publish-installer": ("Print an install.sh for your team", argument("source", complete="none")),
    "search": ("Find commands by what they are for", _TEXT, _ALL, _LISTING_FORMAT),
    "sync": ("Bring this installation to what its team has now", _DRY_RUN, YES, TIMEOUT),
    "trust": (
        "Let the commands of a project run",
        *(_PROJECT, _TRUST_YES, _TRUSTED, _FORGET, FORMAT),
    ),
    "uninstall": ("Take this installation away; your commands stay", _PURGE, YES),
    "update": ("Bring this program to its newest version", _CHECK, FORMAT, YES, TIMEOUT),
    "version": ("Show the version", FORMAT),
    "which": ("Show which file a command runs", _WORDS, _ALL_SHADOWED, FORMAT),
}

# What people type instead, after the program's name or after `self`.
_SYNONYMS = {
    "doctor": ("check", "diagnose", "status", "health", "fix"),
    "init": ("setup",),
    "list": ("ls", "commands", "all", "tasks"),
    "new command": ("create", "generate", "scaffold", "make", "new task", "new script"),
    "update": ("upgrade", "selfupdate", "self-update"),
}


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield CategoryDeclaration(("self",), "self", "Manage this program and its plugins")
    yield CategoryDeclaration(("self", "new"), "new", "Make something new that works at once")
    for words, (description, *arguments) in _COMMANDS.items():
        module, _, kind = words.partition(" ")
        module = module.replace("-", "_") + "_" * iskeyword(module)
        place = f"administration.{'program' if words in _HIDDEN else 'words'}.{module}"
        definition = {
            "name": words,
            "description": description,
            "hidden": words in _HIDDEN,
            "entrypoint": f"builtin_plugins.{place}:{f'{module}_{kind}' if kind else 'command'}",
            "args": arguments,
            "x-synonyms": _SYNONYMS.get(words, ()),
        }
        yield CommandDeclaration(("self", *words.split()), definition)
