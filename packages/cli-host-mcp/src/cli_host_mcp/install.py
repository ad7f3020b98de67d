"""`mcp install`: add this program to the configuration of assistants."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from cli_host_mcp.choice import all_commands, choice_of
from cli_host_mcp.clients import CLIENTS, Client, chosen
from cli_host_mcp.configuration import edited, existing, read, shown, write
from cli_host_mcp.problem import ChoiceError
from cli_host_mcp.serve import command as serve
from host import OneLineCommand, Program, printable

# The words of an entry before the options of `serve`.
_COMMAND = ("program", "mcp", "serve")

client_option = click.option(
    "--client", "names", multiple=True, metavar="NAME", help=", ".join(CLIENTS)
)
name_option = click.option(
    "--name",
    default="",
    metavar="NAME",
    help="Name of the server in the configuration.",
)


@click.command(cls=OneLineCommand)
@client_option
@name_option
@click.option(
    "--print", "only_print", is_flag=True, help="Show the entry; write nothing."
)
@click.argument(
    "options", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF SERVE]"
)
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
    check_options(program, options)
    argv = [program.executable, "mcp", "serve", *options]
    if not name:
        name = program.name
    if only_print:
        _print(names, name, argv)
        return

    def install(client: Client, path: str, before: str) -> tuple[str, str]:
        entry = _entry(client, before, name, argv)
        dropped = _not_kept(client, before, name, entry)
        after = edited(client, before, name, entry, dropped)

        if after == before:
            report = f"{path} already has {name}"
            options_of_entry = client.argv(entry)[len(_COMMAND) :]
            if options_of_entry:
                report += f" with {shlex.join(options_of_entry)}"
            # Without options, the user may expect all commands.
            if options_of_entry and not options:
                reinstall = _reinstall(program, client, name)
                report += f"; to serve all commands: {reinstall}"
            return after, report

        report = f"{name} was written to {path}"
        if dropped:
            report += f"; removed from the entry: {', '.join(dropped)}"
        return after, f"{report}; restart the assistant"

    change_each(program, names, install)


def _print(names: tuple[str, ...], name: str, argv: Sequence[str]) -> None:
    """Print the entry in general, or for each of these clients with the place of its file."""
    if not names:
        client = Client("", "")
        text = shown(client, name, client.entry(argv))
        click.echo(text, nl=False)
        return

    for client in chosen(names, os.environ):
        path = client.path(os.environ)
        try:
            entry = _entry(client, read(path), name, argv)
        except (OSError, ValueError):
            entry = client.entry(argv)
        text = shown(client, name, entry)
        click.echo(f"{client.name}: {path}\n{text}", nl=False)


def _reinstall(program: Program, client: Client, name: str) -> str:
    """Return the command line that replaces an entry by one without options."""
    which = f"--client {client.name}"
    if name != program.name:
        which += f" --name {shlex.quote(name)}"
    uninstall = f"{program.name} mcp uninstall {which}"
    return f"{uninstall} && {program.name} mcp install {which}"


def check_options(program: Program, options: Sequence[str]) -> None:
    """Raise ChoiceError for options that `mcp serve` refuses, and patterns without a command."""
    try:
        parsed = serve.make_context("mcp serve", list(options)).params
    except click.UsageError as failure:
        raise ChoiceError(f"mcp serve: {failure.format_message()}") from None
    choice = choice_of(parsed)
    choice.check(all_commands(program))


def change_each(
    program: Program,
    names: Sequence[str],
    change: Callable[[Client, str, str], tuple[str, str]],
) -> None:
    """Change the file of each client and print the changes; exit with status 1 if any failed.

    `change(client, path, text)` returns the file's new text, and a line that reports the change.
    """
    failed = False
    # A file that cannot be changed does not keep the other assistants from being configured.
    for client in chosen(names, os.environ):
        path = client.path(os.environ)
        try:
            report = _changed(client, path, change)
            click.echo(printable(f"{client.name}: {report}"))
        except OSError as failure:
            program.messages.error(f"{path}: {failure.strerror}; nothing was written")
            failed = True
        except ValueError as failure:
            what = f"{path}: {failure}; the file was not changed"
            hint = f"{program.name} mcp install --print shows the entry to edit by hand"
            program.messages.error(f"{what}; {hint}")
            failed = True

    if failed:
        sys.exit(1)


def _changed(
    client: Client, path: str, change: Callable[[Client, str, str], tuple[str, str]]
) -> str:
    """Change a client's file; return the report of `change`. Raises ValueError and OSError."""
    if client.in_project:
        _check_inside(path)
    before = read(path)
    after, report = change(client, path, before)
    if after != before:
        write(path, after)
    return report


def _entry(
    client: Client, before: str, name: str, argv: Sequence[str]
) -> dict[str, Any]:
    """Return the entry to write. Raises ValueError if the file is invalid or `name` is taken.

    If `argv` has no options, those of an existing entry are kept: without them, the assistant would
    get more commands.
    """
    entry = client.entry(argv)
    previous = existing(client, before, name, argv[0])
    if previous is None or len(argv) > len(_COMMAND):
        return entry

    words = client.argv(previous)
    if client.in_project:
        # Whoever wrote the repository may also have written the entry.
        options = words[len(_COMMAND) :]
        _check_narrow(options, name)
    return {**entry, **client.entry(words)}


def _check_inside(path: str) -> None:
    """Raise ValueError if the file of a project is a link out of the current directory."""
    target = os.path.realpath(path)
    directory = os.path.realpath(".")
    if os.path.commonpath([target, directory]) != directory:
        raise ValueError(f"it leads out of this directory, to {target}")


def _check_narrow(options: Sequence[str], name: str) -> None:
    """Raise ValueError if an entry that somebody else may have written offers more than usual."""
    try:
        parsed = serve.make_context("mcp serve", list(options)).params
    except click.UsageError as failure:
        what = f"the entry {name} has wrong options: {failure.format_message()}"
        raise ValueError(what) from None

    wide = []
    if parsed["confirm"] == "never":
        wide.append("--confirm never")
    if parsed["allow_sudo"]:
        wide.append("--allow-sudo")
    if wide:
        what = f"the entry {name} has {' and '.join(wide)}, which this program did not write now"
        raise ValueError(f"{what}; give the options that you want after --")


def _not_kept(
    client: Client, before: str, name: str, entry: Mapping[str, Any]
) -> list[str]:
    """Return the keys of an existing entry in a project's file that must not stay.

    Whoever wrote the repository could set variables such as LD_PRELOAD or CLI_YES in `env`, or let
    the assistant call tools without asking.
    """
    launcher = client.argv(entry)[0]
    previous = existing(client, before, name, launcher)
    if previous is None or not client.in_project:
        return []
    return sorted(previous.keys() - entry.keys())
