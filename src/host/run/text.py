"""Text: from bytes and back, made safe to print, written to stderr line by line."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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


def is_on(value: str | None) -> bool:
    """Tell whether a switch such as DEBUG is on: `true`, `1` or `on` in any case (SPEC 2.9)."""
    return value is not None and value.lower() in ("true", "1", "on")


class Messages:
    """Writes each message as one line; what comes from data is shown escaped."""

    __slots__ = ("debugging", "program", "warned")
    quiet = False  # whether sources of variables may not be heard either

    def __init__(self, program: str, environ: "Mapping[str, str]") -> None:
        self.program = program
        self.debugging = is_on(environ.get("DEBUG"))
        self.warned: set[str] = set()

    def error(self, text: str) -> None:
        self.line(f"{self.program}: {text}")

    def warn(self, text: str) -> None:
        """Say `text` as a warning, once however often it comes."""
        if text not in self.warned:
            self.warned.add(text)
            self.line(f"{self.program}: warning: {text}")

    def debug(self, text: str) -> None:
        if self.debugging:
            import time

            self.line(f"[DEBUG] {time.strftime('%Y-%m-%d %H:%M:%S')} - {text}")

    def line(self, text: str) -> None:
        try:
            os.write(2, encode(printable(text)) + b"\n")
        except OSError:
            pass  # stderr is closed or full: there is nobody left to tell
