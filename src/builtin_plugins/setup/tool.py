"""Which tool this run is about: its word, and what its command.json says of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from host import HostError, OperationError, Program, Variable


@dataclass(frozen=True)
class Tool:
    """A tool: `word` as on the command line, its display name, description and systems.

    `variables` are those of this run, with their sources; none outside an installation.
    """

    word: str
    name: str
    description: str = ""
    systems: tuple[str, ...] = ()
    variables: Mapping[str, Variable] = field(default_factory=dict)


def find_tool(environ: Mapping[str, str]) -> Tool:
    """Return the tool that COMMAND_NAME names; raises OperationError when nothing does."""
    word = environ.get("COMMAND_NAME", "")
    if not word:
        raise OperationError("COMMAND_NAME is not set; start it as a command")
    try:
        program = Program.current(environ)
        definition = program.find(program.words).definition
        variables = program.environment(program.words)
    except HostError:
        return Tool(word, word.title())
    return Tool(word, definition.name, definition.description, definition.os, variables)
