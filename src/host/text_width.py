"""The width of text on a terminal in columns, including wide and combining characters; tables.

Most text is ASCII and `…`, with one column per character. wcwidth is loaded only for other text.
"""

from host.text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_NARROWEST = 20


def width_of(text: str) -> int:
    """Return the number of columns that `text` takes; it must be printable."""
    if text.isascii() or text.replace("…", "").isascii():
        return len(text)

    from host.processes.importing import complete_import_path

    complete_import_path("wcwidth")
    import wcwidth

    width: int = wcwidth.wcswidth(text)
    return max(0, width)  # -1 means that a character is not printable


def shortened(text: str, columns: int) -> str:
    """Return `text`, or as much of it as fits into `columns` columns with an `…` at the end."""
    if width_of(text) <= columns:
        return text

    # A character takes at least one column, unless it is combining.
    beginning = text[:columns]
    while beginning and width_of(beginning) > columns - 1:
        beginning = beginning[:-1]
    return f"{beginning}…"


def wrap(text: str, columns: int) -> list[str]:
    """Return the lines of `text`, wrapped at `columns` columns (but not at fewer than 20).

    An empty text gives one empty line.
    """
    columns = max(columns, _NARROWEST)

    lines: list[str] = []
    line = ""
    for word in text.split():
        if not line:
            line = word
        elif width_of(line) + 1 + width_of(word) <= columns:
            line += f" {word}"
        else:
            lines.append(line)
            line = word

        # Only a single word can be too long: it is broken where the line ends.
        while width_of(line) > columns:
            end = 1
            while width_of(line[: end + 1]) <= columns:
                end += 1
            lines.append(line[:end])
            line = line[end:]

    if line or not lines:
        lines.append(line)
    return lines


def table_lines(table: "Iterable[Sequence[str]]") -> "Iterator[str]":
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
