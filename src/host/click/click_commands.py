"""Read from a click command what the lock keeps of it, in the plugin's child process.

A click command is recognised by what it can do, because Typer brings a click of its own. click
parses, helps and completes: `host.click.click_facts` asks it. The lock gets only a `ClickTree`.
"""

from __future__ import annotations

import re

from host.arguments.click_tree import ClickTree, SecretOption, Subcommand
from host.secret_names import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LONGEST_LINE = 200  # characters of a subcommand's short help


class UnreadableError(Exception):
    """A part of a click command cannot be read; `words` are those of the part."""

    def __init__(self, words: tuple[str, ...], failure: BaseException) -> None:
        super().__init__(f"{type(failure).__name__}: {failure}")
        self.words = words


class _Walk:
    """Reads a click command level by level; a part that cannot be read is in `faults`."""

    def __init__(self) -> None:
        self.subcommands: list[Subcommand] = []
        self.secret_options: dict[SecretOption, None] = {}
        self.has_secret_argument = False
        self.masks_options = False
        self.faults: list[UnreadableError] = []

    def read(self, words: tuple[str, ...], context: Any, *, hidden: bool) -> None:
        """Read the command of `context` and everything below it."""
        try:
            for parameter in context.command.get_params(context):
                self._read_parameter(parameter, context)
            names = list(_listed(context))
        except (Exception, SystemExit) as failure:  # noqa: BLE001 - it may do anything
            self.faults.append(UnreadableError(words, failure))
            return
        for name in names:
            self._read_subcommand((*words, name), context, hidden=hidden)

    def _read_subcommand(
        self, words: tuple[str, ...], group: Any, *, hidden: bool
    ) -> None:
        try:
            context = subcommand_context(group, words[-1])
            if context is None:
                return
            hidden = hidden or bool(context.command.hidden)
            text = context.command.get_short_help_str(limit=_LONGEST_LINE)
        except (Exception, SystemExit) as failure:  # noqa: BLE001 - it may do anything
            self.faults.append(UnreadableError(words, failure))
            return

        self.subcommands.append(Subcommand(words, text, hidden))
        if not is_repeated(context):
            self.read(words, context, hidden=hidden)

    def _read_parameter(self, parameter: Any, context: Any) -> None:
        if not is_secret_parameter(parameter):
            return
        if parameter.param_type_name == "argument":
            self.has_secret_argument = True
            if context.ignore_unknown_options or not context.allow_interspersed_args:
                self.masks_options = True
        elif count := _words_of_value(parameter):
            option = SecretOption(names_of(parameter), count)
            self.secret_options[option] = None
            if context.token_normalize_func is not None:
                self.masks_options = (
                    True  # only click knows which spellings are this option
                )


def tree_of(command: Any, called: str) -> tuple[ClickTree, list[UnreadableError]]:
    """Return what the lock keeps of a click command, and what of it cannot be read.

    `called` is the name of the program with the words of the command. Nothing is parsed and no
    function of the command is called, but a lazy group imports its subcommands.
    """
    walk = _Walk()
    walk.read((), bare_context(command, called), hidden=False)
    walk.subcommands.sort(key=lambda subcommand: subcommand.words)
    tree = ClickTree(
        tuple(walk.subcommands),
        tuple(walk.secret_options),
        walk.has_secret_argument,
        walk.masks_options,
        is_whole=not walk.faults,
    )
    return tree, walk.faults


def _listed(context: Any) -> Iterator[str]:
    """Yield the words of the subcommands that a group lists; a command has none."""
    list_commands = getattr(context.command, "list_commands", None)
    if list_commands is not None:
        yield from list_commands(context)


def is_repeated(context: Any) -> bool:
    """Return whether a command is inside itself, so that its subcommands never end."""
    level = context.parent
    while level is not None:
        if level.command is context.command:
            return True
        level = level.parent
    return False


def bare_context(command: Any, name: str, parent: Any = None) -> Any:
    """Return the context of a click command with its `context_settings`; nothing is parsed."""
    settings = {"resilient_parsing": True, **command.context_settings}
    return command.context_class(command, info_name=name, parent=parent, **settings)


def subcommand_context(context: Any, name: str) -> Any:
    """Return the context of a group's subcommand, or None if the group has none of this name."""
    get_command = getattr(context.command, "get_command", None)
    if get_command is None:
        return None
    subcommand = get_command(context, name)
    if subcommand is None:
        return None
    return bare_context(subcommand, name, context)


def is_secret_parameter(parameter: Any) -> bool:
    """Return whether a click parameter hides its input, or has the name of a secret."""
    if getattr(parameter, "hide_input", False):
        return True
    for name in (parameter.name or "", *names_of(parameter)):
        if is_secret(re.sub(r"\W+", "_", name.lstrip("-"))):
            return True
    return False


def names_of(parameter: Any) -> tuple[str, ...]:
    """Return all names of an option; an argument has its own name only."""
    return (*parameter.opts, *parameter.secondary_opts)


def _words_of_value(option: Any) -> int:
    """Return how many words an option takes; 0 for a flag."""
    if option.is_flag or option.count:
        return 0
    return max(int(option.nargs), 1)
