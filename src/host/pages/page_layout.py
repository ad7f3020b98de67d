"""The layout of every page: a title, a description, then sections of rows or tables."""

from __future__ import annotations

from itertools import pairwise

from host.arguments.spec import explanation, term
from host.text import printable
from host.text_width import width_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from host.arguments.spec import Argument
    from host.listing import Terminal

_INDENT = "  "
_AS_WRITTEN = (" ", "\t", "- ", "* ", "+ ", "$", "1. ", "1) ", "|")  # not prose
_GAP = 2  # columns between term and explanation
WIDEST_TERM = 28  # columns; a longer term gets its own line


class Page:
    """Builds a page with the layout of the program's own pages; all text is made printable.

    The title comes first. Sections follow in the order of the calls; empty ones are left out::

        page = Page(terminal)
        page.title("Acme")
        page.table("Options", [("--force", "Overwrite existing files.")])
        print(page.text(), end="")
    """

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self._lines: list[str] = []

    def title(self, text: str) -> None:
        """Add the page's title."""
        title = self.terminal.styled(printable(text), "heading")
        self._lines.append(title)

    def paragraph(self, text: str) -> None:
        """Add a paragraph, wrapped to the terminal's width."""
        if text:
            self._lines += wrap(printable(text), self.terminal.width)

    def prose(self, text: str) -> None:
        """Add the paragraphs of `text`; a paragraph with indented lines is not wrapped."""
        for index, paragraph in enumerate(text.split("\n\n")):
            if index > 0:
                self._lines.append("")
            if "\n  " in paragraph:
                self._lines += map(printable, paragraph.splitlines())
            else:
                self.paragraph(" ".join(paragraph.split()))

    def paragraphs(self, paragraphs: Sequence[Sequence[str]]) -> None:
        """Add paragraphs as lines; lists and paragraphs with indented lines are not wrapped."""
        for lines in paragraphs:
            self._lines.append("")
            is_as_written = any(line.startswith(_AS_WRITTEN) for line in lines)
            if is_as_written:
                self._lines += map(printable, lines)
                continue
            for text in _joined(lines):
                self.paragraph(text)

    def usage(self, text: str) -> None:
        """Add a usage line; `text` does not include `Usage:`."""
        indent = " " * len("Usage: ")
        columns = self.terminal.width - len(indent)
        first, *others = wrap(printable(text), columns)

        label = self.terminal.styled("Usage:", "heading")
        self._lines += ["", f"{label} {first}"]
        self._lines += [indent + line for line in others]

    def section(self, heading: str, rows: Sequence[str]) -> None:
        """Add a section with a heading and rows that are not wrapped."""
        self.lines(heading, list(map(printable, rows)))

    def table(self, heading: str, rows: Sequence[tuple[str, str]]) -> None:
        """Add a section with a heading and rows, each with a term and its wrapped explanation."""
        names = [printable(name) for name, _ in rows]
        column = text_column(names)
        columns = self.terminal.width - len(_INDENT) - column

        lines = []
        for name, (_, text) in zip(names, rows, strict=True):
            wrapped = wrap(printable(text), columns)
            lines += self.row(name, wrapped, column)
        self.lines(heading, lines)

    def row(
        self, name: str, text: Sequence[str], column: int, style: str = "name"
    ) -> list[str]:
        """Return the lines of a row: a printable name and, from `column` on, its text.

        On a terminal, the text begins on the next line if the name is too long.
        """
        label = self.terminal.styled(name, style)
        gap = column - width_of(name)
        indent = " " * column
        first, *others = text
        lines = [indent + line for line in others]

        # For other programs, a name and its text stay on one line.
        is_too_long = gap < _GAP and first != ""
        if is_too_long and self.terminal.is_interactive:
            return [label, indent + first, *lines]

        blanks = " " * max(gap, _GAP)
        return [f"{label}{blanks}{first}", *lines]

    def arguments(self, arguments: Sequence[Argument]) -> None:
        """Add a table of the positional arguments and a table of the options."""
        positional: list[tuple[str, str]] = []
        options: list[tuple[str, str]] = []
        for argument in arguments:
            row = (term(argument), explanation(argument))
            if argument.option:
                options.append(row)
            else:
                positional.append(row)

        self.table("Arguments", positional)
        self.table("Options", options)

    def lines(self, heading: str, rows: Sequence[str]) -> None:
        """Add a section with a heading and rows that are already printable and may have colours."""
        if not rows:
            return
        title = self.terminal.styled(f"{printable(heading)}:", "heading")
        self._lines += ["", title]
        self._lines += [_INDENT + row for row in rows]

    def add(self, *lines: str) -> None:
        """Add printable lines without a heading."""
        self._lines += lines

    def text(self) -> str:
        """Return the page as text."""
        lines = [line.rstrip() for line in self._lines]
        return "\n".join([*lines, ""])


def text_column(names: Iterable[str]) -> int:
    """Return the column at which the texts of a table begin, behind its printable names."""
    widest = 0
    for name in names:
        width = width_of(name)
        if width <= WIDEST_TERM:
            widest = max(widest, width)
    return widest + _GAP


def _joined(lines: Sequence[str]) -> list[str]:
    """Return the lines of a paragraph; those that their author has filled are joined.

    If the next word would have fitted into a line, its end is meant.
    """
    width = max(map(len, lines))
    texts = [lines[0]]
    for before, line in pairwise(lines):
        next_word, _, _ = line.partition(" ")
        if len(f"{before} {next_word}") <= width:
            texts.append(line)
        else:
            texts[-1] += f" {line}"
    return texts
