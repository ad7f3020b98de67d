"""Listings as text, or as a tree with branches."""

from __future__ import annotations

from host import Category, Command, Page, Record, printable, shortened, width_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from host import Listing, Terminal

    _Row: TypeAlias = "Category | Command | _Part"

_WIDEST_NAME = 32  # columns for names; a wider name gets a line of its own
_OPTIONS_WIDTH = 80  # columns for the names of the global options


def text_page(listing: Listing, terminal: Terminal) -> str:
    """Return the page of a category; a deep listing has a section for each subcategory."""
    page = Page(terminal)
    page.title(f"{listing.name} {listing.version}".strip())
    page.paragraph(listing.description)
    page.usage(_usage(listing))
    page.arguments(listing.arguments)

    rows = listing.rows()
    widths = []
    for row in rows:
        widths.append(width_of(_label(row, listing)))
        widths += [width_of(label) for label, _ in _labelled_parts(row, listing)]
    column = min(max(widths, default=0), _WIDEST_NAME) + 2
    if listing.deep:
        page.add(*_by_category(page, listing, column))
    else:
        for heading, members in listing.sections():
            lines = _row_lines(page, members, listing, column)
            page.lines(heading, [*lines])
    if not rows:
        page.add("", "Nothing to list here.")

    if listing.options:
        # The names are enough here.
        names = ", ".join(forms for forms, _ in listing.options)
        names += f"; see: {listing.program} help options"
        columns = min(terminal.width, _OPTIONS_WIDTH) - 2
        page.lines("Options", wrap(names, columns))
    if listing.notes:
        page.add("", *map(printable, listing.notes))
    return page.text()


def _by_category(page: Page, listing: Listing, column: int) -> Iterator[str]:
    """Yield the lines of a section for each category, with its commands in groups."""
    categories: dict[tuple[str, ...], Category] = {}
    inside: dict[tuple[str, ...], list[Command]] = {}
    for category in listing.categories:
        categories[category.words] = category
        # A category without commands has a section, too.
        inside[category.words] = []
    for command in listing.commands:
        category_words = command.words[:-1]
        inside.setdefault(category_words, []).append(command)

    for words, commands in sorted(inside.items()):
        yield ""
        yield from _category_lines(page, words, categories.get(words))

        section = listing.replaced(categories=(), commands=tuple(commands))
        for group, rows in section.sections():
            if group != "Commands":
                heading = page.terminal.styled(f"{printable(group)}:", "heading")
                yield f"  {heading}"
            for line in _row_lines(page, rows, listing, column):
                yield f"  {line}"


def _category_lines(
    page: Page, words: tuple[str, ...], category: Category | None
) -> list[str]:
    """Return the heading of a section; the root has no category of its own."""
    label = "Commands"
    if words:
        label = printable(" ".join(words))
    column = width_of(label) + 2
    if category is None:
        return page.row(label, [""], column, "heading")

    lines = [_fitted(category.description, [], page.terminal, column)]
    lines += _hidden(category)
    return page.row(label, lines, column, "heading")


def _row_lines(
    page: Page, rows: Iterable[Category | Command], listing: Listing, column: int
) -> Iterator[str]:
    """Yield the lines of each row: its name, and its description, which starts at `column`."""
    for row in rows:
        lines = [_about(row, page.terminal, column + 2)]
        if listing.deep and isinstance(row, Command):
            lines += _hidden(row)
        label = _label(row, listing)
        yield from page.row(label, lines, column, _style(row))
        for part_label, part in _labelled_parts(row, listing):
            about = _about(part, page.terminal, column + 2)
            yield from page.row(part_label, [about], column)


class _Part(Record):
    """A subcommand of a click command; `words` begin with those of the command."""

    words: tuple[str, ...]
    description: str


def _parts(row: Category | Command) -> Iterator[_Part]:
    """Yield the subcommands on all levels of a click command, without hidden ones."""
    if isinstance(row, Category) or row.definition.click is None:
        return
    for subcommand in row.definition.click.subcommands:
        if not subcommand.hidden:
            words = (*row.words, *subcommand.words)
            yield _Part(words, subcommand.description)


def _labelled_parts(
    row: Category | Command, listing: Listing
) -> Iterator[tuple[str, _Part]]:
    """Yield the label and the part for each subcommand of a click command.

    A listing that is not deep shows only those directly below it.
    """
    for part in _parts(row):
        if listing.deep:
            yield printable(" ".join(part.words)), part
        elif len(part.words) == len(row.words) + 1:
            yield f"  {printable(part.words[-1])}", part


def _hidden(row: Category | Command) -> list[str]:
    """Return a line for each place of a command or category that the row hides."""
    return [f"hides {printable(place)}" for place in row.shadows]


def _label(row: Category | Command, listing: Listing) -> str:
    if listing.deep:
        return printable(" ".join(row.words))
    return printable(row.words[-1])


def _style(row: _Row) -> str:
    if isinstance(row, Command) and row.installed:
        return "installed"
    return "name"


def _about(row: _Row, terminal: Terminal, column: int) -> str:
    """Return what follows after `column`: the row's description and marks such as `[plugin]`."""
    if isinstance(row, Command):
        description = row.definition.description
        marks = row.indicators(terminal)
        return _fitted(description, marks, terminal, column)
    return _fitted(row.description, [], terminal, column)


def _fitted(text: str, marks: Sequence[str], terminal: Terminal, column: int) -> str:
    """Return `text` and marks such as `[plugin]`; on a terminal, `text` is cut at its width."""
    labels = " ".join(map(printable, marks))
    text = printable(text)
    if terminal.is_interactive:
        columns = terminal.width - column
        if labels:
            columns -= width_of(labels) + 1
        text = shortened(text, max(columns, 1))

    # Colours come last: their codes have no width.
    styled = [terminal.styled(printable(mark), mark) for mark in marks]
    return " ".join(filter(None, [text, *styled]))


def _usage(listing: Listing) -> str:
    words = " ".join([listing.program, *listing.words])
    if listing.runnable:
        usages = [argument.usage for argument in listing.arguments]
        arguments = " ".join(usages)
        if not arguments:
            arguments = "[--option …]"
        return f"{words} {arguments} | {words} <command> [args…]"

    if listing.words:
        return f"{words} <command> [args…]"
    return f"{words} <category> <command> [args…]"


def tree_page(listing: Listing, terminal: Terminal) -> str:
    """Return a root line and the rows below it, with branches that show their parents."""
    if terminal.can_print("├└│─"):
        fork, end, side = "├── ", "└── ", "│   "
    else:
        fork, end, side = "|-- ", "`-- ", "|   "
    blank = " " * len(side)

    rows: dict[tuple[str, ...], list[_Row]] = {}
    for _, section in listing.sections():
        for listed in section:
            for shown in (listed, *_parts(listed)):
                rows.setdefault(shown.words[:-1], []).append(shown)

    words = " ".join([listing.program, *listing.words])
    root = printable(words)
    lines = [terminal.styled(root, "heading")]

    # Rows to show, with their indents; the next one is the last. A recursive function would fail
    # in a tree that is deeper than Python's stack.
    top = rows.get(listing.words, [])
    waiting = [(row, "") for row in reversed(top)]
    while waiting:
        row, indent = waiting.pop()
        siblings = rows[row.words[:-1]]
        if row is siblings[-1]:
            branch = end
            inner = indent + blank
        else:
            branch = fork
            inner = indent + side

        children = rows.get(row.words, [])
        style = "heading" if isinstance(row, Category) else _style(row)

        word = printable(row.words[-1])
        column = len(indent) + len(branch) + width_of(word) + 2
        about = _about(row, terminal, column)
        line = f"{indent}{branch}{terminal.styled(word, style)}  {about}"
        lines.append(line.rstrip())
        for child in reversed(children):
            waiting.append((child, inner))

    page = "\n".join(lines)
    return f"{page}\n"
