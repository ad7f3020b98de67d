"""`mcp install`: this program in the configuration of assistants."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

import click

from cli_host_mcp.clients import CLIENTS, Client, chosen
from cli_host_mcp.configuration import edited, read, toml_entry, write
from cli_host_mcp.problem import ChoiceError, ConfigurationError
from cli_host_mcp.serve import command as serve
from host import Program


@click.command
@click.option("--client", "names", multiple=True, metavar="NAME", help=", ".join(CLIENTS))
@click.option("--name", default="", metavar="NAME", help="What it is called there.")
@click.option("--print", "only_print", is_flag=True, help="Show the entry; write nothing.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF SERVE]")
def command(
    names: tuple[str, ...],
    name: str,
    only_print: bool,
    options: tuple[str, ...],
) -> None:
    """Write this program into the configuration of assistants, as an MCP server.

    Without --client it is all that are found on this machine. What follows `--` are
    categories and options of `mcp serve`.
    """
    program = Program.current()
    check_options(options)
    argv = [program.executable, "mcp", "serve", *options]
    name = name or program.name
    if only_print and not names:
        click.echo(_shown(Client("", ""), name, argv))
        return
    failures = []
    for client in chosen(names, os.environ):
        path = client.path(os.environ)
        if only_print:
            click.echo(f"{client.name}: {path}\n{_shown(client, name, argv)}")
            continue
        try:
            click.echo(f"{client.name}: {_install(client, path, name, argv)}")
        except ConfigurationError as failure:
            failures.append(failure)
            program.messages.error(str(failure))
    if failures:
        sys.exit(ConfigurationError.status)


def check_options(options: Sequence[str]) -> None:
    """Raise ChoiceError for options that `mcp serve` does not take."""
    try:
        serve.make_context("mcp serve", list(options))
    except click.UsageError as failure:
        raise ChoiceError(f"mcp serve: {failure.format_message()}") from None


def _install(client: Client, path: str, name: str, argv: Sequence[str]) -> str:
    """Write the entry and return what was done; raises ConfigurationError."""
    try:
        before = read(path)
        after = edited(client, before, name, client.entry(argv))
        if after == before:
            return f"{path} has {name} already"
        write(path, after)
    except OSError as failure:
        raise ConfigurationError(f"{path}: {failure.strerror}; nothing was written") from None
    except ValueError as failure:
        raise ConfigurationError(
            f"{path}: {failure}; it was left as it is; see --print for what to write by hand"
        ) from None
    return f"{name} was written to {path}; start the assistant anew"


def _shown(client: Client, name: str, argv: Sequence[str]) -> str:
    entry = client.entry(argv)
    if client.toml:
        return toml_entry(client, name, entry).rstrip()
    return json.dumps({client.key: {name: entry}}, indent=2, ensure_ascii=False)
