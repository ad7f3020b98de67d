"""Parse `.env` files with python-dotenv, and report invalid statements.

In quotes, python-dotenv turns two backslashes into one, which is wrong here: single quotes keep
both, and in double quotes `expand` replaces them later. Therefore each pair is doubled first.
"""

import io
import re

from host.errors import Problem
from host.processes.importing import complete_import_path
from host.words import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dotenv.parser import Binding as Statement

    # Name, value, whether the value is literal, and the line number of an assignment. A value that
    # is not literal is expanded, which also removes its backslashes.
    Binding = tuple[str, str, bool, int]

_MOST_NAMED = 5  # names in the message about an unclosed quote
_PAIR = "\\\\"
_QUOTES = ("'", '"')
# A line of Base64 that ends with = is not an assignment.
_ASSIGNED = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=*\s*$)")


def parse(
    path: str, text: str, warn: "Callable[[Problem], None]"
) -> "Iterator[Binding]":
    """Yield the assignments in the text of a `.env` file."""
    complete_import_path("dotenv")
    from dotenv.parser import parse_stream

    doubled = text.replace(_PAIR, _PAIR * 2)
    for binding in parse_stream(io.StringIO(doubled)):
        if binding.key is None and not binding.error:
            continue  # blank, or a comment

        line = _line_of(binding)
        _, _, after = binding.original.string.partition("=")
        written = after.strip()
        if not _is_assignment(binding):
            what = _fault_of(written)
            warn(Problem(path, f"{what}; ignored", line=line))
            continue

        name = str(binding.key)
        value = str(binding.value)
        if written.startswith(_QUOTES):
            lines = written.split("\n")
            if len(lines) > 1 and _ASSIGNED.match(lines[-1]):
                what = _open_quote(lines)
                warn(Problem(path, what, "check where the quote ends", line=line))
            yield name, value, written[0] == "'", line
        else:
            value = value.replace(_PAIR * 2, _PAIR)
            if value.startswith("`") and value.count("`") % 2:
                what = "a backtick does not quote a value"
                warn(Problem(path, what, "use \" or ' instead", line=line))
            yield name, value, False, line


def _line_of(binding: "Statement") -> int:
    """Return the number of the line on which a statement begins."""
    # python-dotenv counts the blank lines above a statement as part of it.
    statement = binding.original.string
    blank = len(statement) - len(statement.lstrip())
    return binding.original.line + statement.count("\n", 0, blank)


def _is_assignment(binding: "Statement") -> bool:
    """Return whether a statement gives a value to a variable, and has no error."""
    if binding.error or binding.key is None:
        return False
    return is_name(binding.key) and binding.value is not None


def _fault_of(written: str) -> str:
    """Return what is wrong with a statement, of which `written` is the text after the first `=`."""
    if written.startswith(_QUOTES):
        lines = written.split("\n")
        is_alone = written.count(written[0]) == 1
        if is_alone or len(lines) > 1:
            return _open_quote(lines)
    return "this line is not NAME=value"


def _open_quote(lines: "list[str]") -> str:
    """Return a message about an unclosed quote, with the names of the variables it swallows."""
    names = []
    for line in lines[1:]:
        assigned = _ASSIGNED.match(line)
        if assigned is not None:
            names.append(assigned[1])

    message = "the quote that opens here is not closed on this line"
    if names:
        message += f" and swallows {', '.join(names[:_MOST_NAMED])}"
    if len(names) > _MOST_NAMED:
        message += " …"
    return message
