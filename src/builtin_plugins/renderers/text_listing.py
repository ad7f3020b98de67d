"""Listings as text, or as a tree with branches."""

from __future__ import annotations

from host import Category, Command, Page, printable, width_of, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from host import Listing, Terminal

_WIDEST_NAME = 32  # columns for names; a wider name gets a line of its own


def text_page(listing: Listing, terminal: Terminal) -> str:
    page = Page(terminal)
    page.title(f"{listing.name} {listing.version}" if listing.version else listing.name)
    page.paragraph(listing.description)
    page.usage(_usage(listing))
    page.arguments(listing.arguments)
    rows: list[Category | Command] = [*listing.categories, *listing.commands]
    names = [width_of(_label(row, listing)) for row in rows]
    column = min(max(names, default=0), _WIDEST_NAME) + 2
    if listing.deep:
        page.add(*_by_category(page, listing, column))
    else:
        for heading, members in listing.sections():
            page.lines(heading, [*_row_lines(page, members, listing, column)])
    if not rows:
        page.add("", "Nothing to list here.")
    page.table("Options", listing.options)
    if listing.notes:
        page.add("", *map(printable, listing.notes))
    return page.text()


def _by_category(page: Page, listing: Listing, column: int) -> Iterator[str]:
    """Yield the lines of a section for each category, with its commands in groups."""
    inside: dict[tuple[str, ...], list[Command]] = {
        one.words: [] for one in listing.categories
    }
    about = {one.words: one.description for one in listing.categories}
    hidden = {one.words: one.shadows for one in listing.categories}
    for command in listing.commands:
        inside.setdefault(command.words[:-1], []).append(command)
    for words, commands in sorted(inside.items()):
        label = printable(" ".join(words)) or "Commands"
        indent = width_of(label) + 2
        yield ""
        lines = _wrapped(about.get(words, ""), [], page.terminal, indent)
        lines += [f"hides {printable(place)}" for place in hidden.get(words, ())]
        yield from page.row(label, lines, indent, "heading")
        for group, rows in listing.replaced(
            categories=(), commands=tuple(commands)
        ).sections():
            if group != "Commands":
                yield f"  {page.terminal.styled(f'{printable(group)}:', 'heading')}"
            yield from (f"  {line}" for line in _row_lines(page, rows, listing, column))


def _row_lines(
    page: Page, rows: Iterable[Category | Command], listing: Listing, column: int
) -> Iterator[str]:
    """Yield the lines of each row: its name, and its description, which starts at `column`."""
    for row in rows:
        lines = _about(row, page.terminal, column + 2)
        if listing.deep and isinstance(row, Command):
            lines += [f"hides {printable(place)}" for place in row.shadows]
        yield from page.row(_label(row, listing), lines, column, _style(row))


def _label(row: Category | Command, listing: Listing) -> str:
    return printable(" ".join(row.words if listing.deep else row.words[-1:]))


def _style(row: Category | Command) -> str:
    return "installed" if isinstance(row, Command) and row.installed else "name"


def _about(row: Category | Command, terminal: Terminal, column: int) -> list[str]:
    """Return lines that fit after `column`: the row's description and marks such as `[plugin]`."""
    if isinstance(row, Command):
        return _wrapped(
            row.definition.description, row.indicators(terminal), terminal, column
        )
    return _wrapped(row.description, [], terminal, column)


def _wrapped(
    text: str, marks: Sequence[str], terminal: Terminal, column: int
) -> list[str]:
    """Return `text` and marks such as `[plugin]`, wrapped to the width after `column`.

    Without a terminal, they are one line.
    """
    marks = [printable(mark) for mark in marks]
    if terminal.is_interactive:
        lines = wrap(" ".join([printable(text), *marks]), terminal.width - column)
    else:
        lines = [" ".join(filter(None, [printable(text), *marks]))]
    for mark in marks if terminal.colour else ():
        lines = [line.replace(mark, terminal.styled(mark, mark)) for line in lines]
    return lines


def _usage(listing: Listing) -> str:
    words = " ".join([listing.program, *listing.words])
    if listing.runnable:
        own = " ".join(one.usage for one in listing.arguments) or "[--option …]"
        return f"{words} {own} | {words} <command> [args…]"
    if listing.words:
        return f"{words} <command> [args…]"
    return f"{words} <category> <command> [args…]"


def tree_page(listing: Listing, terminal: Terminal) -> str:
    """Return a root line and the rows below it, with branches that show their parents."""
    branches = (
        ("├── ", "└── ", "│   ")
        if terminal.can_print("├└│─")
        else ("|-- ", "`-- ", "|   ")
    )
    fork, end, side = branches
    rows: dict[tuple[str, ...], list[Category | Command]] = {}
    for _, section in listing.sections():
        for row in section:
            rows.setdefault(row.words[:-1], []).append(row)

    lines = []
    # Rows to show, with their indents; the next one is the last. A recursive function would fail
    # in a tree that is deeper than Python's stack.
    waiting = [(row, "") for row in reversed(rows.get(listing.words, []))]
    while waiting:
        row, indent = waiting.pop()
        is_last = row is rows[row.words[:-1]][-1]
        is_category = isinstance(row, Category)
        word = printable(row.words[-1])
        column = len(indent) + len(fork) + width_of(word) + 2
        first, *others = _about(row, terminal, column)
        shown = terminal.styled(word, "heading" if is_category else _style(row))
        lines.append(f"{indent}{end if is_last else fork}{shown}  {first}".rstrip())
        inner = indent + ("    " if is_last else side)
        beside = inner + (side if is_category and row.words in rows else "")
        lines += [f"{beside.ljust(column)}{line}" for line in others]
        if is_category:
            waiting += [(child, inner) for child in reversed(rows.get(row.words, []))]

    root = terminal.styled(
        printable(" ".join([listing.program, *listing.words])), "heading"
    )
    return "".join(f"{line}\n" for line in (root, *lines))
