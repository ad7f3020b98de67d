"""`mcp install`: add this program to the configuration of assistants."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from cli_host_mcp.clients import CLIENTS, Client, chosen
from cli_host_mcp.configuration import edited, existing, read, shown, write
from cli_host_mcp.problem import ChoiceError
from cli_host_mcp.serve import command as serve
from host import Program, printable

client_option = click.option(
    "--client", "names", multiple=True, metavar="NAME", help=", ".join(CLIENTS)
)
name_option = click.option(
    "--name", default="", metavar="NAME", help="Name of the server in the configuration."
)


@click.command
@client_option
@name_option
@click.option("--print", "only_print", is_flag=True, help="Show the entry; write nothing.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF SERVE]")
def command(
    names: tuple[str, ...],
    name: str,
    only_print: bool,
    options: tuple[str, ...],
) -> None:
    """Add this program to the configuration of assistants, as an MCP server.

    Without --client, all assistants on this machine are configured. The words after `--` are
    categories and options of `mcp serve`; without them, an existing entry keeps its own.
    """
    program = Program.current()
    check_options(options)
    argv = [program.executable, "mcp", "serve", *options]
    name = name or program.name

    def install(client: Client, path: str, before: str) -> tuple[str, str]:
        entry = _entry(client, before, name, argv)
        after = edited(client, before, name, entry)
        if after != before:
            return after, f"{name} was written to {path}; restart the assistant"
        kept = f" with {shlex.join(map(str, entry['args'][2:]))}" if entry["args"][2:] else ""
        which = f"--client {client.name}"
        which += f" --name {shlex.quote(name)}" if name != program.name else ""
        calls = [f"{program.name} mcp {word} {which}" for word in ("uninstall", "install")]
        hint = f"; to serve all commands: {' && '.join(calls)}"
        return after, f"{path} already has {name}{kept}{hint if kept and not options else ''}"

    if only_print and not names:
        client = Client("", "")
        click.echo(shown(client, name, client.entry(argv)), nl=False)
    elif only_print:
        for client in chosen(names, os.environ):
            path = client.path(os.environ)
            try:
                entry = _entry(client, read(path), name, argv)
            except (OSError, ValueError):
                entry = client.entry(argv)
            click.echo(f"{client.name}: {path}\n{shown(client, name, entry)}", nl=False)
    else:
        change_each(program, names, install)


def check_options(options: Sequence[str]) -> None:
    """Raise ChoiceError for options that `mcp serve` does not accept."""
    try:
        serve.make_context("mcp serve", list(options))
    except click.UsageError as failure:
        raise ChoiceError(f"mcp serve: {failure.format_message()}") from None


def change_each(
    program: Program,
    names: Sequence[str],
    change: Callable[[Client, str, str], tuple[str, str]],
) -> None:
    """Change the file of each client and print the changes; exit with status 1 if any failed.

    `change(client, path, text)` returns the file's new text, and a line that reports the change.
    """
    failed = False
    for client in chosen(names, os.environ):
        path = client.path(os.environ)
        try:
            before = read(path)
            after, done = change(client, path, before)
            if after != before:
                write(path, after)
            click.echo(printable(f"{client.name}: {done}"))
        except OSError as failure:
            program.messages.error(f"{path}: {failure.strerror}; nothing was written")
            failed = True
        except ValueError as failure:
            hint = f"{program.name} mcp install --print shows the entry to edit by hand"
            program.messages.error(f"{path}: {failure}; the file was not changed; {hint}")
            failed = True
    if failed:
        sys.exit(1)


def _entry(client: Client, before: str, name: str, argv: Sequence[str]) -> dict[str, Any]:
    """Return the entry to write. Raises ValueError if the file is invalid or `name` is taken.

    If `argv` has no options, those of an existing entry are kept: without them, the assistant would
    get more commands.
    """
    entry = client.entry(argv)
    there = existing(client, before, name, argv[0])
    if there and len(argv) == len(["command", "mcp", "serve"]):
        entry["args"] = there["args"]
    return entry
