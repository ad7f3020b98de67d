"""What is wrong with text that is no strict JSON, and where: `line:column: what`."""

from host.errors import DefinitionError

TYPE_CHECKING = False
if TYPE_CHECKING:
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
        return DefinitionError(f"{path}:{_place(text, position)}: {what}")
    return DefinitionError(f"{path}: not strict JSON")  # pragma: no cover - the two parsers agree


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


def _place(text: str, position: int) -> str:
    """Return `line:column` of a position, both counted from 1."""
    return f"{text.count(chr(10), 0, position) + 1}:{position - text.rfind(chr(10), 0, position)}"


def constant_place(text: str) -> str:
    """Return `line:column` of the first NaN or Infinity that stands outside strings."""
    import re

    tokens = re.finditer(r'"(?:\\.|[^"\\])*"|-?Infinity|NaN', text)
    return _place(text, next(found.start() for found in tokens if not found[0].startswith('"')))
