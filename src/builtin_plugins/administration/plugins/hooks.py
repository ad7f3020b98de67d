"""The hooks of plugin management: they reconcile `plugins/` and provide `self plugin`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from builtin_plugins.administration.plugins.reconcile import reconcile_if_free
from builtin_plugins.io.self_options import FORMAT, TIMEOUT, YES, argument, free
from host import CategoryDeclaration, CommandDeclaration, Installation, hookimpl

_HERE = "builtin_plugins.administration.plugins.words."

_NAME = argument("name", required=True, complete=f"{_HERE}name_completion:plugin_names")
_NAMES = {**_NAME, "name": "names...", "required": False}
_SOURCE = argument("source", required=True, complete=f"{_HERE}name_completion:sources")
_DRY_RUN = argument("--dry-run", "Only show what would change.")

# The description of each, and its arguments; its module has the same name.
_COMMANDS: dict[str, tuple[Any, ...]] = {
    "add": (
        "Add a plugin from a directory, git, an archive, pip or a catalogue",
        _SOURCE,
        free("--ref", "REF", "A branch, tag or commit of a git repository."),
        free("--name", "NAME", "Name of the plugin in this installation."),
        free("--sha256", "HASH", "The expected SHA-256 of the archive or wheel."),
        free("--prefix", "TEXT", "Add only scripts whose names begin with TEXT; drop TEXT."),
        free("--split", "TEXT", "Separator of the words in the names of scripts."),
        argument("--ssh", "Clone user/repo over ssh."),
        argument("--gitlab", "user/repo is on GitLab."),
        argument("--bitbucket", "user/repo is on Bitbucket.", conflicts=["--gitlab"]),
        argument("--team", "Record the plugin in registry.json, for the whole team."),
        argument("--force", "Add the plugin even if another command has the same words."),
        YES,
        TIMEOUT,
    ),
    "list": ("List all plugins", FORMAT),
    "search": (
        "Find plugins in the catalogues that cli.json names",
        argument("text...", complete="none"),
        FORMAT,
        TIMEOUT,
    ),
    "show": ("Show everything about a plugin", _NAME, FORMAT),
    "update": ("Update plugins to their newest versions", _NAMES, _DRY_RUN, YES, TIMEOUT),
    "rollback": ("Go back to an earlier version", _NAME, argument("version", complete="none")),
    "remove": ("Remove a plugin", _NAME, YES),
    "enable": ("Enable a plugin", _NAME),
    "disable": ("Disable a plugin, but keep its files", _NAME),
    "sync": (
        "Add the plugins that a shared registry lists",
        argument("file"),
        _DRY_RUN,
        YES,
        TIMEOUT,
    ),
}
_ELSEWHERE = {"enable": "enable_disable:enable", "disable": "enable_disable:disable"}
# What people type instead, after the program's name or after `self`.
_SYNONYMS = {
    "add": ("install", "add", "plugin install"),
    "list": ("plugins", "plugin ls"),
    "remove": ("remove", "rm", "plugin rm", "plugin uninstall"),
    "show": ("plugin info",),
    "sync": ("sync",),
    "update": ("plugin upgrade",),
}


@hookimpl
def prepare(installation: Installation) -> None:
    reconcile_if_free(installation.plugins_dir)


@hookimpl
def discover_commands() -> Iterator[CategoryDeclaration | CommandDeclaration]:
    about = "Add, list, update and remove plugins"
    yield CategoryDeclaration(("self", "plugin"), "plugin", about)
    for word, (description, *args) in _COMMANDS.items():
        place = _HERE + _ELSEWHERE.get(word, f"{word}:command")
        definition = {
            "name": word,
            "description": description,
            "entrypoint": place,
            "args": args,
            "x-synonyms": _SYNONYMS.get(word, ()),
        }
        yield CommandDeclaration(("self", "plugin", word), definition)
