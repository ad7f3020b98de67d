"""Parse `.env` files with python-dotenv, and report invalid statements.

python-dotenv unescapes pairs of backslashes. Expansion does this later, and in single quotes they
are literal, so each pair is doubled first.
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

_MOST_NAMED = 5  # names inside an unclosed quote that are listed
_PAIR = "\\\\"
_OPENS = "that opens here"
_BEFORE_VALUE = re.compile(r"\s*(?:export[^\S\r\n]+)?(?:'[^']+'|[^=#\s]+)[^\S\r\n]*=[^\S\r\n]*")
# A line of Base64 that ends with = is no assignment.
_ASSIGNED = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=*\s*$)")


def parse(
    path: str, text: str, warn: "Callable[[Problem], None]"
) -> "Iterator[tuple[str, str, bool, int]]":
    """Yield the values of a `Binding` for each assignment in the text of a `.env` file."""
    complete_import_path("dotenv")
    from dotenv.parser import parse_stream

    one: Any  # for mypy: `_why_left_out` ensures key and value
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
    """Return what is wrong with a statement, without its content; "" for nothing."""
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
    """Return a text about a quoted value of several lines and the assignments inside it."""
    lines = value.split("\n")[1:]
    names = [found[1] for found in map(_ASSIGNED.match, lines) if found]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    swallowed = f" and swallows {', '.join(names[:_MOST_NAMED])}{more}" if names else ""
    place = "on the next line" if len(lines) == 1 else f"{len(lines)} lines below"
    return f"the quote {_OPENS} closes {place}{swallowed}"
