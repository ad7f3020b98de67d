"""What is wrong with text that is no strict JSON, and where."""

from host.errors import DefinitionError, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from json import JSONDecodeError

_NO_COMMA = "Expecting ',' delimiter"
_CONTROL = "Invalid control character at"
_WORDS = {
    "Expecting value": "a value is missing here, or it is none that JSON has",
    "Expecting ':' delimiter": "a colon is missing here",
    _NO_COMMA: "a comma is missing here, or the number before it is none",
    "Expecting property name enclosed in double quotes": "a key stands in double quotes",
    _CONTROL: "a text ends on its line: its last quote is missing, or \\n",
    "Invalid \\escape": "a backslash in a text is written twice",
    "Unterminated string starting at": "the last quote of this text is missing",
    "Extra data": "nothing can stand behind the end",
}
_BLANKS = " \n\t\r"
_LEXEME = r'("(?:\\.|[^"\\])*")(\s*:)?|[\[\]{}]|[^\s\[\]{},:"]+'
_DEEPEST = 20  # levels whose keys have a place; a definition has five


def syntax_error(path: str, text: str) -> DefinitionError:
    """Word the error that the strict parser found; raises RecursionError."""
    import json

    try:
        json.loads(text, parse_int=str)
    except json.JSONDecodeError as failure:
        position, what = _control(text, failure) or _slip(text, failure) or (failure.pos, "")
        if not text.strip(_BLANKS):
            what = "the file is empty"
        what = what or _WORDS.get(failure.msg.partition(": ")[0], failure.msg)
        return error_at(path, text, position, what)
    return DefinitionError(Problem(path, "a number has too many digits"))


def error_at(path: str, text: str, position: int, what: str) -> DefinitionError:
    line, column = place_of(text, position)
    return DefinitionError(Problem(path, what, line=line, column=column))


def repeated_key(path: str, text: str, key: str) -> DefinitionError:
    """Return the error for a key that stands twice in one object; raises RecursionError."""
    position = key_offsets(text)[1].get(key, 0)
    return error_at(path, text, position, f'the key "{key}" stands twice in one object')


def constant(path: str, text: str, name: str) -> DefinitionError:
    """Return the error for the first NaN or Infinity that stands outside strings."""
    import re

    tokens = re.finditer(r'"(?:\\.|[^"\\])*"|-?Infinity|NaN', text)
    position = next(found.start() for found in tokens if not found[0].startswith('"'))
    return error_at(path, text, position, f"{name} is not JSON; expected a number")


def key_offsets(text: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return where each key and item stands, and the last place of each key that stands twice.

    The former go by paths such as `os`, `envs.NAME`, `args[1].type`, the latter by the key alone.
    The text need not be correct JSON.
    """
    import re
    from itertools import count

    offsets: dict[str, int] = {}
    twice: dict[str, int] = {}
    above: list[tuple[str, Iterator[int] | None]] = []  # what is open; arrays have numbers
    path = ""
    for token in re.finditer(_LEXEME, text):
        sign, offset = token[0], token.start()
        if sign in ("]", "}"):
            del above[-1:]
            continue
        outer, numbers = above[-1] if above else ("", None)
        if numbers is not None and len(above) <= _DEEPEST:
            path = f"{outer}[{next(numbers)}]"
            offsets[path] = offset
        elif token[2] and len(above) <= _DEEPEST:
            key = _unquoted(token[1])
            path = f"{outer}.{key}" if outer else key
            if path in offsets:
                twice[key] = offset
            offsets[path] = offset
        if sign in ("{", "["):
            above.append((path, count() if sign == "[" else None))
    return offsets, twice


def place_of(text: str, position: int) -> tuple[int, int]:
    """Return the line and column of a position, both counted from 1."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


def _unquoted(token: str) -> str:
    import json

    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token[1:-1]


def _slip(text: str, failure: "JSONDecodeError") -> "tuple[int, str] | None":
    """Say what people did where JSON ends, and where: None when it is none of the usual."""
    found = _behind_blanks(text, failure.pos)
    if text.startswith(("//", "/*", "#"), found):
        return found, "comments are not allowed"
    if text.startswith("'", found):
        return found, "a text stands in double quotes, not in single ones"
    end = len(text[:found].rstrip(_BLANKS))
    if failure.msg == _NO_COMMA and not text[found:]:
        return end, "the last } or ] is missing"
    if failure.msg == _NO_COMMA and end < found and text[found] in '"{[':
        return end - 1, "a comma is missing behind this"
    before = text[: found + text.startswith(",", found)].rstrip(_BLANKS)
    after = _behind_blanks(text, len(before))
    if before.endswith(",") and text[after : after + 1] in ("]", "}"):
        return len(before) - 1, "trailing comma"
    return None


def _control(text: str, failure: "JSONDecodeError") -> "tuple[int, str] | None":
    """Say how a control character is written in a text: None for the end of its line."""
    if failure.msg != _CONTROL or text[failure.pos] in "\r\n":
        return None
    what, way = ("tab", "\\t") if text[failure.pos] == "\t" else ("control character", "\\u00…")
    return failure.pos, f"a {what} in a text is written {way}"


def _behind_blanks(text: str, position: int) -> int:
    return len(text) - len(text[position:].lstrip(_BLANKS))
