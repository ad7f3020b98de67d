"""`mcp tools`: list the commands that an assistant would get, and those it would not."""

from __future__ import annotations

import json

import click

from cli_host_mcp.choice import Choice, all_commands, choice_options
from cli_host_mcp.toolbox import search_tools, searches, tool_of
from host import OneLineCommand, Program


@click.command(cls=OneLineCommand)
@choice_options
def command(choice: Choice, form: str) -> None:
    """Show, as JSON, the tools that `mcp serve` would serve with the same options.

    `commands` lists the commands that can be run; `left_out` lists the others, with reasons.
    """
    program = Program.current()
    commands = all_commands(program)
    choice.check(commands)

    served, left_out = choice.divided(program, commands)
    if searches(form, len(served)):
        tools = search_tools(choice.read_only)
    else:
        tools = [tool_of(tool, program.name) for tool in served]
    names = [" ".join(tool.words) for tool in served]
    shown = {"tools": tools, "commands": names, "left_out": left_out}
    click.echo(json.dumps(shown, indent=2))
