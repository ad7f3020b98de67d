"""Keep a command's output within a limit, and turn it into text for an assistant."""

from __future__ import annotations

from collections import deque

from cli_host_mcp.masking import Mask
from host import printable

_LONGEST_LINE = 500  # maximum number of characters of a progress line
_MOST_BYTES = 4 * _LONGEST_LINE  # a character of UTF-8 has at most four bytes
_MOST_LINES = 20  # maximum number of progress lines that wait to be sent
_CUT_MARK = "\n… {} bytes are missing here …\n"


class Stream:
    """A command's stdout or stderr, masked: its head and tail, together at most `limit` bytes."""

    def __init__(self, mask: Mask, limit: int) -> None:
        self._mask = mask
        self._head_size = limit // 2
        self._tail_size = limit - limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0

    def feed(self, data: bytes) -> bytes:
        """Mask, store and return output; final bytes that may start a secret are held back."""
        return self._keep(self._mask.feed(data))

    def end(self) -> bytes:
        """Store and return what was held back."""
        return self._keep(self._mask.end())

    def text(self) -> str:
        """Return the whole output, or both ends with the number of bytes missing between them."""
        whole = self.whole()
        if whole is not None:
            return shown(whole)

        head, tail = _whole_characters(bytes(self._head), bytes(self._tail))
        missing = self._size - len(head) - len(tail)
        return shown(head) + _CUT_MARK.format(missing) + shown(tail)

    def whole(self) -> bytes | None:
        """Return the whole masked output, or None if its middle is missing."""
        stored = len(self._head) + len(self._tail)
        if self._size > stored:
            return None
        return bytes(self._head + self._tail)

    def _keep(self, data: bytes) -> bytes:
        """Fill the head, then the tail, which loses its oldest bytes; return the data."""
        self._size += len(data)

        room = self._head_size - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]

        excess = len(self._tail) - self._tail_size
        if excess > 0:
            del self._tail[:excess]
        return data


class Lines:
    """Buffers the newest lines of a run's output, shortened, until they are sent as progress."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: deque[tuple[int, str]] = deque(maxlen=_MOST_LINES)
        self._open = {"stdout": b"", "stderr": b""}

    def feed(self, stream: str, data: bytes) -> None:
        """Take output of a stream; only its newest lines wait."""
        received = self._open[stream] + data
        *lines, rest = received.split(b"\n")
        self._open[stream] = rest[:_MOST_BYTES]
        self.count += len(lines)

        newest = lines[-_MOST_LINES:]
        first = self.count - len(newest) + 1
        for number, line in enumerate(newest, first):
            begin = line[:_MOST_BYTES]
            text = begin.decode("utf-8", "surrogateescape")
            text = printable(text.rstrip("\r"))
            self._waiting.append((number, text[:_LONGEST_LINE]))

    def taken(self) -> list[tuple[int, str]]:
        """Remove and return the waiting lines, each with its sequence number."""
        lines = list(self._waiting)
        self._waiting.clear()
        return lines


def shown(data: bytes) -> str:
    r"""Return bytes as text, with invalid UTF-8 as `\xNN`."""
    text = data.decode("utf-8", "surrogateescape")
    return escaped(text.replace("\r\n", "\n"))


def escaped(text: str) -> str:
    r"""Return multi-line text with control and bidi characters escaped; line breaks stay."""
    if text.isprintable():
        return text
    lines = []
    for line in text.split("\n"):
        cells = map(printable, line.split("\t"))
        lines.append("\t".join(cells))
    return "\n".join(lines)


def _whole_characters(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """Return the head and the tail without partial UTF-8 characters at the cut."""
    # A character has at most three bytes after its first one.
    for length in range(1, min(3, len(head)) + 1):
        first = head[-length]
        if first < 0x80:
            break  # ASCII
        if first >= 0xC0:
            if length < _size_of_character(first):
                head = head[:-length]
            break

    begin = 0
    while begin < min(3, len(tail)) and 0x80 <= tail[begin] < 0xC0:
        begin += 1
    return head, tail[begin:]


def _size_of_character(first: int) -> int:
    """Return the number of bytes of the UTF-8 character that begins with the byte `first`."""
    if first >= 0xF0:
        return 4
    if first >= 0xE0:
        return 3
    return 2
