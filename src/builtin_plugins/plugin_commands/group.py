"""`self plugin`: the way to the commands that manage plugins."""

from __future__ import annotations

from host.cli.plain_command import Group

_HERE = "builtin_plugins.plugin_commands."

command = Group(
    "Add, list, update and remove plugins.",
    {
        "add": (f"{_HERE}add:command", "Add a plugin from a directory, git, an archive or pip"),
        "list": (f"{_HERE}list:command", "List all plugins"),
        "show": (f"{_HERE}show:command", "Show all about one plugin"),
        "update": (f"{_HERE}update:command", "Bring plugins to their newest version"),
        "rollback": (f"{_HERE}rollback:command", "Go back to an earlier version"),
        "remove": (f"{_HERE}remove:command", "Remove a plugin"),
        "enable": (f"{_HERE}switch:enable", "Switch a plugin on"),
        "disable": (f"{_HERE}switch:disable", "Switch a plugin off, keep its files"),
        "sync": (f"{_HERE}sync:command", "Bring in what a shared registry lists"),
    },
    {
        **dict.fromkeys(["install", "get", "link", "new"], "add"),
        **dict.fromkeys(["rm", "uninstall", "delete", "del", "unlink"], "remove"),
        **dict.fromkeys(["info", "view"], "show"),
        **dict.fromkeys(["revert", "downgrade"], "rollback"),
        "ls": "list",
        "upgrade": "update",
    },
)
