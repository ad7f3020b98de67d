"""Turn the bytes of many hosts into whole lines, each prefixed with its host."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator

_IN_MEMORY = (
    1 << 20
)  # bytes; an unfinished line that is longer is buffered in an unnamed file
_CHUNK = 1 << 16


class Lines:
    """One stream of one host. Calls `write` with whole lines, or pieces of a very long line."""

    def __init__(self, prefix: bytes, write: Callable[[bytes], None]) -> None:
        self._prefix = prefix
        self._write = write
        self._begun = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by `close`
        self._length = 0

    def feed(self, data: bytes) -> None:
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            first, more, lines = whole.partition(b"\n")
            if self._length:
                self._write(self._prefix)
                for piece in self._taken():
                    self._write(piece)
                self._write(first + newline)
            else:
                more, lines = newline, whole
            if more:
                self._write(
                    self._prefix + lines.replace(b"\n", b"\n" + self._prefix) + newline
                )
        if rest:
            self._begun.write(rest)
            self._length += len(rest)

    def close(self) -> None:
        """Write the last line if no newline ends it."""
        if self._length:
            self.feed(b"\n")
        self._begun.close()

    def _taken(self) -> Iterator[bytes]:
        self._begun.seek(0)
        while piece := self._begun.read(_CHUNK):
            yield piece
        self._begun.seek(0)
        self._begun.truncate()
        self._length = 0
