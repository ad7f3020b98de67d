"""The `self` commands and their arguments.

A command runs the function `command` in the module of the same name. _ELSEWHERE lists the
exceptions.
"""

from collections.abc import Iterator
from typing import Any

from host import CategoryDeclaration, CommandDeclaration, hookimpl


def argument(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    """Return the declaration of an argument, in the form of an item of `args` in command.json."""
    return {"name": name, "description": description, **more}


def text(name: str, value: str, description: str) -> dict[str, Any]:
    """Return the declaration of an option that takes any text, shown as `value` in the help."""
    return argument(name, description, value=value, complete="none")


_HERE = "builtin_plugins.administration"
_ELSEWHERE = {  # entrypoints in other modules, relative to _HERE
    "import": "commands.import_:command",
    "launcher": "program.launcher:command",
    "new category": "commands.new:new_category",
    "new command": "commands.new:new_command",
    "new plugin": "commands.new:new_plugin",
    "news": "program.news:command",
    "plugin disable": "plugins.commands.enable_disable:disable",
    "plugin enable": "plugins.commands.enable_disable:enable",
}
# install.sh and `self update` run `launcher`; listings run `news` last.
_HIDDEN = ("launcher", "news")

FORMAT = argument("--format", value="FORMAT", choices=["text", "json"], default="text")
YES = argument("--yes", "Do not ask.")
TIMEOUT = {
    **argument("--timeout", "The time limit for each download.", value="SECONDS", type="number"),
    "pattern": "[0-9.]{1,6}",
    "default": "600",
}
_WORDS = argument("words...", required=True, complete="host.cli.completion:command_words")
_NEW_WORDS = {**_WORDS, "complete": "none"}
_TEXT = argument("text...", required=True, complete="none")
_SHELL = argument("shell", required=True, choices=["bash", "zsh", "fish", "nushell", "elvish"])
_DIRECTORY = argument("directory", complete="directory")
_NEW_PLUGIN = argument("name", required=True, complete="none")
_PLUGIN = {**_NEW_PLUGIN, "complete": f"{_HERE}.plugins.commands.name_completion:plugin_names"}
_PLUGINS = {**_PLUGIN, "name": "names...", "required": False}
_SOURCES = f"{_HERE}.plugins.commands.name_completion:sources"
_SOURCE = argument("source", required=True, complete=_SOURCES)

_ABOUT = text("--description", "TEXT", "A one-line description.")
_ALL = argument("--all", "Also list hidden commands and those for other systems.")
_ALL_SHADOWED = argument("--all", "Also show the shadowed commands of the same name.")
_CHECK = argument("--check", "Only show whether there is a newer version.")
_DEFINITION = argument("--definition", "Open the command.json instead of the script.")
_FOLDER = argument("--folder", "Make a folder with a command.json instead of a single script.")
_FROM = {
    **argument("--from", "Copy this script unchanged.", value="FILE", type="file"),
    "conflicts": ["--lang", "--description", "--folder"],
}
_INSTALL = argument("--install", "Set up completion for every new shell.")
_KEY = argument(
    "--key", "Also bind Ctrl-G to `self pick`, which puts a command line into the prompt."
)
_LANGUAGES = ["bash", "python", "node", "sh"]
_LANGUAGE = argument("--lang", "The script's language.", value="LANGUAGE", choices=_LANGUAGES)
_LINT_FORMAT = {**FORMAT, "choices": ["text", "json", "github"]}
_LISTING_FORMAT = {
    **argument("--format", "text, json, tree or a plugin's format.", value="FORMAT"),
    "default": "text",
    "complete": "host.cli.completion:formats",
}
_MOVE = argument("--move", "Remove the original script.")
_NAME = text("--name", "NAME", "The program's name; the launcher is DIRECTORY/core/NAME.")
_DRY_RUN = argument("--dry-run", "Only show what would change.")
_PURGE = argument("--purge", "Also remove your commands, plugins and settings.")
_PYTHON = argument("--python", "Make a pip package with Python hooks and tests.")
_INTO_PLUGIN = text("--plugin", "NAME", "Write the commands into plugins/NAME.")
_A_PROJECT = argument(
    "--project", "Make a project with an example.", conflicts=["--name", "--from"]
)
_FORGET = argument("--forget", "Stop trusting the project.", conflicts=["--yes"])
_INTO_PROJECT = argument(
    "--project", "Write the commands into the nearest project.", conflicts=["--plugin"]
)
_PROJECT = argument("directory", "A project (default: the nearest one).", complete="directory")
_TRUSTED = argument(
    "--list", "Show the trusted projects.", conflicts=["directory", "--forget", "--yes"]
)
_TRUST_YES = argument("--yes", "Do not ask; the global --yes does not answer this question.")
_RECIPES = argument("file", required=True, type="file", complete="file")
_REFRESH = argument("--update", "Update an earlier import, except scripts that you changed.")
_EVERYTHING = argument("--verbose", "List all names, and the tags that have no meaning here.")
_EVERY = argument("--all", "Also show the variables that only your environment sets.")
_SECRETS = argument("--show-secrets", "Do not mask the values of secrets.")
_WHERE = argument("words...", "The category (default: the tool's name).", complete="none")
_TEAM = argument("--from", "A team's git address, archive or directory.", value="SOURCE")
_UNINSTALL = argument("--uninstall", "Undo --install.", conflicts=["--install", "--key"])

# The description and the arguments of each command.
_COMMANDS: dict[str, tuple[Any, ...]] = {
    "completion": ("Set up Tab completion for your shell", _SHELL, _INSTALL, _UNINSTALL, _KEY),
    "doctor": ("Check this installation", argument("--fix", "Apply safe fixes."), FORMAT),
    "edit": ("Open a command's script in your editor", _WORDS, _DEFINITION),
    "env": ("Show where a command's variables come from", _WORDS, _EVERY, _SECRETS, FORMAT),
    "import": (
        "Make commands from a justfile, Makefile or package.json",
        *(_RECIPES, _WHERE, _REFRESH, _INTO_PLUGIN, _INTO_PROJECT, YES),
    ),
    "info": ("Show paths, versions and the number of commands", FORMAT),
    "init": ("Make a complete installation", _DIRECTORY, _NAME, _A_PROJECT, _TEAM, YES, TIMEOUT),
    "launcher": ("Rebuild the launcher", argument("path", required=True)),
    "lint": (
        "Check definitions and scripts",
        *(argument("directory", type="directory"), _LINT_FORMAT, _EVERYTHING),
    ),
    "list": ("List every command", {**_WORDS, "required": False}, _ALL, _LISTING_FORMAT),
    "lock": ("Rebuild the lock",),
    "new command": (
        "Make a working command",
        *(_NEW_WORDS, _LANGUAGE, _ABOUT, _FOLDER, _FROM, _MOVE),
    ),
    "new category": ("Make a category for new commands", _NEW_WORDS, _ABOUT),
    "new plugin": ("Make a plugin in a new directory", _NEW_PLUGIN, _PYTHON),
    "news": ("Report new commits in the team's repository (checked once a day)",),
    "plugin add": (
        "Add a plugin from a directory, git, an archive, pip or a catalogue",
        _SOURCE,
        {
            **text("--ref", "REF", "A branch, tag or commit of a git repository."),
            "pattern": ".*",
        },
        text("--name", "NAME", "The name of the plugin in this installation."),
        text("--sha256", "HASH", "The expected SHA-256 of the archive or wheel."),
        text("--prefix", "TEXT", "Add only scripts with the prefix TEXT; command names omit it."),
        text("--split", "TEXT", "The separator of the words in a script's name."),
        text("--under", "WORDS", "Add all commands below this category."),
        argument("--no-path", "Do not append the directory of plain scripts to PATH."),
        argument("--ssh", "Clone user/repo over ssh."),
        argument("--gitlab", "Clone user/repo from GitLab."),
        argument("--bitbucket", "Clone user/repo from Bitbucket.", conflicts=["--gitlab"]),
        argument("--team", "Record the plugin in registry.json, for the whole team."),
        argument("--force", "Add the plugin even if it defines an existing command."),
        YES,
        argument("--verbose", "List every command and every file that is left out."),
        TIMEOUT,
    ),
    "plugin list": ("List all plugins", FORMAT),
    "plugin search": (
        "Find plugins in the catalogues that cli.json names",
        *(argument("text...", complete="none"), FORMAT, TIMEOUT),
    ),
    "plugin show": ("Show everything about a plugin", _PLUGIN, FORMAT),
    "plugin update": ("Update plugins to their newest versions", _PLUGINS, _DRY_RUN, YES, TIMEOUT),
    "plugin rollback": (
        "Return a plugin to an earlier version",
        *(_PLUGIN, argument("version", complete="none")),
    ),
    "plugin remove": ("Remove a plugin", _PLUGIN, YES),
    "plugin enable": ("Enable a plugin", _PLUGIN),
    "plugin disable": ("Disable a plugin, but keep its files", _PLUGIN),
    "plugin sync": (
        "Add the plugins that a shared registry lists",
        *(argument("file"), _DRY_RUN, YES, TIMEOUT),
    ),
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

# Synonyms that users type after the program's name or `self`; the error suggests the command.
_SYNONYMS = {
    "doctor": ("check", "diagnose", "status", "health", "fix"),
    "init": ("setup",),
    "list": ("ls", "commands", "all", "tasks"),
    "new command": ("create", "generate", "scaffold", "make", "new task", "new script"),
    "plugin add": ("install", "plugin install"),
    "plugin list": ("plugins", "plugin ls"),
    "plugin remove": ("rm", "plugin rm", "plugin uninstall"),
    "plugin show": ("plugin info",),
    "plugin update": ("plugin upgrade",),
    "update": ("upgrade", "selfupdate", "self-update"),
}


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    yield CategoryDeclaration(("self",), "self", "Manage this program and its plugins")
    yield CategoryDeclaration(("self", "new"), "new", "Make a command, a category or a plugin")
    yield CategoryDeclaration(("self", "plugin"), "plugin", "Add, list, update and remove plugins")
    for name, (description, *arguments) in _COMMANDS.items():
        words = name.split()
        package = "plugins.commands" if words[0] == "plugin" else "commands"
        usual = f"{package}.{words[-1].replace('-', '_')}:command"
        definition = {
            "name": name,
            "description": description,
            "hidden": name in _HIDDEN,
            "entrypoint": f"{_HERE}.{_ELSEWHERE.get(name, usual)}",
            "args": arguments,
            "x-synonyms": _SYNONYMS.get(name, ()),
        }
        yield CommandDeclaration(("self", *words), definition)
