"""What bash's `export -p` prints → names and values."""

from host.run.text import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPES = {
    ord("a"): 7, ord("b"): 8, ord("t"): 9, ord("n"): 10, ord("v"): 11, ord("f"): 12,
    ord("r"): 13, ord("e"): 27, ord("E"): 27, ord("\\"): 92, ord("'"): 39, ord('"'): 34,
    ord("?"): 63,
}  # fmt: skip
_OCTAL = frozenset(b"01234567")


def parse_exports(printed: bytes) -> "Iterator[tuple[str, str]]":
    """Yield each exported scalar variable of `declare -x NAME="value"` lines.

    Values stand in double quotes or, with control characters, in `$'…'`. Arrays
    and names without a value are passed over.
    """
    position = 0
    while position < len(printed):
        line_end = printed.find(b"\n", position)
        line_end = len(printed) if line_end < 0 else line_end
        equals = printed.find(b"=", position, line_end)
        if equals < 0:
            position = line_end + 1
            continue
        name = printed[position:equals].rpartition(b" ")[2]
        value, position = _value(printed, equals + 1)
        position += 1  # the newline
        if value is not None:
            yield decode(name), decode(value)


def _value(printed: bytes, position: int) -> tuple[bytes | None, int]:
    """Return the value that starts at `position`, None for an array, and its end."""
    if printed.startswith(b'"', position):
        return _double_quoted(printed, position + 1)
    if printed.startswith(b"$'", position):
        return _ansi_quoted(printed, position + 2)
    while position < len(printed) and not printed.startswith(b")", position):
        if printed.startswith((b'"', b"$'"), position):  # a key or a value
            _, position = _value(printed, position)
        else:
            position += 1
    return None, position + 1


def _double_quoted(printed: bytes, start: int) -> tuple[bytes, int]:
    quote = printed.find(b'"', start)
    value = printed[start:quote]
    if quote >= 0 and b"\\" not in value:
        return value, quote + 1
    kept = bytearray()
    position = start
    while position < len(printed) and printed[position] != ord('"'):
        if printed[position] == ord("\\"):
            position += 1
        kept += printed[position : position + 1]
        position += 1
    return bytes(kept), position + 1


def _ansi_quoted(printed: bytes, position: int) -> tuple[bytes, int]:
    kept = bytearray()
    while position < len(printed) and printed[position] != ord("'"):
        if printed[position] != ord("\\"):
            kept.append(printed[position])
            position += 1
            continue
        digits = printed[position + 1 : position + 4]
        if len(digits) == 3 and _OCTAL.issuperset(digits):
            kept.append(int(digits, 8))
            position += 4
        else:
            kept += bytes(_ESCAPES.get(code, code) for code in digits[:1])
            position += 2
    return bytes(kept), position + 1
