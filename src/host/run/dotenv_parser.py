"""`.env` files that are not plain: python-dotenv's statements, and what is wrong with them.

python-dotenv unescapes a pair of backslashes, which our expansion does, too, and which is literal
in single quotes. So it gets each pair twice.
"""

import io
import re

from host.errors import Problem
from host.run.expand import is_name
from host.run.importing import complete_import_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_MOST_NAMED = 5  # names that a quote swallowed
_PAIR = "\\\\"
_OPENS = "that opens here"
_BEFORE_VALUE = re.compile(r"\s*(?:export[^\S\r\n]+)?(?:'[^']+'|[^=#\s]+)[^\S\r\n]*=[^\S\r\n]*")
# No line of Base64 is taken for a name: it ends with its =.
_ASSIGNED = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=*\s*$)")


def parse(
    path: str, text: str, warn: "Callable[[Problem], None]"
) -> "Iterator[tuple[str, str, bool, int]]":
    """Yield the values of a `Binding` for each assignment in the text of a `.env` file."""
    complete_import_path("dotenv")
    from dotenv.parser import parse_stream

    one: Any  # the type checker knows no name and value of it behind `_why_left_out`
    for one in parse_stream(io.StringIO(text.replace(_PAIR, _PAIR * 2))):
        if one.key is None and not one.error:
            continue  # blank, or a comment
        statement = one.original.string
        blank = len(statement) - len(statement.lstrip())
        line = one.original.line + statement.count("\n", 0, blank)
        start = _BEFORE_VALUE.match(statement)
        written = statement[start.end() :].rstrip("\r\n") if start else ""
        what = _why_left_out(one, written)
        if what:
            warn(Problem(path, f"{what}; left out", line=line))
        elif written.startswith(("'", '"')):
            if "\n" in one.value and _ASSIGNED.match(one.value.rpartition("\n")[2] + "…"):
                warn(Problem(path, _swallowing(one.value + "…"), "is one missing?", line=line))
            yield one.key, one.value, written[0] == "'", line
        else:
            value = one.value.replace(_PAIR * 2, _PAIR)
            if value.startswith("`") and value.count("`") % 2:
                what, remedy = f"the backtick {_OPENS} does not quote", "use \" or ' instead"
                warn(Problem(path, what, remedy, line=line))
            yield one.key, value, False, line


def _why_left_out(one: "Any", written: str) -> str:
    """Return what is wrong with a statement, "" for nothing, without its content."""
    if not one.error:
        if not is_name(one.key):
            return "what stands before the = cannot name a variable"
        return "no = after the name" if one.value is None else ""
    if not written.startswith(("'", '"')):
        return "this line cannot be read"
    if "\n" in written:
        return _swallowing(written)
    if written.find(written[0], 1) < 0:
        return f"the quote {_OPENS} never closes"
    return "something stands behind the closing quote"


def _swallowing(value: str) -> str:
    """Return which names are inside a quoted value of several lines."""
    lines = value.split("\n")[1:]
    names = [found[1] for found in map(_ASSIGNED.match, lines) if found]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    swallowed = f" and swallows {', '.join(names[:_MOST_NAMED])}{more}" if names else ""
    place = "on the next line" if len(lines) == 1 else f"{len(lines)} lines below"
    return f"the quote {_OPENS} closes {place}{swallowed}"
