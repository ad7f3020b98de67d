"""What a tool runs: a command, or one of the subcommands of a command in click."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli_host_mcp import arguments, click_arguments
from host import ClickCommand, Command, Definition, HostError, Program


@dataclass(frozen=True, slots=True)
class Tool:
    """A command as a tool; `part` is what click says of the subcommand that it runs, if any.

    Without `part`, a command in click takes free words, so only its full name offers it.
    """

    command: Command
    part: ClickCommand | None = None

    @property
    def words(self) -> tuple[str, ...]:
        if self.part is None:
            return self.command.words
        return (*self.command.words, *self.part.words)

    @property
    def definition(self) -> Definition:
        definition: Definition = self.command.definition
        return definition

    @property
    def name(self) -> str:
        if self.part is None or not self.part.words:
            return self.definition.name
        return self.part.words[-1]

    @property
    def description(self) -> str:
        if self.part is None or not self.part.words:
            return self.definition.description
        return self.part.description or self.definition.description

    @property
    def is_hidden_part(self) -> bool:
        """Whether click hides the subcommand."""
        return self.part is not None and self.part.hidden

    @property
    def takes_free_words(self) -> bool:
        """Whether a command in click gets words whose meaning only a run finds out."""
        return self.definition.click is not None and self.part is None

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the input object of a call."""
        if self.part is None:
            return arguments.schema_of(self.definition)
        return click_arguments.schema_of(self.part)

    def args(self, given: Mapping[str, Any]) -> list[str]:
        """Return the words behind those of the command; raises CallError for invalid input."""
        if self.part is None:
            return arguments.words_of(self.definition, given)
        return click_arguments.words_of(self.part, given)

    def line_before(self, key: str, others: Mapping[str, str]) -> Sequence[str] | None:
        """Return the words before the value of an argument, or None if it takes no value.

        `others` has the values of earlier arguments; `-` stands for an unknown one.
        """
        if self.part is None:
            before = arguments.words_before(self.definition, key, others)
        else:
            before = click_arguments.words_before(self.part, key, others)
        if before is None:
            return None
        return [*self.command.words, *before]

    def effects(self) -> str:
        return arguments.strongest_effects(self.definition)


def runs(program: Program, command: Command, line: Sequence[str]) -> bool:
    """Return whether a line that begins with the words of `command` runs this command.

    The next words of the line may name a command below it.
    """
    return bool(program.find(line).words == command.words)


def tools_of(program: Program, command: Command) -> list[Tool]:
    """Return the tools of a command: one, or one for each subcommand of a command in click.

    A subcommand is a tool of its own if click's own rules decide what its words mean. For the
    others, and if click does not answer, the command is one tool with free words.
    """
    if command.definition.click is None:
        return [Tool(command)]
    try:
        parts = program.click_commands(command)
    except HostError as failure:
        program.messages.warn(str(failure))
        return [Tool(command)]

    tools = []
    is_free = not all(part.is_plain for part in parts)
    for part in parts:
        # A group that needs a subcommand can only fail. The free words include its own call.
        is_covered = is_free and not part.words
        if part.is_plain and part.runs and not is_covered:
            tools.append(Tool(command, part))
    if is_free:
        tools.append(Tool(command))
    return tools


def words_of_tools(command: Command) -> Sequence[tuple[str, ...]]:
    """Return the words that a pattern may name: of a command, and of its subcommands in click."""
    words = [command.words]
    if command.definition.click is not None:
        for subcommand in command.definition.click.subcommands:
            words.append((*command.words, *subcommand.words))
    return words
