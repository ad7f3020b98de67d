"""Regular files as text, and strict JSON: no duplicate keys, no NaN, errors with their place."""

import os
import stat

from host.errors import DefinitionError, HostError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

DEEPEST = 100  # levels of arrays and objects; far above any use, far below what a parser bears
_SIZE_LIMIT = 16 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_json(path: str) -> "Any":
    """Return the JSON value in the regular file at `path`; a BOM is accepted.

    Numbers come as `Number`, a str that holds them as written. Raises
    DefinitionError naming file, line and column for anything that is not strict
    JSON (duplicate keys and NaN included) and FileNotFoundError.
    """
    return parse_json(path, read_regular(path, _SIZE_LIMIT, DefinitionError))


def read_regular(path: str, limit: int, error: "type[HostError]") -> bytes:
    """Return the content of a regular file without ever waiting for a FIFO or device.

    Raises FileNotFoundError (also for a dangling link), or `error` when it is no
    regular file, is larger than `limit` bytes or cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise error(f"{path}: not a regular file")
            if status.st_size > limit:
                raise error(f"{path}: larger than {limit} bytes")
            content = os.read(descriptor, status.st_size + 1)
            while chunk := os.read(descriptor, 1 << 20):
                content += chunk
                if len(content) > limit:
                    raise error(f"{path}: larger than {limit} bytes")
            return content
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as failure:
        raise error(f"{path}: {failure.strerror}") from None


def read_text(path: str, content: bytes, error: "type[HostError]") -> str:
    """Return a file's `content` as text; a BOM is dropped.

    Raises `error` naming file and line for what is not UTF-8; UTF-16 is told as such.
    """
    if is_utf_16(content):
        raise error(f"{path}: is UTF-16; save it as UTF-8")
    try:
        return content.removeprefix(BOM).decode()
    except UnicodeDecodeError as failure:
        line = content.count(b"\n", 0, failure.start) + 1
        raise error(f"{path}:{line}: not UTF-8") from None


def is_utf_16(content: bytes) -> bool:
    """Tell whether this is UTF-16: by its BOM, or because every other byte at the start is NUL."""
    head = content[:64]
    return head.startswith(_UTF_16) or (
        len(head) > 1 and b"\0" * (len(head) // 2) in (head[1::2], head[: len(head) & ~1 : 2])
    )


class Number(str):
    """A JSON number as it is written in the file."""

    __slots__ = ()


def parse_json(path: str, content: bytes) -> "Any":
    """Return the JSON value in `content`; `path` names it in errors. See `read_json`."""
    text = read_text(path, content, DefinitionError)
    try:
        value, end = _scanner()(text, _skip_blanks(text, 0))
        if _skip_blanks(text, end) == len(text):
            return _bounded(path, text, value)
    except _KeyTwiceError as failure:
        raise DefinitionError(f'{path}: the key "{failure}" stands twice in one object') from None
    except _NotJsonError as failure:
        where = _constant_place(text)
        raise DefinitionError(f"{path}:{where}: {failure} is not JSON; expected a number") from None
    except RecursionError:
        raise _too_deep(path) from None
    except (StopIteration, ValueError, SystemError):
        pass  # the bare scanner words no errors (before `json` is imported: SystemError)
    raise _syntax_error(path, text)


def _bounded(path: str, text: str, value: "Any") -> "Any":
    """Return `value`, unless arrays and objects stand in one another more than DEEPEST levels."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return value
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner += one.values()
            elif isinstance(one, list):
                inner += one
        level = inner
    if any(isinstance(one, dict | list) for one in level):
        raise _too_deep(path)
    return value


def _too_deep(path: str) -> DefinitionError:
    return DefinitionError(f"{path}: nested too deep; arrays and objects may have {DEEPEST} levels")


def _skip_blanks(text: str, position: int) -> int:
    while text[position : position + 1] in (" ", "\n", "\t", "\r"):
        position += 1
    return position


def _syntax_error(path: str, text: str) -> DefinitionError:
    """Word the error that the strict parser found: `line:column: what`."""
    import json

    try:
        json.loads(text, parse_int=str)
    except json.JSONDecodeError as failure:
        position, what = _slip(text, failure.pos) or (failure.pos, "")
        if not what:
            message = failure.msg.replace("Expecting", "expected")
            what = f"{message[0].lower()}{message[1:]}"
        return DefinitionError(f"{path}:{_place(text, position)}: {what}")
    except RecursionError:
        return _too_deep(path)
    return DefinitionError(f"{path}: not strict JSON")  # pragma: no cover - the two parsers agree


def _slip(text: str, position: int) -> "tuple[int, str] | None":
    """Say what people did where JSON ends, and where: None when it is none of the usual."""
    found = _skip_blanks(text, position)
    if text.startswith(("//", "/*", "#"), found):
        return found, "comments are not allowed"
    if text.startswith("'", found):
        return found, "a text stands in double quotes, not in single ones"
    before = text[: found + text.startswith(",", found)].rstrip(" \n\t\r")
    after = _skip_blanks(text, len(before))
    if before.endswith(",") and text[after : after + 1] in ("]", "}"):
        return len(before) - 1, "trailing comma"
    return None


def _place(text: str, position: int) -> str:
    """Return `line:column` of a position, both counted from 1."""
    return f"{text.count(chr(10), 0, position) + 1}:{position - text.rfind(chr(10), 0, position)}"


def _constant_place(text: str) -> str:
    """Return `line:column` of the first NaN or Infinity that stands outside strings."""
    import re

    tokens = re.finditer(r'"(?:\\.|[^"\\])*"|-?Infinity|NaN', text)
    return _place(text, next(found.start() for found in tokens if not found[0].startswith('"')))


class _KeyTwiceError(Exception):
    pass


class _NotJsonError(Exception):
    pass


class _Rules:
    """What the C scanner behind the `json` module asks of its owner."""

    strict = True
    object_hook = None
    parse_float = Number
    parse_int = Number

    @staticmethod
    def object_pairs_hook(pairs: "list[tuple[str, Any]]") -> "dict[str, Any]":
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    raise _KeyTwiceError(key)
                seen.add(key)
        return made

    @staticmethod
    def parse_constant(name: str) -> "Any":
        raise _NotJsonError(name)


def _scanner() -> "Callable[[str, int], tuple[Any, int]]":
    """Return the parser: the C scanner itself, as importing `json` costs 7 ms.

    Where an interpreter lacks it or wants more of its owner, the `json` module
    does the same with the same rules.
    """
    try:
        from _json import make_scanner

        return make_scanner(_Rules)  # type: ignore[arg-type]  # it only reads attributes
    except (ImportError, AttributeError):
        from json import JSONDecoder

        return JSONDecoder(
            object_pairs_hook=_Rules.object_pairs_hook,
            parse_float=Number,
            parse_int=Number,
            parse_constant=_Rules.parse_constant,
        ).raw_decode
