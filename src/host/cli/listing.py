"""What is there → what a listing shows."""

from __future__ import annotations

from host.cli.catalog import Contents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from host.records import Command

SETUP = "setup"


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
