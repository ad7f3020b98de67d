"""Decide which commands an assistant gets, by patterns and rules, with reasons for refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import click
from click.shell_completion import CompletionItem

from cli_host_mcp.problem import ChoiceError, closest
from cli_host_mcp.tool import Tool, tools_of, words_of_tools
from host import Command, Definition, HostError, Program, is_trusted

_NEEDS_NAME = "served only if its full name is given"
_KEY = "x-mcp"  # a key of command.json with the value "named" or "never"


@dataclass(frozen=True, slots=True)
class Choice:
    """The options that select commands; `*`, `?` and `[…]` are wildcards in patterns (`db/*`)."""

    patterns: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    read_only: bool = False
    allow_sudo: bool = False

    def refusal(self, tool: Tool) -> str:
        """Return why an assistant does not get this tool, or "" if it does."""
        return self._refused_whole(tool.command) or self._refused_by_names(tool)

    def _refused_whole(self, command: Command) -> str:
        """Return why an assistant gets nothing of a command, whatever its subcommands are."""
        return (
            _refused_by_project(command)
            or _refused_by_definition(command.definition)
            or self._refused_by_words(command)
            or self._refused_by_options(command.definition)
        )

    def _refused_by_words(self, command: Command) -> str:
        """Return why the patterns, or the definition's wish about them, leave a command out."""
        all_words = words_of_tools(command)
        if self.patterns and not any(
            _matches(words, self.patterns) for words in all_words
        ):
            return "matches no pattern"
        if _matches(command.words, self.left_out):
            return "matches --except"

        definition = command.definition
        if definition.extra.get(_KEY) == "never":
            return f'its definition has "{_KEY}": "never"'
        if _needs_name(definition) and not any(map(self._names, all_words)):
            return _NEEDS_NAME
        return ""

    def _refused_by_names(self, tool: Tool) -> str:
        """Return why the patterns leave out a tool of a command that is not left out whole."""
        if self.patterns and not _matches(tool.words, self.patterns):
            return "matches no pattern"
        if _matches(tool.words, self.left_out):
            return "matches --except"

        if self._names(tool.words):
            return ""
        # The name of a whole command offers all of its subcommands but the hidden ones.
        is_left_out = _needs_name(tool.definition) and not self._names(
            tool.command.words
        )
        if is_left_out or tool.is_hidden_part or tool.takes_free_words:
            return _NEEDS_NAME
        return ""

    def _refused_by_options(self, definition: Definition) -> str:
        """Return why `--read-only` or the missing `--allow-sudo` refuses a command, or ""."""
        if self.read_only and definition.starts_commands:
            return "refused by --read-only, because it starts other commands"
        if self.read_only and definition.effects != "read":
            effects = definition.effects
            return f'refused by --read-only, because its effects are "{effects}"'
        if definition.sudo and not self.allow_sudo:
            return "needs sudo, and --allow-sudo was not given"
        return ""

    def _names(self, words: Sequence[str]) -> bool:
        """Return whether a pattern is the full name of a command or subcommand."""
        return "/".join(words) in self.patterns

    def served(self, program: Program, commands: Iterable[Command]) -> list[Tool]:
        """Return the tools that an assistant gets."""
        tools, _ = self.divided(program, commands)
        return tools

    def divided(
        self, program: Program, commands: Iterable[Command]
    ) -> tuple[list[Tool], dict[str, str]]:
        """Return the tools that an assistant gets, and the reason for each other one by its words.

        click is only asked about the subcommands of a command that is not left out whole.
        """
        served = []
        left_out = {}
        for command in commands:
            tools = [Tool(command)]
            if not self._refused_whole(command):
                tools = tools_of(program, command)
            for tool in tools:
                reason = self.refusal(tool)
                if reason:
                    left_out[" ".join(tool.words)] = reason
                else:
                    served.append(tool)
        return served, left_out

    def check(self, commands: Sequence[Command]) -> None:
        """Raise ChoiceError if a pattern matches no command.

        With --read-only, also raise it if a pattern names a command that starts other commands.
        """
        if self.read_only:
            self._check_no_starter(commands)
        for pattern in (*self.patterns, *self.left_out):
            _check_pattern(pattern, commands)

    def _check_no_starter(self, commands: Sequence[Command]) -> None:
        """Raise ChoiceError if a pattern names a command that starts other commands."""
        for command in commands:
            if command.definition.starts_commands and self._names(command.words):
                name = "/".join(command.words)
                what = f"{name} starts other commands, so --read-only refuses it"
                raise ChoiceError(what)


def all_commands(program: Program) -> tuple[Command, ...]:
    """Return all commands, also those that listings do not show."""
    return program.commands(everything=True)


def choice_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Choice` to a click command, whose argument `choice` receives them."""

    @click.argument(
        "patterns",
        nargs=-1,
        metavar="[CATEGORY|GLOB]…",
        shell_complete=complete_patterns,
    )
    @click.option(
        "--except",
        "left_out",
        multiple=True,
        metavar="GLOB",
        shell_complete=complete_patterns,
        help="Leave these out.",
    )
    @click.option(
        "--read-only", is_flag=True, help='Offer only commands with "effects": "read".'
    )
    @click.option(
        "--allow-sudo", is_flag=True, help="Also offer commands that need sudo."
    )
    @click.option(
        "--tools",
        "form",
        type=click.Choice(["auto", "each", "search"]),
        default="auto",
        show_default=True,
        help="each: one tool per command; search: three for all; auto: search above 40 commands.",
    )
    def wrapped(
        patterns: tuple[str, ...],
        left_out: tuple[str, ...],
        read_only: bool,
        allow_sudo: bool,
        **others: Any,
    ) -> Any:
        options = {
            "patterns": patterns,
            "left_out": left_out,
            "read_only": read_only,
            "allow_sudo": allow_sudo,
        }
        return command(choice=choice_of(options), **others)

    wrapped.__doc__ = command.__doc__
    wrapped.__name__ = command.__name__

    # click's decorators below `choice_options` have put their parameters into the inner function.
    inner = getattr(command, "__click_params__", [])
    wrapped.__click_params__ = [*inner, *wrapped.__click_params__]  # type: ignore[attr-defined]
    return wrapped


def complete_patterns(
    _ctx: click.Context, _param: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Return the categories and commands that can end the pattern typed so far: `db/mi`."""
    try:
        commands = all_commands(Program.current())
    except HostError:
        return []

    level = typed.count("/") + 1
    offered: dict[str, str] = {}
    for command in commands:
        path = "/".join(command.words[:level])
        if path.startswith(typed):
            about = ""
            if len(command.words) == level:
                about = command.definition.description
            offered.setdefault(path, about)
    return [CompletionItem(path, help=about) for path, about in offered.items()]


def choice_of(options: Mapping[str, Any]) -> Choice:
    """Return the choice that the parsed options of a command describe."""
    return Choice(
        patterns=_joined(options["patterns"]),
        left_out=_joined(options["left_out"]),
        read_only=options["read_only"],
        allow_sudo=options["allow_sudo"],
    )


def _needs_name(definition: Definition) -> bool:
    """Return whether a command is offered only if its full name is given."""
    is_wish = definition.extra.get(_KEY) == "named"
    return bool(definition.hidden or definition.starts_commands or is_wish)


def _joined(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns with `/` between words; users may type spaces instead."""
    joined = []
    for pattern in patterns:
        words = pattern.replace("/", " ").split()
        joined.append("/".join(words))
    return tuple(joined)


def _refused_by_definition(definition: Definition) -> str:
    """Return why a command cannot be served here at all, or ""."""
    if definition.moved_to:
        # Its own definition does not say what the other command does.
        return f"has moved; served under its new name: {definition.moved_to}"
    if not definition.compatible:
        return f"runs on {' and '.join(definition.os)} only"
    return ""


def _refused_by_project(command: Command) -> str:
    """Return why a project's command is refused, or "" if it is not.

    The project needs `"assistants": true` in project.json and the user's trust.
    """
    project = command.definition.project
    if project is None:
        return ""

    try:
        if not project.allows_assistants:
            return 'its project.json does not have "assistants": true'
        if not is_trusted(command.definition):
            return "its project is not trusted"
    except HostError as error:
        return error.what

    return ""


def _matches(words: Sequence[str], patterns: Iterable[str]) -> bool:
    """Return whether a pattern matches the command or one of its categories."""
    paths = []
    for end in range(1, len(words) + 1):
        paths.append("/".join(words[:end]))

    for pattern in patterns:
        for path in paths:
            if fnmatchcase(path, pattern):
                return True
    return False


def _check_pattern(pattern: str, commands: Sequence[Command]) -> None:
    """Raise ChoiceError if a pattern matches no command."""
    for command in commands:
        for words in words_of_tools(command):
            if _matches(words, (pattern,)):
                return
    if pattern.partition("/")[0] == "self":
        raise ChoiceError(f"{pattern}: commands of `self` are never offered")

    names = set()
    for command in commands:
        names.add("/".join(command.words))
        names.add(command.words[0])  # a category
    near = closest(pattern, names)
    raise ChoiceError(f"{pattern} matches no command{near}")
