"""What is there → what a listing shows; `indicators` is the rule of SPEC 3."""

from __future__ import annotations

import os

from host.cli.catalog import Contents
from host.run.definition import is_reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from host.records import Category, Command, Listing, Terminal

CHECK_MARK = "✓"
SETUP = "setup"


def indicators(command: Command, terminal: Terminal) -> list[str]:
    """Return the indicators of a row, in their fixed order.

    `✓` (`[installed]` where stdout cannot print it), `[plugin]`, `[dev]`, `[sudo]`,
    `[destroy]`, the systems of a command that is not for this one, and `[missing]` where
    its entrypoint is not there.
    """
    marks = []
    if command.installed:
        marks.append(CHECK_MARK if terminal.can_print(CHECK_MARK) else "[installed]")
    if command.plugin:
        marks.append("[plugin]")
    if command.dev:
        marks.append("[dev]")
    if command.definition.sudo:
        marks.append("[sudo]")
    if command.definition.destroys:
        marks.append("[destroy]")
    if not command.definition.compatible:
        marks += [f"[{name}]" for name in command.definition.os]
    if command.missing:
        marks.append("[missing]")
    return marks


def select(found: Contents, *, everything: bool) -> Contents:
    """Leave out hidden commands and those for another system, unless `everything`."""
    if everything:
        return found
    return found.replaced(
        commands=tuple(
            one for one in found.commands if one.definition.compatible and not one.definition.hidden
        ),
    )


def with_installed(
    commands: tuple[Command, ...], ask: Callable[[Sequence[Command]], Iterable[object]]
) -> tuple[Command, ...]:
    """Return the commands with `installed` answered for those of `setup`, all asked at once."""
    asked = [one for one in commands if one.words[0] == SETUP]
    answers = iter(ask(asked)) if asked else iter(())
    return tuple(
        one.replaced(installed=bool(next(answers))) if one.words[0] == SETUP else one
        for one in commands
    )


def with_missing(commands: tuple[Command, ...]) -> tuple[Command, ...]:
    """Return the commands with `missing` set for those whose entrypoint is a file not there."""
    return tuple(
        one.replaced(missing=True)
        if one.directory
        and not is_reference(one.definition.entrypoint)
        and not os.path.exists(f"{one.directory}/{one.definition.entrypoint}")
        else one
        for one in commands
    )


def grouped(listing: Listing) -> list[tuple[str, list[Category | Command]]]:
    """Return a listing's rows under their headings, in the order to show them.

    Subcategories, then commands without a group, then each group by name. Headings
    are "Categories", "Commands" and the groups' names.
    """
    groups: dict[str, list[Category | Command]] = {}
    for command in listing.commands:
        groups.setdefault(command.definition.group, []).append(command)
    sections: list[tuple[str, list[Category | Command]]] = []
    if listing.categories:
        sections.append(("Categories", list(listing.categories)))
    if "" in groups:
        sections.append(("Commands", groups.pop("")))
    return [*sections, *sorted(groups.items())]
