"""The four commands that the package adds to a program, written in Python."""

from __future__ import annotations

from collections.abc import Iterator

from host import CategoryDeclaration, CommandDeclaration, Installation, hookimpl


@hookimpl
def discover_commands(
    installation: Installation,
) -> Iterator[CategoryDeclaration | CommandDeclaration]:
    """Declare `mcp serve|tools|install|uninstall`, which get only the caller's environment.

    The variables of the installation are for the commands that an assistant runs.
    """
    yield CategoryDeclaration(("mcp",), "MCP", "Offer commands to AI assistants")
    for word, description, effects in (
        ("serve", "Serve commands to an assistant as tools", "change"),
        ("tools", "Show which tools an assistant would get", "read"),
        ("install", "Add this program to an assistant", "change"),
        ("uninstall", "Remove this program from an assistant", "change"),
    ):
        definition = {
            "name": f"MCP {word}",
            "description": description,
            "entrypoint": f"cli_host_mcp.{word}:command",
            "effects": effects,
            "sources": False,
            "starts_commands": True,
        }
        if word == "serve":
            definition["record"] = False  # `history` records each call
        yield CommandDeclaration(("mcp", word), definition)
