"""Listings as text."""

from __future__ import annotations

from builtin_plugins.renderers.row import about_of, lines_of, name_of, shortened
from host import Command, printable
from host.cli import styles
from host.cli.columns import width, wrap
from host.cli.options import OPTIONS
from host.cli.page import table_lines
from host.cli.topics import DOCS, TOPICS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from host import Category, Listing, Terminal

_WIDEST_NAME = 32  # columns; a longer name gets a line of its own


def text_lines(listing: Listing, terminal: Terminal) -> Iterator[str]:
    title = printable(listing.name)
    if listing.version:
        title += f" {printable(listing.version)}"
    yield styles.styled(title, styles.HEADING, terminal)
    if listing.description:
        yield from wrap(printable(listing.description), terminal.width)
    yield ""
    yield f"{styles.styled('Usage:', styles.HEADING, terminal)} {_usage(listing)}"
    yield from _arguments(listing, terminal)
    rows: list[Category | Command] = [*listing.categories, *listing.commands]
    names = [width(_label(row, listing)) for row in rows]
    column = min(max(names, default=0), _WIDEST_NAME) + 4
    sections = _by_category if listing.deep else _by_kind
    yield from sections(listing, terminal, column)
    if not rows:
        yield ""
        yield "Nothing to list here."
    if not listing.words and not listing.deep:
        yield ""
        yield from _global_options(listing, terminal)


def _by_kind(listing: Listing, terminal: Terminal, column: int) -> Iterator[str]:
    """Yield the rows of one category: subcategories, commands, each group."""
    for heading, rows in listing.sections():
        yield ""
        yield styles.styled(f"{printable(heading)}:", styles.HEADING, terminal)
        for row in rows:
            yield from _row(row, listing, terminal, column)


def _by_category(listing: Listing, terminal: Terminal, column: int) -> Iterator[str]:
    """Yield all rows below, a section for each category, its groups inside."""
    inside: dict[tuple[str, ...], list[Command]] = {one.words: [] for one in listing.categories}
    about = {one.words: shortened(one.description, terminal) for one in listing.categories}
    for command in listing.commands:
        inside.setdefault(command.words[:-1], []).append(command)
    for words, commands in sorted(inside.items()):
        yield ""
        heading = styles.styled(printable(" ".join(words) or "Commands"), styles.HEADING, terminal)
        indent = width(printable(" ".join(words))) + 2
        lines = lines_of(about.get(words, ""), [], terminal, indent)
        yield f"{heading}  {lines[0]}".rstrip()
        yield from (" " * indent + line for line in lines[1:])
        for group, rows in listing.replaced(categories=(), commands=tuple(commands)).sections():
            if group != "Commands":
                yield f"  {styles.styled(f'{printable(group)}:', styles.HEADING, terminal)}"
            for row in rows:
                yield from _row(row, listing, terminal, column)


def _arguments(listing: Listing, terminal: Terminal) -> Iterator[str]:
    """Yield what the category's own entrypoint takes, a line for each with its explanation."""
    if not listing.arguments:
        return
    from host.cli.argument_tables import argument_tables

    for heading, rows in argument_tables(listing.arguments):
        if rows:
            yield ""
            yield styles.styled(f"{heading}:", styles.HEADING, terminal)
            yield from table_lines(rows, terminal)


def _usage(listing: Listing) -> str:
    words = printable(" ".join([listing.program, *listing.words]))
    if listing.runnable:
        own = printable(" ".join(one.usage for one in listing.arguments)) or "[--option …]"
        return f"{words} {own} | {words} <command> [args…]"
    if listing.words:
        return f"{words} <command> [args…]"
    return f"{words} <category> <command> [args…]"


def _global_options(listing: Listing, terminal: Terminal) -> Iterator[str]:
    program = printable(listing.program)
    yield styles.styled("Options:", styles.HEADING, terminal)
    yield from table_lines([*OPTIONS.items()], terminal)
    yield ""
    yield f"`{program} help <words…>` explains a command, `{program} self` manages this program."
    yield f"`{program} help {'|'.join(TOPICS)}`"
    yield f"More: {DOCS}"


def _label(row: Category | Command, listing: Listing) -> str:
    words = row.words if listing.deep else row.words[-1:]
    return printable(" ".join(words))


def _row(
    row: Category | Command, listing: Listing, terminal: Terminal, column: int
) -> Iterator[str]:
    label = _label(row, listing)
    shown = name_of(row, label, terminal)
    lines = lines_of(*about_of(row, terminal), terminal, column)
    if width(label) <= column - 4:
        yield f"  {shown}{' ' * (column - 2 - width(label))}{lines.pop(0)}".rstrip()
    elif terminal.cuts:
        yield f"  {shown}"
    else:
        yield f"  {shown}  {lines.pop(0)}".rstrip()
    for line in lines:
        yield f"{' ' * column}{line}".rstrip()
    if listing.deep and isinstance(row, Command):
        for place in row.shadows:
            yield f"{' ' * column}hides {printable(place)}"
