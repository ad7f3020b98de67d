"""sub and rbenv: `Summary:`, `Description:`, `Usage:` with its lines, and `Help:`; init scripts.

https://github.com/qrush/sub, https://github.com/rbenv/rbenv. Other scripts have such lines, too.
"""

from host.headers.dialect_values import Reading, value_of
from host.headers.rows import GAP, LATE, SKIP, TAG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host.headers.dialects import Script
    from host.headers.rows import Row

_SUMMARIES = ("summary", "description", "short-description")
_TAGS = (*_SUMMARIES, "usage", "help")
_ENDS = (GAP, TAG, SKIP)
_INDENT = "  "  # of a line that belongs to the tag above it
_MOST_BLANK_LINES = 2  # in a usage


def read(_script: "Script", rows: "Sequence[Row]") -> Reading:
    reading = Reading(rows)
    index = 0
    while index < len(rows):
        kind, text = rows[index]
        name, value = _tag(text)
        # Below an assignment, such a line is about the code.
        if not name or kind == LATE:
            index += 1
            continue

        reading.take(index)
        if name == "usage":
            index = _read_usage(reading, value, rows, index)
        elif name == "help":
            reading.rows[index] = (kind, value)
            index += 1
        else:
            index = _read_summary(reading, name, value, rows, index)
    return reading


def _tag(text: str) -> tuple[str, str]:
    """Return the name and the value of the tag in a line, or "" and ""."""
    name, colon, value = text.strip().partition(":")
    low = name.rstrip().lower()
    if not colon or low not in _TAGS:
        return "", ""
    return low, value.strip()


def _read_summary(
    reading: Reading, name: str, value: str, rows: "Sequence[Row]", index: int
) -> int:
    """Read a summary, which goes on in indented lines; return the index of the row after it."""
    texts = [value]
    index += 1
    while index < len(rows):
        kind, text = rows[index]
        belongs = text.startswith(_INDENT) and text.strip() and not _tag(text)[0]
        if kind in _ENDS or not belongs:
            break
        texts.append(text.strip())
        reading.take(index)
        index += 1

    joined = " ".join(texts).strip()
    has_effect = reading.set_text("description", value_of(joined))
    reading.note(f"{name.capitalize()}:", joined, has_effect=has_effect)
    return index


def _read_usage(reading: Reading, value: str, rows: "Sequence[Row]", index: int) -> int:
    """Read the usage from the row of `Usage:`; return the index of the row after it.

    Further lines are indented. If `Usage:` stands alone, the lines up to an empty one count.
    """
    usage: list[str] = []
    is_indented = False
    if value:
        usage.append(value)
        is_indented = True

    following: list[str] = []
    index += 1
    while index < len(rows):
        kind, text = rows[index]
        if kind in _ENDS or _tag(text)[0]:
            break

        if text.startswith((_INDENT, "\t")):
            is_indented = True
        elif text.strip():
            is_prose_next = is_indented or "" in following
            if is_prose_next:
                break
        elif usage or following:
            # A few blank lines are part of a usage if it goes on behind them.
            near = rows[index : index + _MOST_BLANK_LINES + 1]
            if not _first_text(near).startswith(_INDENT):
                break

        line = text.expandtabs()
        following.append(line.rstrip())
        reading.take(index)
        index += 1

    usage += _without_margin(following)
    reading.usage += _without_blank_ends(usage)
    # The description may follow, but a line in lower case still belongs to the usage.
    reading.rows[index - 1] = (SKIP, "")
    return index


def _first_text(rows: "Sequence[Row]") -> str:
    """Return the text of the first row that is not blank, or ""."""
    for _, text in rows:
        if text.strip():
            return text
    return ""


def _without_margin(lines: "list[str]") -> list[str]:
    """Return the lines without the blanks that all of them begin with."""
    margins = []
    for line in lines:
        if line:
            blanks = len(line) - len(line.lstrip())
            margins.append(blanks)

    margin = min(margins, default=0)
    return [line[margin:] for line in lines]


def _without_blank_ends(lines: "list[str]") -> list[str]:
    """Return the lines without the empty ones at the top and the bottom."""
    first = 0
    last = len(lines)
    while first < last and not lines[first]:
        first += 1
    while last > first and not lines[last - 1]:
        last -= 1
    return lines[first:last]
