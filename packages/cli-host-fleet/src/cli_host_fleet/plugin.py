"""The commands that the package adds to a program, written in Python with click."""

from __future__ import annotations

from collections.abc import Iterator

from host import CategoryDeclaration, CommandDeclaration, Installation, hookimpl

_COMMANDS = (
    ("run", "run", "Run a command on many hosts", "change"),
    ("exec", "exec_words", "Run any program or line of shell on many hosts", "change"),
    ("copy", "copy_files", "Copy files to many hosts", "change"),
    ("gather", "gather_files", "Fetch files from many hosts", "change"),
    ("hosts", "hosts", "Show the hosts of a set", "read"),
    ("check", "check", "Check that hosts can run a command", "read"),
)


@hookimpl
def discover_commands(
    installation: Installation,
) -> Iterator[CategoryDeclaration | CommandDeclaration]:
    """Declare the commands of `fleet`, which start with only the caller's environment.

    The installation's sources of variables apply only to the commands that run on the hosts.
    """
    yield CategoryDeclaration(("fleet",), "Fleet", "Run commands on many hosts")

    for word, module, description, effects in _COMMANDS:
        definition = {
            "name": f"Fleet {word}",
            "description": description,
            "entrypoint": f"cli_host_fleet.{module}:command",
            "effects": effects,
            "sources": False,
            # Even of `hosts`: --inventory and --ssh-config can start programs, too.
            "starts_commands": True,
        }
        yield CommandDeclaration(("fleet", word), definition)
