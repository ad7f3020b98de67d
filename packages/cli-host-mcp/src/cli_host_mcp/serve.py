"""`mcp serve`: offer commands as tools to an assistant, over stdin and stdout."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

import click

from cli_host_mcp.choice import Choice, all_commands, choice_options
from cli_host_mcp.guard import Guard
from cli_host_mcp.offer import ASKS, Offer
from cli_host_mcp.problem import ChoiceError
from cli_host_mcp.toolbox import searches
from host import OneLineCommand, Program

_MOST_OUTPUT = 16 << 20


@click.command(cls=OneLineCommand)
@choice_options
@click.option(
    "--confirm",
    type=click.Choice([*ASKS]),
    default="destroy",
    show_default=True,
    help="Ask the user before running commands with at least these effects.",
)
@click.option(
    "--max-output",
    type=click.IntRange(1024, _MOST_OUTPUT),
    default=65536,
    show_default=True,
    metavar="BYTES",
    help="Bytes of output kept from each stream of a command.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=600,
    show_default=True,
    metavar="S",
    help="Time limit of a command, in seconds.",
)
@click.option("--jobs", type=click.IntRange(1, 64), default=4, help="Parallel calls.")
def command(
    choice: Choice, form: str, confirm: str, max_output: int, timeout: float, jobs: int
) -> None:
    """Serve commands to an assistant, as tools of an MCP server on stdin and stdout.

    The assistant starts the server; `mcp install` adds it to the assistant's configuration.
    """
    program = Program.current()
    commands = all_commands(program)
    choice.check(commands)
    served = choice.served(program, commands)
    if not served:
        program.messages.warn(f"no command is served; see: {program.name} mcp tools")

    if sys.stdin is None or sys.stdout is None:
        raise ChoiceError("stdin or stdout is closed; the client must open both")
    if os.isatty(0):
        program.messages.warn("waiting for an assistant on stdin; to stop: Ctrl-C")

    search = searches(form, len(served))  # decided once: commands may be removed later
    instructions = f"The commands of {program.name}; each tool runs one."
    if search:
        count = f"{len(served)} commands of {program.name}"
        instructions = f"{count}: find, describe and run them."

    # Before anyio and its threads: a process with threads must not fork.
    guard = Guard()
    guard.start()

    offer = Offer(choice, served, program.name, search=search, confirm=confirm)
    _serve(program, guard, (offer, instructions), (max_output, timeout, jobs))


def _serve(
    program: Program,
    guard: Guard,
    offered: tuple[Offer, str],
    limited: tuple[int, float, int],
) -> NoReturn:
    """Serve until the client disconnects, then exit; after a signal, die by the same signal."""
    import anyio  # importing anyio and the SDK takes half a second, so the guard starts first

    from cli_host_mcp.resources import Resources
    from cli_host_mcp.runs import Limits, Runner
    from cli_host_mcp.server import Tools, serve, threads_for

    offer, instructions = offered

    async def main() -> int:
        max_output, timeout, jobs = limited
        threads_for(jobs)
        limits = Limits(max_output, timeout)
        resources = Resources(offer, program.name)
        runner = Runner(guard, limits)
        tools = Tools(offer, resources, runner, limits, jobs)
        return await serve(program, tools, instructions)

    number = anyio.run(main)
    if number:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(0)  # do not wait for threads whose processes only root can end
