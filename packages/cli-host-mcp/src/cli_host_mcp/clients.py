"""The supported assistants: their configuration files and the format of an entry."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli_host_mcp.problem import ChoiceError, closest


@dataclass(frozen=True, slots=True)
class Client:
    """An assistant: its configuration `file`, that file's `key` for servers, and format details.

    file       its path; a path that does not begin with `~` is in the current directory, which
               is often a repository that somebody else wrote
    variants   other names of the file in the same folder; one that exists is used
    typed      whether entries get `"type": "stdio"`
    toml       whether the file is TOML and not JSON
    comments   whether the client accepts comments and commas at the end in JSON
    one_list   whether an entry has one list of all words, and `"type": "local"`
    """

    name: str
    file: str
    key: str = "mcpServers"
    mac_file: str = ""
    variants: tuple[str, ...] = ()
    typed: bool = False
    toml: bool = False
    comments: bool = False
    one_list: bool = False

    def path(self, environ: Mapping[str, str]) -> str:
        """Return the path of the configuration file, for this user or in the current directory."""
        file = self.file
        if sys.platform == "darwin" and self.mac_file:
            file = self.mac_file

        home = environ.get("HOME") or os.path.expanduser("~")
        config = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        file = file.replace("~/.config", config)
        file = file.replace("~", home)
        path = os.path.abspath(file)

        for variant in self.variants:
            variant_path = os.path.join(os.path.dirname(path), variant)
            if os.path.exists(variant_path):
                return variant_path
        return path

    @property
    def in_project(self) -> bool:
        """Whether the file is in the current directory."""
        return not self.file.startswith("~")

    def is_here(self, environ: Mapping[str, str]) -> bool:
        """Return whether this assistant seems to be in use: its file or its folder exists."""
        path = self.path(environ)
        if os.path.exists(path):
            return True

        # The folder of `~/.claude.json` is the home directory, which says nothing.
        if self.in_project or self.file.count("/") < 2:
            return False
        folder = os.path.dirname(path)
        return os.path.isdir(folder)

    def entry(self, argv: Sequence[str]) -> dict[str, Any]:
        """Return the entry that makes this client start the server with `argv`."""
        if self.one_list:
            return {"type": "local", "command": list(argv), "enabled": True}

        entry: dict[str, Any] = {"command": argv[0], "args": list(argv[1:])}
        if self.typed:
            entry = {"type": "stdio", **entry}
        return entry

    def argv(self, entry: object) -> list[str]:
        """Return the words of an entry's command line, or [] if it has another form."""
        if not isinstance(entry, dict):
            return []

        command = entry.get("command")
        if self.one_list:
            if not isinstance(command, list):
                return []
            return [str(word) for word in command]

        words = entry.get("args")
        if not isinstance(command, str) or not isinstance(words, list):
            return []
        return [command, *map(str, words)]


_LIBRARY = "~/Library/Application Support"
_VSCODE = "Code/User/mcp.json"
_CLAUDE_DESKTOP = "Claude/claude_desktop_config.json"
CLIENTS = {
    client.name: client
    for client in (
        Client("claude-code", ".mcp.json", typed=True),
        Client("claude-code-user", "~/.claude.json", typed=True),
        Client(
            "claude-desktop",
            f"~/.config/{_CLAUDE_DESKTOP}",
            mac_file=f"{_LIBRARY}/{_CLAUDE_DESKTOP}",
        ),
        Client("codex", "~/.codex/config.toml", key="mcp_servers", toml=True),
        Client("cursor", "~/.cursor/mcp.json"),
        Client("cursor-project", ".cursor/mcp.json"),
        Client("gemini", "~/.gemini/settings.json", comments=True),
        Client(
            "opencode",
            "~/.config/opencode/opencode.json",
            key="mcp",
            variants=("opencode.jsonc",),
            comments=True,
            one_list=True,
        ),
        Client(
            "vscode",
            f"~/.config/{_VSCODE}",
            key="servers",
            mac_file=f"{_LIBRARY}/{_VSCODE}",
            typed=True,
            comments=True,
        ),
        Client(
            "vscode-project",
            ".vscode/mcp.json",
            key="servers",
            typed=True,
            comments=True,
        ),
        Client("windsurf", "~/.codeium/windsurf/mcp_config.json"),
        Client(
            "zed", "~/.config/zed/settings.json", key="context_servers", comments=True
        ),
    )
}


def chosen(names: Sequence[str], environ: Mapping[str, str]) -> list[Client]:
    """Return the clients with these names, or those found on this machine; raises ChoiceError."""
    for name in names:
        if name not in CLIENTS:
            known = ", ".join(CLIENTS)
            near = closest(name, CLIENTS)
            raise ChoiceError(f"--client {name}: unknown{near}; known: {known}")
    if names:
        return [CLIENTS[name] for name in dict.fromkeys(names)]

    # In the home directory, two clients may have one file.
    by_path: dict[str, Client] = {}
    for client in CLIENTS.values():
        if client.is_here(environ):
            by_path.setdefault(client.path(environ), client)
    if not by_path:
        known = "|".join(CLIENTS)
        raise ChoiceError(f"no assistant was found; name one: --client {known}")
    return [*by_path.values()]
