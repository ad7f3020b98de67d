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

    A `file` without `/` is in the current directory. If `typed`, entries get `"type": "stdio"`.
    """

    name: str
    file: str
    key: str = "mcpServers"
    mac_file: str = ""
    typed: bool = False
    toml: bool = False

    def path(self, environ: Mapping[str, str]) -> str:
        """Return the path of the configuration file, for this user or in the current directory."""
        file = self.mac_file if sys.platform == "darwin" and self.mac_file else self.file
        home = environ.get("HOME") or os.path.expanduser("~")
        config = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        return os.path.abspath(file.replace("~/.config", config).replace("~", home))

    def is_here(self, environ: Mapping[str, str]) -> bool:
        """Return whether this assistant seems to be in use: its file or folder exists."""
        path = self.path(environ)
        return (
            os.path.exists(path) if "/" not in self.file else os.path.isdir(os.path.dirname(path))
        )

    def entry(self, argv: Sequence[str]) -> dict[str, Any]:
        kind = {"type": "stdio"} if self.typed else {}
        return {**kind, "command": argv[0], "args": list(argv[1:])}


_LIBRARY = "~/Library/Application Support"
CLIENTS = {
    client.name: client
    for client in (
        Client("claude-code", ".mcp.json", typed=True),
        Client(
            "claude-desktop",
            "~/.config/Claude/claude_desktop_config.json",
            mac_file=f"{_LIBRARY}/Claude/claude_desktop_config.json",
        ),
        Client("codex", "~/.codex/config.toml", key="mcp_servers", toml=True),
        Client("cursor", "~/.cursor/mcp.json"),
        Client("gemini", "~/.gemini/settings.json"),
        Client(
            "vscode",
            "~/.config/Code/User/mcp.json",
            key="servers",
            mac_file=f"{_LIBRARY}/Code/User/mcp.json",
            typed=True,
        ),
        Client("windsurf", "~/.codeium/windsurf/mcp_config.json"),
        Client("zed", "~/.config/zed/settings.json", key="context_servers"),
    )
}


def chosen(names: Sequence[str], environ: Mapping[str, str]) -> list[Client]:
    """Return the clients with these names, or those found on this machine; raises ChoiceError."""
    for name in names:
        if name not in CLIENTS:
            known = ", ".join(CLIENTS)
            raise ChoiceError(f"--client {name}: unknown{closest(name, CLIENTS)}; known: {known}")
    found = [CLIENTS[name] for name in dict.fromkeys(names)]
    if not names:
        found = [client for client in CLIENTS.values() if client.is_here(environ)]
    if not found:
        raise ChoiceError(f"no assistant was found; name one: --client {'|'.join(CLIENTS)}")
    return found
