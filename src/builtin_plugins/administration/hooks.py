"""The `self` commands and their arguments; the module named after the first word runs one.

The module is imported when the command runs. Its function is `command`; `new` has one per kind.
"""

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
_TEXT = argument("text...", required=True, complete="none")
_SHELL = argument("shell", required=True, choices=["bash", "zsh", "fish"])
_DIRECTORY = argument("directory", complete="directory")
_PLUGIN = argument("name", required=True, complete="none")

_ABOUT = free("--description", "TEXT", "A description of one line.")
_ALL = argument("--all", "Also list hidden commands and those for other systems.")
_ALL_SHADOWED = argument("--all", "Also show the files that it hides.")
_CHECK = argument("--check", "Only show whether there is a newer version.")
_DEFINITION = argument("--definition", "Open its command.json instead of its script.")
_FIX = argument("--fix", "Apply the safe remedies.")
_FOLDER = argument("--folder", "Make a folder with a command.json instead of a single script.")
_FROM = {
    **argument("--from", "Copy this script unchanged.", value="FILE", type="file"),
    "conflicts": ["--lang", "--description", "--folder"],
}
_INSTALL = argument("--install", "Set up completion for every new shell.")
_LANGUAGES = ["bash", "python", "node", "sh"]
_LANGUAGE = argument("--lang", "The script's language.", value="LANGUAGE", choices=_LANGUAGES)
_LINT_FORMAT = {**FORMAT, "choices": ["text", "json", "github"]}
_FORMATS = "host.cli.completion:formats"
_LISTING_FORMAT = argument(
    "--format",
    "text, json, tree or a plugin's format.",
    value="FORMAT",
    default="text",
    complete=_FORMATS,
)
_MOVE = argument("--move", "Remove the original script.")
_NAME = free("--name", "NAME", "The program's name; the launcher is DIRECTORY/core/NAME.")
_PURGE = argument("--purge", "Also remove your commands, plugins and settings.")
_PYTHON = argument("--python", "Make a pip package with Python hooks and tests.")
_INTO_PLUGIN = free("--plugin", "NAME", "Write into plugins/NAME.")
_A_PROJECT = argument("--project", "Make a project with an example.", conflicts=["--name"])
_FORGET = argument("--forget", "Stop trusting the project.", conflicts=["--yes"])
_INTO_PROJECT = argument("--project", "Write into the nearest project.", conflicts=["--plugin"])
_PROJECT = argument(
    "directory", "The project's directory; by default the nearest project.", complete="directory"
)
_TRUSTED = argument(
    "--list", "Show the trusted projects.", conflicts=["directory", "--forget", "--yes"]
)
_TRUST_YES = argument("--yes", "Do not ask; the global --yes does not answer this question.")
_RECIPES = argument("file", required=True, type="file", complete="file")
_REFRESH = argument("--update", "Refresh an earlier import; files changed by hand stay.")
_SECRETS = argument("--show-secrets", "Do not mask values of secrets.")
_WHERE = argument(
    "words...", "Category of the commands; by default the tool's name.", complete="none"
)
_TEAM = argument("--from", "A team's git address, archive or directory.", value="SOURCE")
_UNINSTALL = argument("--uninstall", "Undo --install.", conflicts=["--install"])

# The description of each, and its arguments.
_COMMANDS: dict[str, tuple[str, *tuple[dict[str, Any], ...]]] = {
    "completion": ("Complete words with Tab in bash, zsh and fish", _SHELL, _INSTALL, _UNINSTALL),
    "doctor": ("Check this installation", _FIX, FORMAT),
    "edit": ("Open a command's script in your editor", _WORDS, _DEFINITION),
    "env": ("Show where a command's variables come from", _WORDS, _SECRETS, FORMAT),
    "import": (
        "Make commands from a justfile, Makefile or package.json",
        *(_RECIPES, _WHERE, _REFRESH, _INTO_PLUGIN, _INTO_PROJECT, YES),
    ),
    "info": ("Show paths, versions and counts", FORMAT),
    "init": ("Make a complete installation", _DIRECTORY, _NAME, _A_PROJECT, _TEAM, YES, TIMEOUT),
    "launcher": ("Rebuild the launcher", argument("path", required=True)),
    "lint": (
        "Check definitions and scripts",
        argument("directory", type="directory"),
        _LINT_FORMAT,
    ),
    "list": ("List every command", _BELOW, _ALL, _LISTING_FORMAT),
    "lock": ("Rebuild the lock",),
    "new command": (
        "Make a command that runs at once",
        *(_NEW_WORDS, _LANGUAGE, _ABOUT, _FOLDER, _FROM, _MOVE),
    ),
    "new category": ("Make a category for new commands", _NEW_WORDS, _ABOUT),
    "new plugin": ("Make a plugin in a new directory", _PLUGIN, _PYTHON),
    "news": ("Report new commits of the team, and fetch once a day",),
    "publish-installer": ("Print an install.sh for your team", argument("source", complete="none")),
    "search": ("Find commands by name or description", _TEXT, _ALL, _LISTING_FORMAT),
    "sync": ("Update this installation from its team's repository", YES, TIMEOUT),
    "trust": (
        "Trust a project, so that its commands may run",
        *(_PROJECT, _TRUST_YES, _TRUSTED, _FORGET, FORMAT),
    ),
    "uninstall": ("Uninstall this installation; your commands stay", _PURGE, YES),
    "update": ("Update this program", _CHECK, FORMAT, YES, TIMEOUT),
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
    yield CategoryDeclaration(("self", "new"), "new", "Make a command, a category or a plugin")
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
