"""`mcp uninstall`: remove this program from the configuration of assistants."""

from __future__ import annotations

import click

from cli_host_mcp.clients import Client
from cli_host_mcp.configuration import existing, without
from cli_host_mcp.install import change_each, client_option, name_option
from host import OneLineCommand, Program


@click.command(cls=OneLineCommand)
@client_option
@name_option
def command(names: tuple[str, ...], name: str) -> None:
    """Remove this program from the configuration of assistants.

    Without --client, the program is removed for all assistants on this machine. An entry of the
    same name for another program stays.
    """
    program = Program.current()
    if not name:
        name = program.name

    def uninstall(client: Client, path: str, before: str) -> tuple[str, str]:
        if existing(client, before, name, program.executable) is None:
            return before, f"{path} has no entry {name}"
        return without(client, before, name), f"{name} was removed from {path}"

    change_each(program, names, uninstall)
