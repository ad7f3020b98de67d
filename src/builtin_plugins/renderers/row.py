"""One row of a listing: its name, its description and its indicators, as a terminal shows them."""

from __future__ import annotations

from host import Category, Command, printable, width_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from host import Listing, Terminal

_LONGEST_TEXT = 500  # characters of a description on a terminal


def name_of(row: Category | Command, label: str, terminal: Terminal) -> str:
    installed = isinstance(row, Command) and row.installed
    return terminal.styled(label, "installed" if installed else "name")


def lines_of(row: Category | Command | None, terminal: Terminal, column: int) -> list[str]:
    """Return description and indicators as lines from `column` on; a single one for no terminal."""
    text, marks = _about(row, terminal)
    shown = [terminal.styled(mark, mark) for mark in marks]
    if not terminal.is_interactive:
        return [" ".join(filter(None, [printable(text), *shown]))]
    if len(text) > _LONGEST_TEXT:
        text = f"{text[:_LONGEST_TEXT].rstrip()}…"
    columns = terminal.width - column
    lines = wrap(printable(text), columns)
    used = width_of(lines[-1])
    for mark, coloured in zip(marks, shown, strict=True):
        if used and used + 1 + width_of(mark) > columns:
            lines.append(coloured)
            used = width_of(mark)
        else:
            lines[-1] = f"{lines[-1]} {coloured}".lstrip()
            used += width_of(mark) + (used > 0)
    return lines


def _about(row: Category | Command | None, terminal: Terminal) -> tuple[str, list[str]]:
    if isinstance(row, Command):
        return row.definition.description, [printable(one) for one in row.indicators(terminal)]
    return row.description if row else "", []


def label_of(row: Category | Command, listing: Listing) -> str:
    words = row.words if listing.deep else row.words[-1:]
    return printable(" ".join(words))


def row_lines(
    rows: Iterable[Category | Command], listing: Listing, terminal: Terminal, column: int
) -> Iterator[str]:
    """Yield each row's name, and its text from `column` on behind the page's indent."""
    for row in rows:
        label = label_of(row, listing)
        shown = name_of(row, label, terminal)
        lines = lines_of(row, terminal, column + 2)
        if width_of(label) <= column - 2:
            yield f"{shown}{' ' * (column - width_of(label))}{lines.pop(0)}"
        elif terminal.is_interactive:
            yield shown
        else:
            yield f"{shown}  {lines.pop(0)}"
        if listing.deep and isinstance(row, Command):
            lines += [f"hides {printable(place)}" for place in row.shadows]
        yield from (f"{' ' * column}{line}" for line in lines)
