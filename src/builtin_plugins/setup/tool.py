"""Which tool this run is about: its word, and what its command.json says of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from host.cli.current_run import RunningCommand
from host.errors import HostError, OperationError


@dataclass(frozen=True)
class Tool:
    """A tool: `word` as on the command line, its display name, description and systems.

    `run` is what the host knows about this run, None outside an installation.
    """

    word: str
    name: str
    description: str = ""
    systems: tuple[str, ...] = ()
    run: RunningCommand | None = None


def find_tool(environ: Mapping[str, str]) -> Tool:
    """Return the tool that COMMAND_NAME names; raises OperationError when nothing does."""
    word = environ.get("COMMAND_NAME", "")
    if not word:
        raise OperationError("COMMAND_NAME is not set; start it as a command")
    try:
        run = RunningCommand(environ)
    except HostError:
        return Tool(word, word.title())
    definition = run.definition
    return Tool(word, definition.name, definition.description, definition.os, run)
