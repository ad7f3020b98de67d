"""The `self` commands: where each is, so that only the one that is called gets imported."""

from __future__ import annotations

from collections.abc import Iterator

from host import CommandDeclaration, hookimpl

_COMMANDS = {
    "completion": "Complete words with Tab in bash, zsh and fish",
    "doctor": "Look for what is wrong with this installation",
    "edit": "Open a command's script in your editor",
    "env": "Show where a command's variables come from",
    "info": "Show paths, versions and counts",
    "init": "Make a complete installation",
    "lint": "Look for what is wrong in definitions and scripts",
    "list": "List every command",
    "new": "Make a new command, category or plugin",
    "plugin": "Add, list, update and remove plugins",
    "lock": "Build the lock anew",
    "search": "Find commands by what they are for",
    "uninstall": "Take this installation away; your commands stay",
    "update": "Bring this program to its newest version",
    "version": "Show the version",
    "which": "Show which file a command runs",
}

_HIDDEN = {"launcher": "Make the launcher anew"}  # for install.sh and `self update`
_HERE = "builtin_plugins.self_commands."
_ELSEWHERE = {
    "doctor": f"{_HERE}doctor.command",
    "lint": f"{_HERE}lint.command",
    "plugin": "builtin_plugins.plugin_commands.group",
}


@hookimpl
def discover_commands() -> Iterator[CommandDeclaration]:
    for word, description in {**_COMMANDS, **_HIDDEN}.items():
        yield CommandDeclaration(
            ("self", word),
            {
                "name": word,
                "description": description,
                "hidden": word in _HIDDEN,
                "entrypoint": f"{_ELSEWHERE.get(word, _HERE + word)}:command",
                "x-complete": f"{_HERE}completion_table:complete",
            },
        )
