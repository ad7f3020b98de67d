"""Decide which commands an assistant gets, by patterns and rules, with reasons for refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import click

from cli_host_mcp.problem import ChoiceError, closest
from host import Command, HostError, Program, is_trusted

_KEY = "x-mcp"  # a key of command.json with the value "named" or "never"


@dataclass(frozen=True, slots=True)
class Choice:
    """The options that select commands; `*`, `?` and `[…]` are wildcards in patterns (`db/*`)."""

    patterns: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    read_only: bool = False
    allow_sudo: bool = False

    def refusal(self, command: Command) -> str:
        """Return why an assistant does not get this command, or "" if it does."""
        definition = command.definition
        named = self._names(command)
        wish = definition.extra.get(_KEY)
        of_project = _refused_by_project(command)
        reasons = {
            of_project: of_project,
            # Its own definition does not say what the other command does.
            f"has moved; served under its new name: {definition.moved_to}": definition.moved_to,
            f"runs on {' and '.join(definition.os)} only": not definition.compatible,
            "matches no pattern": self.patterns
            and not _matches(command.words, self.patterns),
            "matches --except": _matches(command.words, self.left_out),
            f'its definition has "{_KEY}": "never"': wish == "never",
            "served only if its full name is given": (
                not named
                and (definition.hidden or definition.starts_commands or wish == "named")
            ),
            "refused by --read-only, because it starts other commands": (
                self.read_only and definition.starts_commands
            ),
            f'refused by --read-only, because its effects are "{definition.effects}"': (
                self.read_only and definition.effects != "read"
            ),
            "needs sudo, and --allow-sudo was not given": definition.sudo
            and not self.allow_sudo,
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def _names(self, command: Command) -> bool:
        return "/".join(command.words) in self.patterns

    def served(self, commands: Iterable[Command]) -> list[Command]:
        return [command for command in commands if not self.refusal(command)]

    def check(self, commands: Sequence[Command]) -> None:
        """Raise ChoiceError if a pattern matches no command.

        With --read-only, also raise it if a pattern names a command that starts other commands.
        """
        for command in commands:
            if (
                self.read_only
                and command.definition.starts_commands
                and self._names(command)
            ):
                name = "/".join(command.words)
                raise ChoiceError(
                    f"{name} starts other commands, so --read-only refuses it"
                )
        for pattern in (*self.patterns, *self.left_out):
            if any(_matches(command.words, (pattern,)) for command in commands):
                continue
            if pattern.split("/")[0] == "self":
                raise ChoiceError(f"{pattern}: commands of `self` are never offered")
            names = {"/".join(command.words) for command in commands}
            names |= {command.words[0] for command in commands}
            raise ChoiceError(f"{pattern} matches no command{closest(pattern, names)}")


def all_commands(program: Program) -> tuple[Command, ...]:
    return program.commands(everything=True)


def choice_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `Choice` to a click command, whose argument `choice` receives them."""

    @click.argument("patterns", nargs=-1, metavar="[CATEGORY|GLOB]…")
    @click.option(
        "--except", "left_out", multiple=True, metavar="GLOB", help="Leave these out."
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
        given = {"patterns": patterns, "left_out": left_out}
        choice = choice_of({**given, "read_only": read_only, "allow_sudo": allow_sudo})
        return command(choice=choice, **others)

    wrapped.__doc__ = command.__doc__
    wrapped.__name__ = command.__name__
    given = getattr(command, "__click_params__", [])
    wrapped.__click_params__ = [*given, *wrapped.__click_params__]  # type: ignore[attr-defined]
    return wrapped


def choice_of(given: Mapping[str, Any]) -> Choice:
    """Return the choice that the parsed options of a command describe."""
    patterns = _joined(given["patterns"])
    left_out = _joined(given["left_out"])
    return Choice(patterns, left_out, given["read_only"], given["allow_sudo"])


def _joined(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns with `/` between words; users may type spaces instead."""
    return tuple("/".join(pattern.replace("/", " ").split()) for pattern in patterns)


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
        return "" if is_trusted(command.definition) else "its project is not trusted"
    except HostError as error:
        return error.what


def _matches(words: Sequence[str], patterns: Iterable[str]) -> bool:
    """Return whether a pattern matches the command or one of its categories."""
    paths = ["/".join(words[:end]) for end in range(1, len(words) + 1)]
    return any(fnmatchcase(path, pattern) for pattern in patterns for path in paths)
