"""The supported assistants: their own commands for servers, or the files where entries belong."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_FOR_USER = ("--scope", "user")
_SERVE_WORDS = 3  # PROGRAM mcp serve


@dataclass(frozen=True, slots=True)
class Client:
    """An assistant, with the command lines of its own program or the place of its file.

    add         returns the command line that adds a server, from the server's name and its argv
    remove      returns the command line that removes a server, from the server's name
    file        for what the client has no command for: its file with the servers of this user
    mac_file    the same on macOS, if it differs
    key         the key of the servers in the file
    one_list    whether an entry has one list of all words, and `"type": "local"`
    """

    name: str
    add: Callable[[str, Sequence[str]], list[str]] | None = None
    remove: Callable[[str], list[str]] | None = None
    file: str = ""
    mac_file: str = ""
    key: str = "mcpServers"
    one_list: bool = False

    def entry(self, name: str, argv: Sequence[str]) -> str:
        """Return the text of a configuration file that has only this server."""
        entry: dict[str, object] = {"command": argv[0], "args": [*argv[1:]]}
        if self.one_list:
            entry = {"type": "local", "command": [*argv], "enabled": True}
        document = {self.key: {name: entry}}
        return json.dumps(document, indent=2, ensure_ascii=False)

    def path(self, environ: Mapping[str, str]) -> str:
        """Return the path of the configuration file."""
        file = self.file
        if sys.platform == "darwin" and self.mac_file:
            file = self.mac_file
        home = environ.get("HOME") or os.path.expanduser("~")
        config = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        file = file.replace("~/.config", config)
        return file.replace("~", home)


def _add_to_claude(name: str, argv: Sequence[str]) -> list[str]:
    return ["claude", "mcp", "add", *_FOR_USER, name, "--", *argv]


def _remove_from_claude(name: str) -> list[str]:
    return ["claude", "mcp", "remove", *_FOR_USER, name]


def _add_to_codex(name: str, argv: Sequence[str]) -> list[str]:
    return ["codex", "mcp", "add", name, "--", *argv]


def _remove_from_codex(name: str) -> list[str]:
    return ["codex", "mcp", "remove", name]


def _add_to_gemini(name: str, argv: Sequence[str]) -> list[str]:
    line = ["gemini", "mcp", "add", *_FOR_USER, name, *argv[:_SERVE_WORDS]]
    options = argv[_SERVE_WORDS:]
    if options:
        # Gemini needs the server's program before `--`, and its options after it.
        line += ["--", *options]
    return line


def _remove_from_gemini(name: str) -> list[str]:
    return ["gemini", "mcp", "remove", *_FOR_USER, name]


def _add_to_vscode(name: str, argv: Sequence[str]) -> list[str]:
    entry = {"name": name, "command": argv[0], "args": [*argv[1:]]}
    return ["code", "--add-mcp", json.dumps(entry, ensure_ascii=False)]


_LIBRARY = "~/Library/Application Support"
_CLAUDE_DESKTOP = "Claude/claude_desktop_config.json"
_VSCODE = "Code/User/mcp.json"
CLIENTS = {
    client.name: client
    for client in (
        Client("claude-code", _add_to_claude, _remove_from_claude),
        Client(
            "claude-desktop",
            file=f"~/.config/{_CLAUDE_DESKTOP}",
            mac_file=f"{_LIBRARY}/{_CLAUDE_DESKTOP}",
        ),
        Client("codex", _add_to_codex, _remove_from_codex),
        Client("cursor", file="~/.cursor/mcp.json"),
        Client("gemini", _add_to_gemini, _remove_from_gemini),
        Client(
            "opencode",
            file="~/.config/opencode/opencode.json",
            key="mcp",
            one_list=True,
        ),
        Client(
            "vscode",
            _add_to_vscode,
            file=f"~/.config/{_VSCODE}",
            mac_file=f"{_LIBRARY}/{_VSCODE}",
            key="servers",
        ),
        Client("windsurf", file="~/.codeium/windsurf/mcp_config.json"),
        Client("zed", file="~/.config/zed/settings.json", key="context_servers"),
    )
}
