"""Texts and tables that several `self` commands print."""

from __future__ import annotations

from host import printable, width_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from host.cli.session import Session


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def show_facts(session: Session, facts: Iterable[tuple[str, object]]) -> None:
    """Show names and values in two columns; a fact without a value is left out."""
    given = [(name, str(value)) for name, value in facts if value not in (None, "")]
    rows = [(name.replace("_", " "), printable(text)) for name, text in given]
    width = max(len(name) for name, _ in rows) + 1
    styled = session.terminal.styled
    lines = [
        f"{styled(name, 'name')}:{' ' * (width - len(name))}{value}\n"
        for name, value in rows
    ]
    session.show("".join(lines))


def columns(table: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table with aligned columns, two spaces apart."""
    rows = [[printable(cell) for cell in row] for row in table]  # escapes change widths
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        yield "  ".join(
            cell + " " * (width - width_of(cell)) for cell, width in cells
        ).rstrip()
