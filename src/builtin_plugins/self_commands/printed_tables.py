"""Texts and tables that several `self` commands print."""

from __future__ import annotations

from host import printable, width_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from host.session.session import Session


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    if count == 1:
        return f"{count} {noun}"
    return f"{count} {noun}s"


def show_facts(session: Session, facts: Iterable[tuple[str, object]]) -> None:
    """Show names and values in two columns; a fact without a value is left out."""
    rows = []
    for name, value in facts:
        if value not in (None, ""):
            label = name.replace("_", " ")
            rows.append((label, printable(str(value))))

    width = max(len(name) for name, _ in rows) + 1
    lines = []
    for name, text in rows:
        # A style has characters without width, so it comes after the padding was counted.
        padding = " " * (width - len(name))
        styled = session.terminal.styled(name, "name")
        lines.append(f"{styled}:{padding}{text}\n")
    session.show("".join(lines))


def columns(table: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table with aligned columns, two spaces apart."""
    rows = []
    for row in table:
        # First the escapes, because they change widths.
        rows.append([printable(cell) for cell in row])

    widths = []
    for column in zip(*rows, strict=True):
        widths.append(max(map(width_of, column)))

    for row in rows:
        cells = []
        for cell, width in zip(row, widths, strict=True):
            padding = " " * (width - width_of(cell))
            cells.append(f"{cell}{padding}")
        yield "  ".join(cells).rstrip()
