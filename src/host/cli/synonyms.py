"""What other programs call what `self` does, and how they start a command."""

from __future__ import annotations

# Words of `self` by what people type instead, at the top or behind `self`.
_SELF = {
    **dict.fromkeys(["ls", "commands", "all", "tasks"], "list"),
    **dict.fromkeys(["find", "grep", "lookup"], "search"),
    **dict.fromkeys(["upgrade", "selfupdate", "self-update"], "update"),
    **dict.fromkeys(["create", "generate", "scaffold", "make"], "new command"),
    **dict.fromkeys(["check", "diagnose", "status", "health", "fix"], "doctor"),
    **dict.fromkeys(["validate", "fmt", "format"], "lint"),
    **dict.fromkeys(["where", "whereis", "path", "type"], "which"),
    **dict.fromkeys(["config", "paths", "about", "show"], "info"),
    **dict.fromkeys(["vars", "variables", "environment", "settings"], "env"),
    **dict.fromkeys(["install", "add"], "plugin add"),
    **dict.fromkeys(["remove", "rm"], "plugin remove"),
    "plugins": "plugin list",
    "sync": "plugin sync",
    "open": "edit",
    "completions": "completion",
    "setup": "init",
    "delete": "uninstall",
}
# By the words of the category; those behind them.
OWN_VERBS = {
    ("self",): _SELF,
    ("self", "new"): {
        **dict.fromkeys(["task", "script"], "command"),
        "group": "category",
        "package": "plugin",
    },
    ("self", "plugin"): {
        **dict.fromkeys(["install", "get", "link", "new"], "add"),
        **dict.fromkeys(["rm", "uninstall", "delete", "del", "unlink"], "remove"),
        **dict.fromkeys(["info", "view"], "show"),
        **dict.fromkeys(["revert", "downgrade"], "rollback"),
        "ls": "list",
        "upgrade": "update",
    },
}
# Before the words of a command elsewhere; here the words alone run it.
RUN_VERBS = frozenset(["run", "exec", "execute", "x", "task", "start", "do"])
