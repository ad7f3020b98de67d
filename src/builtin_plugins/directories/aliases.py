"""Which command of a folder has an alias: of a hundred thousand, nearly none is parsed."""

import posix

from host import DefinitionError
from host.run.definition import read_definition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from host import Definition

_LARGEST = 1 << 20  # bytes of a command.json that is searched
_PAGE = 4096  # bytes; nearly every command.json is smaller
_FLAGS = posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC | posix.O_NOCTTY  # never waits
_KEY = b'"aliases"'


def aliased(place: str, words: "Sequence[str]", alias: str) -> str:
    """Return which of the commands `words` in the folder `place` has `alias`, "" for none.

    The loop calls the system and little else. A definition is parsed only when its text
    may have the alias.
    """
    sought = b'"%b"' % alias.encode()
    escapes = _escapes(alias)
    try:
        holder = posix.open(place, posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC)
    except OSError:
        return ""
    try:
        for word, name in zip(words, _files(words), strict=False):
            try:
                file = posix.open(name, _FLAGS, dir_fd=holder)
            except OSError:
                continue
            try:
                text = posix.read(file, _PAGE)
                if len(text) == _PAGE:
                    text += posix.read(file, _LARGEST)
            except OSError:  # a directory, or a FIFO that somebody has open
                continue
            finally:
                posix.close(file)
            if (sought in text or b"\\" in text) and _may_have(text, sought, escapes):
                definition = _definition(f"{place}/{word}/command.json")
                if definition and definition.entrypoint and alias in definition.aliases:
                    return word
    finally:
        posix.close(holder)
    return ""


def _files(words: "Sequence[str]") -> list[bytes]:
    """Return the command.json of each, as the system has it; made at once, as that is faster."""
    return "/command.json\0".join([*words, ""]).encode().split(b"\0")


def _definition(file: str) -> "Definition | None":
    try:
        return read_definition(file)
    except (FileNotFoundError, DefinitionError):
        return None


def _escapes(alias: str) -> list[bytes]:
    """Return how JSON may write a character of the key or of `alias` otherwise; in lower case."""
    return [b"\\u%04x" % ord(one) for one in f"aliases{alias}"]


def _may_have(text: bytes, alias: bytes, escapes: list[bytes]) -> bool:
    """Tell whether the array of aliases in this JSON may hold `alias`, which is in quotes.

    What other keys say is no reason to parse it: a hundred thousand may say the same.
    """
    if b"\\" in text:
        lowered = text.lower()
        if any(one in lowered for one in escapes):
            return True
        text = text.replace(rb"\\", b"").replace(rb"\"", b"")  # the quotes left enclose strings
    behind = text.partition(_KEY)[2]
    if alias not in behind or _KEY in behind:
        return alias in behind
    for index, part in enumerate(behind.split(b'"')):
        if index % 2 and part == alias[1:-1]:
            return True
        if not index % 2 and b"]" in part:
            break
    return False
