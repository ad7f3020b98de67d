"""Bytes from the system as text and back, and text made safe to print on a terminal."""

# Characters that reorder what a reader sees, or that hide: bidi controls,
# zero-width marks, line and paragraph separators, the byte-order mark.
_INVISIBLE = frozenset(
    [
        *(0x061C, 0x180E, 0x2028, 0x2029, 0xFEFF),
        *(0x200B, 0x200E, 0x200F),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
    ]
)


def printable(text: str) -> str:
    r"""Return `text` with control, bidi and undecodable characters shown as escapes.

    Newline and tab are escaped too, so the result is always one line. Bytes that
    were not UTF-8 (surrogates from `os.fsdecode`) come out as `\xNN`.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if character == "\n":
        return "\\n"
    if character == "\t":
        return "\\t"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"\\x{code:02x}"
    if code in _INVISIBLE or 0xD800 <= code <= 0xDFFF or 0xE0000 <= code <= 0xE007F:
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character


def decode(raw: bytes) -> str:
    """Return `raw` as text that `encode` turns back into exactly `raw`."""
    return raw.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text made by `decode` or read from a UTF-8 file."""
    return text.encode("utf-8", "surrogateescape")
