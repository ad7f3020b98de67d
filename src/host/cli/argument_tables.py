"""What a command or category takes, as tables of its page."""

from __future__ import annotations

from host.cli.unknown import EMPTY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.run.arguments import Argument


def argument_tables(
    arguments: Sequence[Argument],
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return headings, each with its rows of a term and what it is for."""
    positional = [(one.name, _about(one)) for one in arguments if not one.option]
    options = [(_names(one), _about(one)) for one in arguments if one.option]
    return [("Arguments", positional), ("Options", options)]


def _names(option: Argument) -> str:
    names = f"{option.short}, {option.name}" if option.short else option.name
    return f"{names} {option.value}".rstrip()


def _about(argument: Argument) -> str:
    """Return what an argument is for, and in brackets what it takes."""
    facts = ["required"] if argument.option and argument.required else []
    if argument.type not in ("", "string"):
        facts.append(argument.type)
    if argument.choices:
        facts.append(f"one of {', '.join(argument.choices)}")
    if argument.default is not None:
        facts.append(f"default: {argument.default or EMPTY}")
    return (
        f"{argument.description} ({'; '.join(facts)})".lstrip() if facts else argument.description
    )
