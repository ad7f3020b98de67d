"""The help page of a command, made from its definition."""

from __future__ import annotations

from host.cli.columns import wrap
from host.cli.styles import HEADING, NAME, styled
from host.cli.unknown import EMPTY
from host.records import Terminal
from host.run.arguments import Argument, usage_of
from host.run.definition import Definition
from host.run.layers import ENV_FILES, ENVS
from host.run.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_INDENT = "  "
_EFFECTS = {
    "read": "Changes nothing.",
    "destroy": "Destroys something that does not come back by itself.",
}


def help_page(
    program: str, words: Sequence[str], definition: Definition, plugin: str, terminal: Terminal
) -> str:
    """Return the page as text that ends with a newline; everything in it is printable."""
    page = _Page(terminal)
    usage = printable(" ".join([program, *words]))
    page.line(styled(printable(definition.name), HEADING, terminal))
    page.paragraph(definition.description)
    page.section("Usage:", [f"{usage} {_usage(definition)}"])
    for heading, rows in argument_tables(definition.args):
        page.table(heading, rows)
    page.table("Variables:", list(_variables(definition)))
    page.section("Environment files:", definition.env_files)
    page.section("Aliases:", definition.aliases)
    page.table("Examples:", [_example(program, words, one) for one in definition.examples])
    page.section("Notes:", list(_notes(definition, plugin)))
    return page.text()


class _Page:
    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.width = terminal.width
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)

    def paragraph(self, text: str) -> None:
        self.lines += wrap(printable(text), self.width)

    def section(self, heading: str, rows: Sequence[str]) -> None:
        if rows:
            self.heading(heading)
            self.lines += [_INDENT + printable(row) for row in rows]

    def heading(self, text: str) -> None:
        self.lines += ["", styled(text, HEADING, self.terminal)]

    def table(self, heading: str, rows: Sequence[tuple[str, str]]) -> None:
        """Add rows of a term and its explanation, which stands below it, indented."""
        if not rows:
            return
        self.heading(heading)
        for term, text in rows:
            self.lines.append(_INDENT + styled(printable(term), NAME, self.terminal))
            if text:
                wrapped = wrap(printable(text), self.width - 3 * len(_INDENT))
                self.lines += [3 * _INDENT + line for line in wrapped]

    def text(self) -> str:
        return "".join(f"{line.rstrip()}\n" for line in self.lines)


def _usage(definition: Definition) -> str:
    return usage_of(definition.args) if definition.args else "[args…]"


def argument_tables(
    arguments: Sequence[Argument],
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return headings, each with its rows of a term and what it is for."""
    positional = [(one.name, _about(one)) for one in arguments if not one.option]
    options = [(_names(one), _about(one)) for one in arguments if one.option]
    return [("Arguments:", positional), ("Options:", options)]


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


def _variables(definition: Definition) -> Iterator[tuple[str, str]]:
    for name in definition.required_envs:
        if name not in definition.envs:
            yield name, "required"
    for name in definition.envs:
        required = ", required" if name in definition.required_envs else ""
        yield name, f"set by this command (rank {ENVS}){required}; export it to override"


def _example(program: str, words: Sequence[str], example: dict[str, object]) -> tuple[str, str]:
    """Return an example with the program and its category before it, when it lacks them."""
    command = str(example["command"])
    if command.split(" ", maxsplit=1)[0] == words[-1]:
        command = " ".join([program, *words[:-1], command])
    return command, str(example.get("description", ""))


def _notes(definition: Definition, plugin: str) -> Iterator[str]:
    if definition.env_files:
        yield f"Variables of the environment files have rank {ENV_FILES}."
    if definition.os:
        yield f"Runs on {' and '.join(definition.os)}."
    if definition.destroys or definition.effects == "read":
        yield _EFFECTS[definition.effects]
    if definition.confirm:
        yield f"Asks before it runs: {definition.confirm}"
    if definition.sudo:
        yield "Needs administrator rights (sudo)."
    if plugin:
        yield f"Comes from the plugin {plugin}."
    if definition.file:
        yield f"Defined in {definition.file}."
