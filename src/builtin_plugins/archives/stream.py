"""Bytes of a packed file, unpacked as they are asked for, in bounded memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, BinaryIO

from host.errors import OperationError

CHUNK = 1 << 18
_AHEAD = 4  # chunks unpacked before they are asked for
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


@contextmanager
def ahead(chunks: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
    """Give the same chunks, made in a thread that stays a few ahead of who writes them."""
    slots: Queue[bytes | BaseException | None] = Queue(_AHEAD)
    unwanted = Event()

    def fill() -> None:
        try:
            for chunk in chunks:
                slots.put(chunk)
                if unwanted.is_set():
                    return
            slots.put(None)
        except BaseException as failure:  # noqa: BLE001 raised again where the chunk is asked for
            slots.put(failure)

    def take() -> Iterator[bytes]:
        while (chunk := slots.get()) is not None:
            if isinstance(chunk, BaseException):
                raise chunk
            yield chunk

    worker = Thread(target=fill, daemon=True)
    worker.start()
    try:
        yield take()
    finally:
        unwanted.set()
        while worker.is_alive():
            with suppress(Empty):
                slots.get(timeout=0.01)


class Stream:
    """A forward-only view of chunks, with the part of a file's interface that `tarfile` uses.

    `last` is what the latest `read` gave, `budget` bounds the bytes in all.
    """

    def __init__(self, chunks: Iterator[bytes], budget: int) -> None:
        self.last = b""
        self._chunks = chunks
        self._buffer = memoryview(b"")
        self._position = 0
        self._budget = budget

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        while self._position < position and self._some(position - self._position):
            pass

    def read(self, size: int) -> bytes:
        if size > _HEADER_LIMIT:
            raise OperationError("one of its members has a header of unusual size")
        parts = []
        while size and (part := self._some(size)):
            parts.append(bytes(part))
            size -= len(part)
        self.last = b"".join(parts)
        return self.last

    def content(self, size: int) -> Iterator[memoryview]:
        """Yield the next `size` bytes; raises EOFError when they are not all there."""
        while size:
            part = self._some(size)
            if not part:
                raise EOFError
            size -= len(part)
            yield part

    def drain(self) -> None:
        """Read to the end, so that the last checksum is checked."""
        while self._some(CHUNK):
            pass

    def _some(self, size: int) -> memoryview:
        """Return between 1 and `size` bytes; none at the end."""
        if not self._buffer:
            self._buffer = memoryview(next(self._chunks, b""))
            self._budget -= len(self._buffer)
            if self._budget < 0:
                raise OperationError("it unpacks to far more than its size allows")
        part, self._buffer = self._buffer[:size], self._buffer[size:]
        self._position += len(part)
        return part
