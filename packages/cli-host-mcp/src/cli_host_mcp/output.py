"""Keep a command's output within a limit, and turn it into text for an assistant."""

from __future__ import annotations

from collections import deque

from cli_host_mcp.masking import Mask
from host import printable

_LONGEST_LINE = 500  # maximum number of characters of a progress line
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
        return self._keep(self._mask.end())

    def text(self) -> str:
        """Return the whole output, or both ends with the number of bytes missing between them."""
        missing = self._size - len(self._head) - len(self._tail)
        if not missing:
            return shown(bytes(self._head + self._tail))
        head, tail = _whole_characters(bytes(self._head), bytes(self._tail))
        missing = self._size - len(head) - len(tail)
        return shown(head) + _CUT_MARK.format(missing) + shown(tail)

    def whole(self) -> bytes | None:
        """Return the whole masked output, or None if its middle is missing."""
        is_whole = self._size == len(self._head) + len(self._tail)
        return bytes(self._head + self._tail) if is_whole else None

    def _keep(self, data: bytes) -> bytes:
        self._size += len(data)
        room = self._head_size - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if len(self._tail) > self._tail_size:
            del self._tail[: len(self._tail) - self._tail_size]
        return data


class Lines:
    """Buffers the newest lines of a run's output, shortened, until they are sent as progress."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: deque[tuple[int, str]] = deque(maxlen=_MOST_LINES)
        self._open = {"stdout": b"", "stderr": b""}

    def feed(self, stream: str, data: bytes) -> None:
        *whole, rest = (self._open[stream] + data).split(b"\n")
        self._open[stream] = rest[: 4 * _LONGEST_LINE]
        self.count += len(whole)
        first = self.count - len(whole)
        for number, line in enumerate(
            whole[-_MOST_LINES:], max(first, self.count - _MOST_LINES)
        ):
            text = (
                line[: 4 * _LONGEST_LINE]
                .decode("utf-8", "surrogateescape")
                .rstrip("\r")
            )
            self._waiting.append((number + 1, printable(text)[:_LONGEST_LINE]))

    def taken(self) -> list[tuple[int, str]]:
        """Remove and return the waiting lines, each with its sequence number."""
        lines = list(self._waiting)
        self._waiting.clear()
        return lines


def shown(data: bytes) -> str:
    r"""Return bytes as text, with invalid UTF-8 as `\xNN`."""
    return escaped(data.decode("utf-8", "surrogateescape").replace("\r\n", "\n"))


def escaped(text: str) -> str:
    r"""Return multi-line text with control and bidi characters escaped; line breaks stay."""
    if text.isprintable():
        return text
    return "\n".join(
        "\t".join(map(printable, line.split("\t"))) for line in text.split("\n")
    )


def _whole_characters(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """Return the head and the tail without partial UTF-8 characters at the cut."""
    for length in range(1, 4):
        start = len(head) - length
        if start >= 0 and head[start] >= 0xC0:
            needed = 2 + (head[start] >= 0xE0) + (head[start] >= 0xF0)
            if length < needed:
                head = head[:start]
            break
        if start < 0 or head[start] < 0x80:
            break
    begin = 0
    while begin < min(3, len(tail)) and 0x80 <= tail[begin] < 0xC0:
        begin += 1
    return head, tail[begin:]
