"""The output of one host, in unnamed files, so that memory use does not grow with it."""

from __future__ import annotations

import codecs
import hashlib
import os
import tempfile
from collections.abc import Iterator
from typing import IO

STREAMS = ("stdout", "stderr")
_IN_MEMORY = 1 << 16
_CHUNK = 1 << 16


class Captured:
    """The output of one host, and whether it is UTF-8."""

    def __init__(self) -> None:
        self.streams: dict[str, IO[bytes]] = {}
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}
        self._digests: dict[str, hashlib.blake2b] = {}
        self._binary: set[str] = set()

        new_decoder = codecs.getincrementaldecoder("utf-8")
        for name in STREAMS:
            # Small outputs stay in memory, so that most hosts need no file.
            self.streams[name] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by `close`
            self._decoders[name] = new_decoder()
            self._digests[name] = hashlib.blake2b()

    def write(self, stream: str, data: bytes) -> None:
        self.streams[stream].write(data)
        self._digests[stream].update(data)
        self._decode(stream, data)

    def binary(self, stream: str) -> bool:
        """Return whether a stream, of which nothing more will come, is not UTF-8."""
        self._decode(stream, b"", final=True)
        return stream in self._binary

    def digest(self) -> bytes:
        """Return a value that is equal for equal outputs."""
        digest = b""
        for name in STREAMS:
            digest += self._digests[name].digest()
        return digest

    def size(self, stream: str) -> int:
        """Return the number of bytes of a stream."""
        return self.streams[stream].seek(0, os.SEEK_END)

    def pieces(self, stream: str) -> Iterator[bytes]:
        """Yield the bytes of a stream."""
        file = self.streams[stream]
        file.seek(0)
        while piece := file.read(_CHUNK):
            yield piece

    def close(self) -> None:
        for stream in self.streams.values():
            stream.close()

    def _decode(self, stream: str, data: bytes, final: bool = False) -> None:
        if stream in self._binary:
            return
        try:
            self._decoders[stream].decode(data, final)
        except UnicodeDecodeError:
            self._binary.add(stream)
