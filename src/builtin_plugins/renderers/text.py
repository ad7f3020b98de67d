"""Listings as text."""

from __future__ import annotations

from builtin_plugins.renderers.row import label_of, lines_of, row_lines
from host import Command, printable
from host.cli import styles
from host.cli.columns import width
from host.cli.options import OPTIONS
from host.cli.page import Page, argument_tables
from host.cli.topics import DOCS, TOPICS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from host import Category, Listing, Terminal

_WIDEST_NAME = 32  # columns; a longer name gets a line of its own


def text_page(listing: Listing, terminal: Terminal) -> str:
    page = Page(terminal)
    page.title(f"{listing.name} {listing.version}" if listing.version else listing.name)
    page.paragraph(listing.description)
    page.usage(_usage(listing))
    for heading, arguments in argument_tables(listing.arguments):
        page.table(heading, arguments)
    rows: list[Category | Command] = [*listing.categories, *listing.commands]
    names = [width(label_of(row, listing)) for row in rows]
    column = min(max(names, default=0), _WIDEST_NAME) + 2
    if listing.deep:
        page.add(*_by_category(listing, terminal, column))
    else:
        for heading, members in listing.sections():
            page.lines(heading, [*row_lines(members, listing, terminal, column)])
    if not rows:
        page.add("", "Nothing to list here.")
    if not listing.words and not listing.deep:
        page.table("Options", [*OPTIONS.items()])
        page.add("", *_where_more_is(printable(listing.program)))
    return page.text()


def _by_category(listing: Listing, terminal: Terminal, column: int) -> Iterator[str]:
    """Yield all rows below, a section for each category, its groups inside."""
    inside: dict[tuple[str, ...], list[Command]] = {one.words: [] for one in listing.categories}
    about = {one.words: one for one in listing.categories}
    for command in listing.commands:
        inside.setdefault(command.words[:-1], []).append(command)
    for words, commands in sorted(inside.items()):
        yield ""
        heading = styles.styled(printable(" ".join(words) or "Commands"), styles.HEADING, terminal)
        indent = width(printable(" ".join(words))) + 2
        lines = lines_of(about.get(words), terminal, indent)
        yield f"{heading}  {lines[0]}"
        yield from (" " * indent + line for line in lines[1:])
        for group, rows in listing.replaced(categories=(), commands=tuple(commands)).sections():
            if group != "Commands":
                yield f"  {styles.styled(f'{printable(group)}:', styles.HEADING, terminal)}"
            yield from (f"  {line}" for line in row_lines(rows, listing, terminal, column))


def _usage(listing: Listing) -> str:
    words = " ".join([listing.program, *listing.words])
    if listing.runnable:
        own = " ".join(one.usage for one in listing.arguments) or "[--option …]"
        return f"{words} {own} | {words} <command> [args…]"
    if listing.words:
        return f"{words} <command> [args…]"
    return f"{words} <category> <command> [args…]"


def _where_more_is(program: str) -> Iterator[str]:
    yield f"`{program} help <words…>` explains a command, `{program} self` manages this program."
    yield f"`{program} help {'|'.join(TOPICS)}`"
    yield f"More: {DOCS}"
