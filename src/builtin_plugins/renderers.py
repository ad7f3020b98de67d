"""Listings as text, JSON and a tree."""

from __future__ import annotations

from host import Category, Command, hookimpl
from host.cli.columns import width, wrap
from host.cli.help_page import argument_tables
from host.cli.rows import grouped, indicators
from host.run.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from host import Listing, Terminal

_GREEN, _BOLD, _RESET = "\033[32m", "\033[1m", "\033[0m"
_WIDEST_NAME = 32  # columns; a longer name gets a line of its own


@hookimpl
def render_listing(listing: Listing, format: str, terminal: Terminal) -> str | None:
    if format == "text":
        return "".join(f"{line}\n" for line in _text(listing, terminal))
    if format == "tree":
        return "".join(f"{line}\n" for line in _tree(listing, terminal))
    if format == "json":
        return _json(listing)
    return None


def _text(listing: Listing, terminal: Terminal) -> Iterator[str]:
    title = printable(listing.name)
    if listing.version:
        title += f" {printable(listing.version)}"
    yield _styled(title, _BOLD, terminal)
    if listing.description:
        yield from wrap(printable(listing.description), terminal.width)
    yield ""
    yield f"Usage: {_usage(listing)}"
    yield from _arguments(listing)
    sections = grouped(listing)
    names = [width(_label(row, listing)) for _, rows in sections for row in rows]
    column = min(max(names, default=0), _WIDEST_NAME) + 4
    for heading, rows in sections:
        yield ""
        yield _styled(f"{printable(heading)}:", _BOLD, terminal)
        for row in rows:
            yield from _row(row, listing, terminal, column)
    if not sections:
        yield ""
        yield "Nothing here yet."
    if not listing.words and not listing.deep:
        yield ""
        yield from _global_options(listing)


def _arguments(listing: Listing) -> Iterator[str]:
    """Yield what the category's own entrypoint takes, a line for each with its explanation."""
    for heading, rows in argument_tables(listing.arguments):
        column = max((width(printable(term)) for term, _ in rows), default=0) + 2
        if rows:
            yield ""
            yield heading
        for term, text in rows:
            shown = printable(term)
            yield f"  {shown}{' ' * (column - width(shown))}{printable(text)}".rstrip()


def _usage(listing: Listing) -> str:
    words = printable(" ".join([listing.program, *listing.words]))
    if listing.runnable:
        own = printable(" ".join(one.usage for one in listing.arguments)) or "[--option …]"
        return f"{words} {own} | {words} <command> [args…]"
    if listing.words:
        return f"{words} <command> [args…]"
    return f"{words} <category> <command> [args…]"


def _global_options(listing: Listing) -> Iterator[str]:
    program = printable(listing.program)
    yield "Options:"
    yield "  -h, --help       show this, or with words before it their help"
    yield "  -V, --version    show the version"
    yield "  --all            list hidden commands and those for other systems too"
    yield "  --format FORMAT  list as text, json, tree, or a plugin's format"
    yield "  --safe           first: import no plugin's Python code"
    yield "  --yes            first: run what asks before it runs without asking"
    yield ""
    yield f"`{program} help <words…>` explains a command, `{program} self` manages this program."


def _label(row: Category | Command, listing: Listing) -> str:
    words = row.words if listing.deep else row.words[-1:]
    return printable(" ".join(words))


def _row(
    row: Category | Command, listing: Listing, terminal: Terminal, column: int
) -> Iterator[str]:
    label = _label(row, listing)
    shown = label
    text = printable(row.description if isinstance(row, Category) else row.definition.description)
    if isinstance(row, Command):
        if row.installed:
            shown = _styled(label, _GREEN, terminal)
        marks = indicators(row, terminal)
        text = " ".join([text, *map(printable, marks)]).strip()
    lines = wrap(text, terminal.width - column)
    if width(label) > column - 4:
        yield f"  {shown}"
    else:
        yield f"  {shown}{' ' * (column - 2 - width(label))}{lines.pop(0)}".rstrip()
    for line in lines:
        yield f"{' ' * column}{line}".rstrip()
    if listing.deep and isinstance(row, Command):
        for place in row.shadows:
            yield f"{' ' * column}hides {printable(place)}"


def _tree(listing: Listing, terminal: Terminal) -> Iterator[str]:
    """Yield the rows below a root line, each with branches that show where it hangs."""
    branches = ("├── ", "└── ", "│   ") if terminal.can_print("├└│─") else ("|-- ", "`-- ", "|   ")
    yield _styled(printable(" ".join([listing.program, *listing.words])), _BOLD, terminal)
    rows: dict[tuple[str, ...], list[Category | Command]] = {}
    for _, section in grouped(listing):
        for row in section:
            rows.setdefault(row.words[:-1], []).append(row)
    pending = [("", row, row is rows[listing.words][-1]) for row in rows.get(listing.words, [])]
    pending.reverse()
    while pending:
        indent, row, last = pending.pop()
        yield f"{indent}{branches[1] if last else branches[0]}{_tree_label(row, terminal)}"
        below = rows.get(row.words, []) if isinstance(row, Category) else []
        inner = indent + ("    " if last else branches[2])
        pending += [(inner, one, one is below[-1]) for one in reversed(below)]


def _tree_label(row: Category | Command, terminal: Terminal) -> str:
    word = printable(row.words[-1])
    if isinstance(row, Category):
        shown, text, marks = _styled(word, _BOLD, terminal), row.description, []
    else:
        shown = _styled(word, _GREEN, terminal) if row.installed else word
        text, marks = row.definition.description, indicators(row, terminal)
    about = " ".join(map(printable, filter(None, [text, *marks])))
    return f"{shown}  {about}".rstrip()


def _styled(text: str, style: str, terminal: Terminal) -> str:
    return f"{style}{text}{_RESET}" if terminal.colour else text


def _json(listing: Listing) -> str:
    """Return an object of two arrays, each of their rows on a line: fast for thousands."""
    import json

    categories = [
        {"path": list(one.words), "name": one.name, "description": one.description}
        for one in listing.categories
    ]
    commands = [_json_command(one) for one in listing.commands]
    arrays = [
        f'"{key}": [{",".join(f"{chr(10)}  {json.dumps(row)}" for row in rows)}]'
        for key, rows in (("categories", categories), ("commands", commands))
    ]
    return f"{{{', '.join(arrays)}}}\n"


def _json_command(command: Command) -> dict[str, Any]:
    definition = command.definition
    return {
        "path": list(command.words),
        "name": definition.name,
        "description": definition.description,
        "group": definition.group or None,
        "sudo": definition.sudo,
        "os": list(definition.os),
        "compatible": definition.compatible,
        "installed": command.installed,
        "origin": command.origin,
        "plugin": command.plugin or None,
        "dev": command.dev,
        "entrypoint": definition.entrypoint,
        "aliases": list(definition.aliases),
        "hidden": definition.hidden,
        "args": [_json_argument(one) for one in definition.args],
        "examples": [
            {"command": one["command"], "description": one.get("description")}
            for one in definition.examples
        ],
        "effects": definition.effects,
    }


def _json_argument(argument: Any) -> dict[str, Any]:
    """Return a declared argument with all its keys; those that it has not are null."""
    return {
        "name": argument.name,
        "short": argument.short or None,
        "value": argument.value or None,
        "type": argument.type or None,
        "choices": list(argument.choices) or None,
        "default": argument.default,
        "required": argument.required,
        "description": argument.description or None,
        "complete": argument.complete or None,
    }
