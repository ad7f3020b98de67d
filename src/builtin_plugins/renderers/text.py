"""Listings for people: as text, or with branches as a tree."""

from __future__ import annotations

from builtin_plugins.renderers.row import label_of, lines_of, name_of, row_lines
from host import Category, Command, Page, printable, width_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from host import Listing, Terminal

_WIDEST_NAME = 32  # columns; a longer name gets a line of its own


def text_page(listing: Listing, terminal: Terminal) -> str:
    page = Page(terminal)
    page.title(f"{listing.name} {listing.version}" if listing.version else listing.name)
    page.paragraph(listing.description)
    page.usage(_usage(listing))
    page.arguments(listing.arguments)
    rows: list[Category | Command] = [*listing.categories, *listing.commands]
    names = [width_of(label_of(row, listing)) for row in rows]
    column = min(max(names, default=0), _WIDEST_NAME) + 2
    if listing.deep:
        page.add(*_by_category(listing, terminal, column))
    else:
        for heading, members in listing.sections():
            page.lines(heading, [*row_lines(members, listing, terminal, column)])
    if not rows:
        page.add("", "Nothing to list here.")
    page.table("Options", listing.options)
    if listing.notes:
        page.add("", *map(printable, listing.notes))
    return page.text()


def _by_category(listing: Listing, terminal: Terminal, column: int) -> Iterator[str]:
    """Yield all rows below, a section for each category, its groups inside."""
    inside: dict[tuple[str, ...], list[Command]] = {one.words: [] for one in listing.categories}
    about = {one.words: one for one in listing.categories}
    for command in listing.commands:
        inside.setdefault(command.words[:-1], []).append(command)
    for words, commands in sorted(inside.items()):
        yield ""
        heading = terminal.styled(printable(" ".join(words) or "Commands"), "heading")
        indent = width_of(printable(" ".join(words))) + 2
        lines = lines_of(about.get(words), terminal, indent)
        yield f"{heading}  {lines[0]}"
        yield from (" " * indent + line for line in lines[1:])
        for group, rows in listing.replaced(categories=(), commands=tuple(commands)).sections():
            if group != "Commands":
                yield f"  {terminal.styled(f'{printable(group)}:', 'heading')}"
            yield from (f"  {line}" for line in row_lines(rows, listing, terminal, column))


def _usage(listing: Listing) -> str:
    words = " ".join([listing.program, *listing.words])
    if listing.runnable:
        own = " ".join(one.usage for one in listing.arguments) or "[--option …]"
        return f"{words} {own} | {words} <command> [args…]"
    if listing.words:
        return f"{words} <command> [args…]"
    return f"{words} <category> <command> [args…]"


def tree_lines(listing: Listing, terminal: Terminal) -> Iterator[str]:
    """Yield the rows below a root line, each with branches that show where it hangs."""
    branches = ("├── ", "└── ", "│   ") if terminal.can_print("├└│─") else ("|-- ", "`-- ", "|   ")
    yield terminal.styled(printable(" ".join([listing.program, *listing.words])), "heading")
    rows: dict[tuple[str, ...], list[Category | Command]] = {}
    for _, section in listing.sections():
        for row in section:
            rows.setdefault(row.words[:-1], []).append(row)
    pending = [("", row, row is rows[listing.words][-1]) for row in rows.get(listing.words, [])]
    pending.reverse()
    while pending:
        indent, row, last = pending.pop()
        word = printable(row.words[-1])
        column = len(indent) + len(branches[0]) + width_of(word) + 2
        lines = lines_of(row, terminal, column)
        is_category = isinstance(row, Category)
        shown = terminal.styled(word, "heading") if is_category else name_of(row, word, terminal)
        yield f"{indent}{branches[1] if last else branches[0]}{shown}  {lines[0]}".rstrip()
        below = rows.get(row.words, []) if is_category else []
        inner = indent + ("    " if last else branches[2])
        beside = inner + (branches[2] if below else "")
        yield from (f"{beside.ljust(column)}{line}" for line in lines[1:])
        pending += [(inner, one, one is below[-1]) for one in reversed(below)]
