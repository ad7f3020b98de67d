"""Find the mistake in invalid JSON, and the line and column of a key in valid JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import count

from host.errors import DefinitionError, Problem

_BLANKS = " \n\t\r"
_TOKEN = re.compile(r'("(?:\\.|[^"\\])*")(\s*:)?|[\[\]{}]|[^\s\[\]{},:"]+')
_TRAILING_COMMA = re.compile(rf",[{_BLANKS}]*[\]}}]")


def syntax_error(path: str, text: str, what: str, token: str) -> DefinitionError:
    """Return the error for text that the JSON scanner refused or did not read completely.

    `what` is the message about `token`, which is a repeated key or a constant such as NaN. Both
    are "" for any other mistake.
    """
    if what:
        position = _offset_of(token, text)
    else:
        position, what = _mistake(text)

    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return DefinitionError(Problem(path, what, line=line, column=column))


def _offset_of(token: str, text: str) -> int:
    """Return the offset of the wrong `token`: a constant such as NaN, or a duplicate key."""
    for match in _TOKEN.finditer(text):
        if match[0] == token:  # a key has quotes in the text, and none in `token`
            return match.start()

    known: set[str] = set()
    for path, offset in offsets_of_keys(text):
        is_named = f".{path}".endswith(f".{token}")
        if is_named and path in known:
            return offset
        known.add(path)
    return 0


def _mistake(text: str) -> tuple[int, str]:
    """Return the offset of the first mistake and what it is, as `json` finds it."""
    try:
        json.loads(text)
    except json.JSONDecodeError as failure:
        return _described(failure, text)
    except (RecursionError, ValueError):
        pass
    return 0, "it is nested too deeply, or a number has too many digits"


def _described(failure: json.JSONDecodeError, text: str) -> tuple[int, str]:
    """Return the offset of a mistake that `json` has found, and what it is."""
    rest = text[failure.pos :].lstrip(_BLANKS)
    if rest.startswith(("//", "/*", "#")):
        return len(text) - len(rest), "comments are not allowed"

    # Some versions of Python point at the comma, and some at the bracket behind it.
    last_comma = text.rfind(",", 0, failure.pos + 1)
    comma = _TRAILING_COMMA.match(text, last_comma)
    if comma is not None and comma.end() > failure.pos:
        return comma.start(), "trailing comma"

    # "Expecting ',' delimiter: line 1 …" becomes "expecting ',' delimiter".
    what, _, _ = failure.msg.partition(": ")
    what = what.removesuffix(" at").removesuffix(" starting")
    what = what[0].lower() + what[1:]
    return failure.pos, what


def offsets_of_keys(text: str) -> Iterator[tuple[str, int]]:
    """Yield the path and offset of each key and array item in the JSON `text`."""
    # The open objects and arrays: the path of each and, for an array, the numbers of its items.
    above: list[tuple[str, Iterator[int] | None]] = []
    path = ""
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in ("]", "}"):
            if above:  # an invalid text may have more brackets than it opened
                above.pop()
            continue

        outer = ""
        numbers = None
        if above:
            outer, numbers = above[-1]

        is_key = token[2] is not None
        if numbers is not None:
            number = next(numbers)
            path = f"{outer}[{number}]"
            yield path, token.start()
        elif is_key:
            quoted_name = token[1]
            name = quoted_name[1:-1]
            path = f"{outer}.{name}" if outer else name
            yield path, token.start()

        if sign == "[":
            above.append((path, count()))
        elif sign == "{":
            above.append((path, None))


def position_of_key(text: str, offsets: Mapping[str, int], key: str) -> tuple[int, int]:
    """Return the line and column of a key, or of its nearest parent that has an offset."""
    while key and key not in offsets:
        dot = key.rfind(".")
        bracket = key.rfind("[")
        key = key[: max(dot, bracket, 0)]

    beginning = len(text) - len(text.lstrip())
    before = text[: offsets.get(key, beginning)]
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    return line, column
