"""Bytes of a packed file, unpacked as they are asked for, in bounded memory."""

import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from host import OperationError

CHUNK = 1 << 18
_HEADER_LIMIT = 1 << 20  # no honest member has a longer header


def inflated(file: BinaryIO, make: Callable[[], Any]) -> Iterator[bytes]:
    """Yield unpacked chunks of at most `CHUNK` bytes; several streams may follow each other.

    `make` gives a decompressor of zlib, bz2 or lzma. Raises EOFError for a cut file.
    """
    packed = file.read(CHUNK)
    while packed.strip(b"\0"):  # zeros pad the end of some archives
        engine = make()
        while not engine.eof:
            chunk = engine.decompress(packed, CHUNK)
            if chunk:
                yield chunk
            packed = getattr(engine, "unconsumed_tail", b"")
            if not packed and not engine.eof and getattr(engine, "needs_input", True):
                packed = file.read(CHUNK)
                if not packed and not chunk:
                    raise EOFError
        packed = engine.unused_data or file.read(CHUNK)


class Stream:
    """A forward-only view of chunks, at `position`.

    `budget` bounds the bytes in all, `deadline` (of `time.monotonic`) the time that they
    take; raises OperationError beyond.
    """

    def __init__(
        self, chunks: Iterator[bytes], budget: int, deadline: float = float("inf")
    ) -> None:
        self.position = 0
        self._chunks = chunks
        self._buffer = memoryview(b"")
        self._budget = budget
        self._deadline = deadline

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, less at the end."""
        if size > _HEADER_LIMIT:
            raise OperationError("one of its members has a header of unusual size")
        parts = []
        while size and (part := self._some(size)):
            parts.append(bytes(part))
            size -= len(part)
        return b"".join(parts)

    def content(self, size: int) -> Iterator[memoryview]:
        """Yield the next `size` bytes; raises EOFError when they are not all there."""
        while size:
            part = self._some(size)
            if not part:
                raise EOFError
            size -= len(part)
            yield part

    def skip_to(self, position: int) -> None:
        """Go on to `position`; raises EOFError when it is not there."""
        for _ in self.content(position - self.position):
            pass

    def drain(self) -> None:
        """Read to the end, so that the last checksum is checked."""
        while self._some(CHUNK):
            pass

    def _some(self, size: int) -> memoryview:
        """Return between 1 and `size` bytes; none at the end."""
        if not self._buffer:
            check_time(self._deadline)
            self._buffer = memoryview(next(self._chunks, b""))
            self._budget -= len(self._buffer)
            if self._budget < 0:
                raise OperationError("it unpacks to far more than its size allows")
        part, self._buffer = self._buffer[:size], self._buffer[size:]
        self.position += len(part)
        return part


def check_time(deadline: float) -> None:
    """Raise OperationError once `deadline` (of `time.monotonic`) is over."""
    if time.monotonic() > deadline:
        raise OperationError("it takes too long to unpack")
