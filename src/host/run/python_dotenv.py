"""Parse `.env` files with python-dotenv, and report invalid statements.

In quotes, python-dotenv turns two backslashes into one, which is wrong here: single quotes keep
both, and in double quotes `expand` replaces them later. Therefore each pair is doubled first.
"""

import io
import re

from host.errors import Problem
from host.run.importing import complete_import_path
from host.run.words import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # Name, value, whether the value is literal, and the line number of an assignment. A value that
    # is not literal is expanded, which also removes its backslashes.
    Binding = tuple[str, str, bool, int]

_MOST_NAMED = 5  # names in the message about an unclosed quote
_PAIR = "\\\\"
# A line of Base64 that ends with = is not an assignment.
_ASSIGNED = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=(?!=*\s*$)")


def parse(
    path: str, text: str, warn: "Callable[[Problem], None]"
) -> "Iterator[Binding]":
    """Yield the assignments in the text of a `.env` file."""
    complete_import_path("dotenv")
    from dotenv.parser import parse_stream

    for binding in parse_stream(io.StringIO(text.replace(_PAIR, _PAIR * 2))):
        if binding.key is None and not binding.error:
            continue  # blank, or a comment
        statement = binding.original.string
        blank = len(statement) - len(statement.lstrip())
        line = binding.original.line + statement.count("\n", 0, blank)
        written = statement.partition("=")[2].strip()
        lines = written.split("\n")
        is_quoted = written.startswith(("'", '"'))
        if (
            binding.error
            or binding.key is None
            or binding.value is None
            or not is_name(binding.key)
        ):
            is_open = is_quoted and (len(lines) > 1 or written.count(written[0]) == 1)
            what = _open_quote(lines) if is_open else "this line is not NAME=value"
            warn(Problem(path, f"{what}; ignored", line=line))
        elif is_quoted:
            if len(lines) > 1 and _ASSIGNED.match(lines[-1]):
                warn(
                    Problem(
                        path,
                        _open_quote(lines),
                        "check where the quote ends",
                        line=line,
                    )
                )
            yield binding.key, binding.value, written[0] == "'", line
        else:
            value = binding.value.replace(_PAIR * 2, _PAIR)
            if value.startswith("`") and value.count("`") % 2:
                what = "a backtick does not quote a value"
                warn(Problem(path, what, "use \" or ' instead", line=line))
            yield binding.key, value, False, line


def _open_quote(lines: "list[str]") -> str:
    """Return a message about an unclosed quote, with the names of the variables it swallows."""
    matches = map(_ASSIGNED.match, lines[1:])
    names = [match[1] for match in matches if match]
    more = " …" if len(names) > _MOST_NAMED else ""
    swallowed = f" and swallows {', '.join(names[:_MOST_NAMED])}{more}" if names else ""
    return f"the quote that opens here is not closed on this line{swallowed}"
