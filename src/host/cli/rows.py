"""What is there → what a listing shows; `indicators` is the rule of SPEC 3."""

from __future__ import annotations

from host.cli.catalog import Contents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from host.records import Category, Command, Listing, Terminal

CHECK_MARK = "✓"
SETUP = "setup"


def indicators(command: Command, terminal: Terminal) -> list[str]:
    """Return the indicators of a row, in their fixed order.

    `✓` (`[installed]` where stdout cannot print it), `[plugin]`, `[dev]`, `[sudo]`,
    `[destroy]`, then the systems of a command that is not for this one.
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
