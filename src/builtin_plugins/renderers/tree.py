"""Listings as a tree."""

from __future__ import annotations

from builtin_plugins.renderers.row import lines_of, name_of
from host import Category, printable
from host.cli import styles
from host.cli.columns import width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from host import Command, Listing, Terminal


def tree_lines(listing: Listing, terminal: Terminal) -> Iterator[str]:
    """Yield the rows below a root line, each with branches that show where it hangs."""
    branches = ("├── ", "└── ", "│   ") if terminal.can_print("├└│─") else ("|-- ", "`-- ", "|   ")
    yield styles.styled(
        printable(" ".join([listing.program, *listing.words])), styles.HEADING, terminal
    )
    rows: dict[tuple[str, ...], list[Category | Command]] = {}
    for _, section in listing.sections():
        for row in section:
            rows.setdefault(row.words[:-1], []).append(row)
    pending = [("", row, row is rows[listing.words][-1]) for row in rows.get(listing.words, [])]
    pending.reverse()
    while pending:
        indent, row, last = pending.pop()
        word = printable(row.words[-1])
        column = len(indent) + len(branches[0]) + width(word) + 2
        lines = lines_of(row, terminal, column)
        style = styles.HEADING if isinstance(row, Category) else ""
        shown = styles.styled(word, style, terminal) if style else name_of(row, word, terminal)
        yield f"{indent}{branches[1] if last else branches[0]}{shown}  {lines[0]}".rstrip()
        below = rows.get(row.words, []) if isinstance(row, Category) else []
        inner = indent + ("    " if last else branches[2])
        beside = inner + (branches[2] if below else "")
        yield from (f"{beside.ljust(column)}{line}" for line in lines[1:])
        pending += [(inner, one, one is below[-1]) for one in reversed(below)]
