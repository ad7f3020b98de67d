"""`mcp uninstall`: remove this program from an assistant, with the assistant's own command."""

from __future__ import annotations

import os

import click

from cli_host_mcp.clients import CLIENTS
from cli_host_mcp.install import client_options, run
from host import OneLineCommand, OperationError, Program


@click.command(cls=OneLineCommand)
@client_options
def command(client: str, name: str) -> None:
    """Remove this program from an assistant: show the assistant's command, and run it.

    For an assistant without such a command, this fails and names the file with the entry.
    """
    if not name:
        name = Program.current().name

    chosen = CLIENTS[client]
    if chosen.remove is not None:
        run(chosen.remove(name))
    path = chosen.path(os.environ)
    raise OperationError(
        f"{client} has no command for this; remove {name} from {chosen.key} in {path}"
    )
