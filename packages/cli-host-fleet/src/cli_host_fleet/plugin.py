"""The three commands that the package adds to a program, written in Python."""

from __future__ import annotations

from collections.abc import Iterator

from host import CategoryDeclaration, CommandDeclaration, Installation, hookimpl


@hookimpl
def discover_commands(
    installation: Installation,
) -> Iterator[CategoryDeclaration | CommandDeclaration]:
    """Declare `fleet run|hosts|check`, which start with only the caller's environment.

    The installation's sources of variables apply only to the commands that run on the hosts.
    """
    yield CategoryDeclaration(("fleet",), "Fleet", "Run commands on many hosts")
    for word, description, effects in (
        ("run", "Run a command on many hosts", "change"),
        ("hosts", "Show the hosts of a set", "read"),
        ("check", "Check that hosts can run a command", "read"),
    ):
        definition = {
            "name": f"Fleet {word}",
            "description": description,
            "entrypoint": f"cli_host_fleet.{word}:command",
            "effects": effects,
            "sources": False,
            "starts_commands": True,  # --inventory and --ssh-config can start programs, too
        }
        yield CommandDeclaration(("fleet", word), definition)
