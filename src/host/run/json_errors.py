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
    constants = [match.start() for match in _TOKEN.finditer(text) if match[0] == token]
    keys = [*offsets_of_keys(text)]
    first = dict(reversed(keys))
    twice = [(path, offset) for path, offset in keys if offset > first[path]]
    again = [offset for path, offset in twice if f".{path}".endswith(f".{token}")]
    return [*constants, *again, 0][0]


def _mistake(text: str) -> tuple[int, str]:
    try:
        json.loads(text)
    except json.JSONDecodeError as failure:
        rest = text[failure.pos :].lstrip(_BLANKS)
        if rest.startswith(("//", "/*", "#")):
            return len(text) - len(rest), "comments are not allowed"
        comma = _TRAILING_COMMA.match(text, text.rfind(",", 0, failure.pos + 1))
        if comma and comma.end() > failure.pos:
            return comma.start(), "trailing comma"
        what = (
            failure.msg.partition(": ")[0].removesuffix(" at").removesuffix(" starting")
        )
        return failure.pos, what[0].lower() + what[1:]
    except (RecursionError, ValueError):
        pass
    return 0, "it is nested too deeply, or a number has too many digits"


def offsets_of_keys(text: str) -> Iterator[tuple[str, int]]:
    """Yield the path and offset of each key and array item in the JSON `text`."""
    above: list[tuple[str, Iterator[int] | None]] = []  # open objects and arrays
    path = ""
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in ("]", "}"):
            del above[-1:]
            continue
        outer, numbers = above[-1] if above else ("", None)
        if numbers is not None:
            path = f"{outer}[{next(numbers)}]"
            yield path, token.start()
        elif token[2]:
            path = f"{outer}.{token[1][1:-1]}".removeprefix(".")
            yield path, token.start()
        if sign in ("{", "["):
            above.append((path, count() if sign == "[" else None))


def position_of_key(text: str, offsets: Mapping[str, int], key: str) -> tuple[int, int]:
    """Return the line and column of a key, or of its nearest parent that has an offset."""
    while key and key not in offsets:
        key = key[: max(key.rfind("."), key.rfind("["), 0)]
    before = text[: offsets.get(key, len(text) - len(text.lstrip()))]
    return before.count("\n") + 1, len(before) - before.rfind("\n")
