"""The tools for an assistant: one for each command or, with `search`, three for all commands."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cli_host_mcp import toolbox
from cli_host_mcp.arguments import words_of
from cli_host_mcp.choice import Choice, all_commands
from cli_host_mcp.output import escaped
from cli_host_mcp.problem import CallError, closest
from host import Command, HostError, Program, UsageError, printable

ASKS = {"destroy": ("destroy",), "change": ("change", "destroy"), "never": ()}
_CONSEQUENCES = {
    "destroy": "It may destroy something.",
    "change": "It changes something.",
}
# The variables of the `mcp serve` command itself.
_OURS = ("COMMAND_NAME", "COMMAND_CATEGORY")


class UnknownToolError(CallError):
    """The client called a tool that does not exist."""


class RefusedCallError(CallError):
    """A call of an offered command cannot run: for its arguments, or because of `--read-only`.

    `call` is what was refused, for the history; it has no arguments if these have no valid form.
    """

    def __init__(self, failure: HostError, call: Call) -> None:
        super().__init__(str(failure))
        self.call = call
        self.status = failure.status


@dataclass(frozen=True, slots=True)
class Call:
    """A command to run, with its arguments; `question` is "" if no confirmation is needed."""

    program: Program
    command: Command
    args: Sequence[str]
    question: str = ""

    @property
    def argv(self) -> list[str]:
        argv = [self.program.executable]
        # The client has asked the question of the definition, so the run must not.
        if self.question and self.command.definition.confirm:
            argv.append("--yes")
        return [*argv, *self.command.words, *self.args]

    @property
    def line(self) -> str:
        """The command line that a user would type, always on one line."""
        shown = self.program.masked_arguments(self.command, self.args)
        words = [self.program.name, *self.command.words, *shown]
        return printable(shlex.join(words))


class Offer:
    """The tools for `commands`, a list that is fixed when the server starts.

    Each request rereads the definitions. A command that was removed, or that `choice` now refuses,
    is omitted; none is added. With `search`, three tools give access to all commands. `confirm`,
    the value of --confirm, decides which commands need the user's consent.
    """

    def __init__(
        self,
        choice: Choice,
        commands: Iterable[Command],
        program: str,
        *,
        search: bool,
        confirm: str = "destroy",
    ) -> None:
        self._choice = choice
        self._search = search
        self._asks = ASKS[confirm]
        self._program = program
        self._words: dict[str, tuple[str, ...]] = {}
        for command in commands:
            name = toolbox.tool_name(command.words, program)
            self._words[name] = command.words

    def commands(self) -> list[Command]:
        """Return the offered commands as they are defined now."""
        offered = set(self._words.values())
        defined = all_commands(Program.current())
        served = self._choice.served(defined)
        return [command for command in served if command.words in offered]

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as JSON objects."""
        if self._search:
            return toolbox.search_tools(self._choice.read_only)
        tools = []
        for command in self.commands():
            tools.append(toolbox.tool_of(command, self._program))
        return tools

    def answer(self, name: str, given: Mapping[str, Any]) -> Call | str:
        """Return the answer to a call of the tool `name`: a text, or the command to run.

        Raises UnknownToolError, CallError, and HostError for a broken definition.
        """
        if self._search:
            return self._answer_of_search(name, given)

        _check_tool(name, self._words)
        return self._call(self._words[name], given)

    def _answer_of_search(self, name: str, given: Mapping[str, Any]) -> Call | str:
        """Return what `answer` does, for one of the three search tools."""
        _check_tool(name, toolbox.SEARCH_TOOLS)
        if name == "find":
            query = str(given.get("query") or "")
            return toolbox.find(self.commands(), query)

        asked = str(given.get("command", ""))
        words = self._offered(asked)
        if name == "describe":
            command = self._command(Program.current(), words)
            tool = toolbox.tool_of(command, self._program)
            text = json.dumps(tool, indent=1, ensure_ascii=False)
            return escaped(text)

        arguments = given.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise CallError("arguments: expected an object; `describe` shows its keys")
        return self._call(words, arguments)

    def _call(self, words: tuple[str, ...], given: Mapping[str, Any]) -> Call:
        """Return the call of a command. Raises RefusedCallError if it cannot run."""
        program = Program.current()
        command = self._command(program, words)
        call = Call(program, command, ())
        try:
            # Two steps: if the second fails, the history knows the arguments.
            args = words_of(call.command.definition, given)
            call = replace(call, args=args)
            effects = self._effects(call)
        except HostError as failure:
            raise RefusedCallError(failure, call) from None

        question = self._question(call, effects)
        return replace(call, question=question)

    def _effects(self, call: Call) -> str:
        """Return the effects of a call; raises CallError or UsageError if it may not run."""
        words = call.command.words
        line = [*words, *call.args]
        # A word among the arguments may name a command below this one.
        if call.program.find(line).words != words:
            raise CallError(f"this call would run another command: {shlex.join(line)}")

        effects = call.program.effects(call.command, call.args)
        if call.command.definition.starts_commands:
            effects = toolbox.strongest_effects(call.command.definition)

        if self._choice.read_only and effects != "read":
            why = f'its effects are "{effects}"'
            refusal = f"--read-only refuses this call, because {why}"
            raise CallError(f"{' '.join(words)}: {refusal}")
        return effects

    def _offered(self, name: str) -> tuple[str, ...]:
        """Return the words of the offered command with this path or tool name; raises CallError."""
        text = name.replace("/", " ")
        text = " ".join(text.split())
        known = {" ".join(words): words for words in self._words.values()}
        if text in known:
            return known[text]
        if text in self._words:
            return self._words[text]
        near = closest(text, known)
        raise CallError(f"unknown command {text[:100]}{near}")

    def _command(self, program: Program, words: tuple[str, ...]) -> Command:
        """Return an offered command as currently defined; raises CallError or DefinitionError."""
        try:
            command = program.find(words)
        except UsageError:
            command = None
        if command is None or command.words != words:
            raise CallError(f"{' '.join(words)} no longer exists")

        refusal = self._choice.refusal(command)
        if refusal:
            raise CallError(f"{' '.join(words)}: {refusal}")
        return command

    def _question(self, call: Call, effects: str) -> str:
        """Return the question for the user, or "" if the call needs no consent."""
        confirm = call.command.definition.confirm
        if os.environ.get("CLI_YES") == "1":
            confirm = ""  # the user has agreed to what definitions ask
        if not confirm and effects not in self._asks:
            return ""

        consequence = _CONSEQUENCES.get(effects, "")
        sentences = [f"Run {call.line}?", confirm, consequence]
        return printable(" ".join(filter(None, sentences)))


def _check_tool(name: str, known: Collection[str]) -> None:
    """Raise UnknownToolError if `name` is not one of `known`."""
    if name not in known:
        near = closest(name, known)
        raise UnknownToolError(f"unknown tool {name[:100]}{near}")


def caller_environment() -> dict[str, str]:
    """Return the server's environment without the variables that describe `mcp serve` itself."""
    return {name: value for name, value in os.environ.items() if name not in _OURS}
