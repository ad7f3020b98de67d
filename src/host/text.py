"""Text: from bytes and back, safe to print, as a word of a shell command, as a short hash."""

import _imp

from host.errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.errors import HostError

_HASH_KEY = 1  # any number
_HASH_SIZE = 4  # bytes
EMPTY = '""'  # shown in place of an empty string
BOM = b"\xef\xbb\xbf"
# Unicode categories; `Cf` includes the bidi controls
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
# characters of category `Cf` that are parts of words and emoji
_JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    r"""Return `text` with control, bidi and undecodable characters shown as escapes.

    Newline and tab are also escaped, so the result is always one line. Bytes that are not UTF-8
    (surrogates from `os.fsdecode`) become `\xNN`.
    """
    if text.isprintable():
        return text
    from unicodedata import category

    shown = ""
    for character in text:
        if "\udc80" <= character <= "\udcff":
            shown += f"\\x{ord(character) - 0xDC00:02x}"
        elif category(character) in _UNSEEN and character not in _JOINERS:
            shown += repr(character)[1:-1]
        else:
            shown += character
    return shown


def decode(raw: bytes) -> str:
    """Return `raw` as text; `encode` converts that text back to exactly `raw`."""
    return raw.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text from `decode` or from a UTF-8 file."""
    return text.encode("utf-8", "surrogateescape")


def quoted(path: str) -> str:
    """Return `path` as a word of a shell command, for a remedy that can be pasted."""
    from shlex import quote  # a run without an error does not need it

    return quote(path)


def value_hash(value: str) -> str:
    """Return a short hash of a variable's value, from a built-in function that needs no import."""
    return _imp.source_hash(_HASH_KEY, encode(value))[:_HASH_SIZE].hex()


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    if count == 1:
        return f"{count} {noun}"
    return f"{count} {noun}s"


def text_of(path: str, content: bytes, error: "type[HostError]") -> str:
    """Return a file's `content` as text without its BOM.

    Raises `error` for UTF-16, and, with the number of the line, for text that is not UTF-8.
    """
    if is_utf_16(content):
        raise error(Problem(path, "is UTF-16", "save it as UTF-8"))
    try:
        return content.removeprefix(BOM).decode()
    except UnicodeDecodeError as failure:
        line = content.count(b"\n", 0, failure.start) + 1
        raise error(Problem(path, "not UTF-8", line=line)) from None


def is_utf_16(content: bytes) -> bool:
    """Return whether `content` is UTF-16: it has a BOM, or its first character has a NUL byte."""
    return content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:2]
