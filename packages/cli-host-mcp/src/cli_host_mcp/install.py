"""`mcp install`: add this program to an assistant, with the assistant's own command."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import click

from cli_host_mcp.choice import all_commands, choice_of, complete_patterns
from cli_host_mcp.clients import CLIENTS
from cli_host_mcp.offer import caller_environment
from cli_host_mcp.problem import ChoiceError
from cli_host_mcp.serve import command as serve
from host import MissingError, OneLineCommand, Program


def client_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument CLIENT and the option --name to a click command."""
    name = click.option(
        "--name",
        default="",
        metavar="NAME",
        help="Name of the server (default: the program's).",
    )
    client = click.argument("client", type=click.Choice([*CLIENTS]), metavar="CLIENT")
    return client(name(command))


@click.command(cls=OneLineCommand)
@client_options
@click.argument(
    "options",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[-- OPTIONS OF SERVE]",
    shell_complete=complete_patterns,
)
def command(client: str, name: str, options: tuple[str, ...]) -> None:
    """Add this program to an assistant: show the assistant's own command for that, and run it.

    For an assistant without such a command, print the entry and the file where it belongs. The
    words after `--` are categories and options of `mcp serve`. CLIENT is one of:
    """
    program = Program.current()
    check_options(program, options)
    argv = [program.executable, "mcp", "serve", *options]
    if not name:
        name = program.name

    chosen = CLIENTS[client]
    if chosen.add is not None:
        run(chosen.add(name, argv))
    path = chosen.path(os.environ)
    click.echo(f"{client} has no command for this; add the entry to {path}:", err=True)
    click.echo(chosen.entry(name, argv))


command.help = f"{command.help} {', '.join(CLIENTS)}."


def run(line: list[str]) -> NoReturn:
    """Show a command line of an assistant, and become it. Raises MissingError."""
    program = shutil.which(line[0])
    if program is None:
        raise MissingError(
            f"{line[0]} is not installed or not on PATH",
            f"where it is: {shlex.join(line)}",
        )
    click.echo(f"$ {shlex.join(line)}")
    sys.stdout.flush()
    os.execve(program, line, caller_environment())


def check_options(program: Program, options: Sequence[str]) -> None:
    """Raise ChoiceError for options that `mcp serve` refuses, and patterns without a command."""
    try:
        parsed = serve.make_context("mcp serve", list(options)).params
    except click.UsageError as failure:
        raise ChoiceError(f"mcp serve: {failure.format_message()}") from None
    choice = choice_of(parsed)
    choice.check(all_commands(program))
