"""The tools for an assistant: one for each command or, with `search`, three for all commands."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cli_host_mcp import toolbox
from cli_host_mcp.arguments import strongest_effects
from cli_host_mcp.choice import Choice, all_commands
from cli_host_mcp.masking import without_secrets
from cli_host_mcp.output import escaped
from cli_host_mcp.problem import CallError, closest
from cli_host_mcp.tool import Tool, runs, tools_of
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
        super().__init__(*call.without_secrets([str(failure)]))
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
        shown = self.without_secrets(shown)
        words = [self.program.name, *self.command.words, *shown]
        return printable(shlex.join(words))

    def without_secrets(self, texts: Iterable[str]) -> list[str]:
        """Return texts about the call as the client may see them."""
        environ = caller_environment()
        return without_secrets(texts, self.command.definition, environ)


class Offer:
    """The tools for `commands`, a list that is fixed when the server starts.

    Each request rereads the definitions. A command that was removed, or that `choice` now refuses,
    is omitted; none is added. With `search`, three tools give access to all commands. `confirm`,
    the value of --confirm, decides which commands need the user's consent.
    """

    def __init__(
        self,
        choice: Choice,
        tools: Iterable[Tool],
        program: str,
        *,
        search: bool,
        confirm: str = "destroy",
    ) -> None:
        self._choice = choice
        self._search = search
        self._asks = ASKS[confirm]
        self._program = program
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            name = toolbox.tool_name(tool.words, program)
            self._tools[name] = tool

    def commands(self) -> list[Tool]:
        """Return the offered commands and subcommands as they are defined now."""
        program = Program.current()
        defined = {command.words: command for command in all_commands(program)}
        served = []
        for name, tool in self._tools.items():
            command = defined.get(tool.command.words)
            if command is None:
                continue
            current = self._current(program, name, command)
            if current is not None and not self._choice.refusal(current):
                served.append(current)
        return served

    def _current(self, program: Program, name: str, command: Command) -> Tool | None:
        """Return a tool with the definition of `command`; None if its subcommand is gone.

        click is asked again if the subcommands or the secrets of its command have changed.
        """
        tool = self._tools[name]
        is_same = tool.definition.click == command.definition.click
        if is_same:
            return replace(tool, command=command)
        for other in tools_of(program, command):
            if other.words == tool.words:
                self._tools[name] = other
                return other
        return None

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as JSON objects."""
        if self._search:
            return toolbox.search_tools(self._choice.read_only)
        tools = []
        for tool in self.commands():
            tools.append(toolbox.tool_of(tool, self._program))
        return tools

    def answer(self, name: str, given: Mapping[str, Any]) -> Call | str:
        """Return the answer to a call of the tool `name`: a text, or the command to run.

        Raises UnknownToolError, CallError, and HostError for a broken definition.
        """
        if self._search:
            return self._answer_of_search(name, given)

        _check_tool(name, self._tools)
        return self._call(name, given)

    def _answer_of_search(self, name: str, given: Mapping[str, Any]) -> Call | str:
        """Return what `answer` does, for one of the three search tools."""
        _check_tool(name, toolbox.SEARCH_TOOLS)
        if name == "find":
            query = str(given.get("query") or "")
            return toolbox.find(self.commands(), query)

        asked = str(given.get("command", ""))
        tool_name = self._offered(asked)
        if name == "describe":
            tool = self._tool(Program.current(), tool_name)
            described = toolbox.tool_of(tool, self._program)
            text = json.dumps(described, indent=1, ensure_ascii=False)
            return escaped(text)

        arguments = given.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise CallError("arguments: expected an object; `describe` shows its keys")
        return self._call(tool_name, arguments)

    def _call(self, name: str, given: Mapping[str, Any]) -> Call:
        """Return the call of a tool. Raises RefusedCallError if it cannot run."""
        program = Program.current()
        tool = self._tool(program, name)
        call = Call(program, tool.command, ())
        try:
            # Two steps: if the second fails, the history knows the arguments.
            args = tool.args(given)
            call = replace(call, args=args)
            effects = self._effects(call)
            _check_path(tool, call)
        except HostError as failure:
            raise RefusedCallError(failure, call) from None

        question = self._question(call, effects)
        return replace(call, question=question)

    def _effects(self, call: Call) -> str:
        """Return the effects of a call; raises CallError or UsageError if it may not run."""
        words = call.command.words
        if not runs(call.program, call.command, [*words, *call.args]):
            raise CallError(f"this call would run another command: {call.line}")

        effects = call.program.effects(call.command, call.args)
        if call.command.definition.starts_commands:
            effects = strongest_effects(call.command.definition)

        if self._choice.read_only and effects != "read":
            why = f'its effects are "{effects}"'
            refusal = f"--read-only refuses this call, because {why}"
            raise CallError(f"{' '.join(words)}: {refusal}")
        return effects

    def _offered(self, name: str) -> str:
        """Return the name of the tool with this name, or with these words; raises CallError."""
        text = name.replace("/", " ")
        text = " ".join(text.split())
        known = {" ".join(tool.words): key for key, tool in self._tools.items()}
        if text in known:
            return known[text]
        if text in self._tools:
            return text
        near = closest(text, known)
        raise CallError(f"unknown command {text[:100]}{near}")

    def _tool(self, program: Program, name: str) -> Tool:
        """Return an offered tool as currently defined; raises CallError or DefinitionError."""
        offered = self._tools[name]
        words = offered.command.words
        try:
            command = program.find(words)
        except UsageError:
            command = None
        tool = None
        if command is not None and command.words == words:
            tool = self._current(program, name, command)
        if tool is None:
            raise CallError(f"{' '.join(offered.words)} no longer exists")

        refusal = self._choice.refusal(tool)
        if refusal:
            raise CallError(f"{' '.join(offered.words)}: {refusal}")
        return tool

    def _question(self, call: Call, effects: str) -> str:
        """Return the question for the user, or "" if the call needs no consent."""
        confirm = call.command.definition.confirm
        if call.program.assume_yes:
            confirm = ""  # the user has agreed to what definitions ask
        if not confirm and effects not in self._asks:
            return ""

        consequence = _CONSEQUENCES.get(effects, "")
        sentences = [f"Run {call.line}?", confirm, consequence]
        return printable(" ".join(filter(None, sentences)))


def _check_path(tool: Tool, call: Call) -> None:
    """Raise CallError if click would run another subcommand than that of the tool."""
    if tool.part is None:
        return
    path = call.program.click_path(call.command, call.args)
    if path != tool.part.words:
        raise CallError(f"this call would run another subcommand: {call.line}")


def _check_tool(name: str, known: Collection[str]) -> None:
    """Raise UnknownToolError if `name` is not one of `known`."""
    if name not in known:
        near = closest(name, known)
        raise UnknownToolError(f"unknown tool {name[:100]}{near}")


def caller_environment() -> dict[str, str]:
    """Return the server's environment without the variables that describe `mcp serve` itself."""
    return {name: value for name, value in os.environ.items() if name not in _OURS}
