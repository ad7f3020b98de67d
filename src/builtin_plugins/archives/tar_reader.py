"""Members of a tar file (POSIX.1-2017 "pax", ustar, and GNU's long names), read strictly.

Not by `tarfile`: in Python 3.11 the time that it takes for some headers grows with the
square of their length, and a header packs to next to nothing.
"""

import bz2
import lzma
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from builtin_plugins.archives.judge import PRIVILEGED, Member, unwanted
from host import OperationError

BLOCK = 512
_CHUNK = 1 << 18
_HEADER_LIMIT = 1 << 20  # no honest member has a longer header
_XZ_MEMORY = 128 << 20
_OCTAL = re.compile(rb"[ ]*([0-7]*)[ \0]*")
_DIGITS = re.compile(rb"[0-9]{1,19}")
_KINDS = {b"0": "file", b"\0": "file", b"7": "file", b"5": "directory", b"2": "link"}
_PAX, _PAX_FOR_ALL, _LONG_NAME, _LONG_TARGET = (b"x", b"X"), b"g", b"L", b"K"


def unpacked(file: BinaryIO, start: bytes) -> Iterator[bytes]:
    """Return the unpacked chunks of a tar file that begins with `start`.

    Raises OperationError for what is none, EOFError for a cut one, and what the
    decompressor raises.
    """
    if start.startswith(b"\x1f\x8b"):
        return _inflated(file, lambda: zlib.decompressobj(wbits=31))
    if start.startswith(b"BZh"):
        return _inflated(file, bz2.BZ2Decompressor)
    if start.startswith(b"\xfd7zXZ\0"):
        return _inflated(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY))
    if start[257:262] == b"ustar":
        return iter(lambda: file.read(_CHUNK), b"")
    hint = "; it looks like a web page" if start.lstrip()[:1] == b"<" else ""
    raise OperationError(f"it is no .tar, .tar.gz, .tar.bz2, .tar.xz or .zip{hint}")


def _inflated(file: BinaryIO, make: Callable[[], Any]) -> Iterator[bytes]:
    """Yield chunks in bounded memory; several packed streams may follow each other."""
    packed = file.read(_CHUNK)
    while packed.strip(b"\0"):  # zeros pad the end of some archives
        engine = make()
        while not engine.eof:
            chunk = engine.decompress(packed, _CHUNK)
            if chunk:
                yield chunk
            packed = getattr(engine, "unconsumed_tail", b"")
            if not packed and not engine.eof and getattr(engine, "needs_input", True):
                packed = file.read(_CHUNK)
                if not packed and not chunk:
                    raise EOFError
        packed = engine.unused_data or file.read(_CHUNK)


class Stream:
    """A forward-only view of chunks, at `position`; raises OperationError beyond `budget` bytes."""

    def __init__(self, chunks: Iterator[bytes], budget: int) -> None:
        self.position = 0
        self._chunks = chunks
        self._buffer = memoryview(b"")
        self._budget = budget

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes of a header; raises EOFError when they are not all there."""
        if size > _HEADER_LIMIT:
            raise OperationError("one of its members has a header of unusual size")
        return b"".join(self.content(size))

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
        while self._some(_CHUNK):
            pass

    def _some(self, size: int) -> memoryview:
        """Return between 1 and `size` bytes; none at the end."""
        if not self._buffer:
            self._buffer = memoryview(next(self._chunks, b""))
            self._budget -= len(self._buffer)
            if self._budget < 0:
                raise OperationError("it unpacks to far more than its size allows")
        part, self._buffer = self._buffer[:size], self._buffer[size:]
        self.position += len(part)
        return part


class _Header(NamedTuple):
    """One block that describes a member, or says more of the next one."""

    name: bytes
    mode: int
    size: int
    kind: bytes
    target: bytes


def tar_members(stream: Stream) -> Iterator[tuple[Member, partial[Iterator[memoryview]]]]:
    """Yield each member and how to read it; raises EOFError or ValueError for a broken file."""
    more: dict[bytes, bytes] = {}  # what pax and GNU headers say of the next member
    while any(block := stream.read(BLOCK)):
        header = _header(block)
        after = stream.position + header.size + -header.size % BLOCK
        if header.kind in _PAX:
            more |= _records(stream.read(header.size))
        elif header.kind == _PAX_FOR_ALL:
            if not {b"path", b"linkpath", b"size"}.isdisjoint(_records(stream.read(header.size))):
                raise ValueError
        elif header.kind in (_LONG_NAME, _LONG_TARGET):
            key = b"path" if header.kind == _LONG_NAME else b"linkpath"
            more[key] = stream.read(header.size).partition(b"\0")[0]
        else:
            member = _member(header, more)
            after = stream.position + member.size + -member.size % BLOCK
            more = {}
            yield member, partial(stream.content, member.size)
        stream.skip_to(after)
    if more:
        raise EOFError
    stream.drain()


def _header(block: bytes) -> _Header:
    if _number(block[148:156]) != sum(block) - sum(block[148:156]) + 8 * ord(" "):
        raise ValueError
    name, prefix = _text(block[:100]), _text(block[345:500])
    if prefix and block[257:263] == b"ustar\0":
        name = prefix + b"/" + name
    mode, size = _number(block[100:108]), _number(block[124:136])
    return _Header(name, mode, size, block[156:157], _text(block[157:257]))


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _number(field: bytes) -> int:
    """Return a number in octal digits, or in GNU's form for large ones."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    found = _OCTAL.fullmatch(field)
    if found is None:
        raise ValueError
    return int(found[1] or b"0", 8)


def _records(content: bytes) -> dict[bytes, bytes]:
    """Return the records `LENGTH KEY=VALUE` of a pax header; each is looked at once."""
    found = {}
    start = 0
    while start < len(content):
        blank = content.find(b" ", start, start + 20)
        length = content[start : max(blank, start)]
        end = start + int(length) if _DIGITS.fullmatch(length) else start
        key, mark, value = content[blank + 1 : end].partition(b"=")
        if not mark or end > len(content) or not value.endswith(b"\n"):
            raise ValueError
        found[key] = value[:-1]
        start = end
    return found


def _member(header: _Header, more: dict[bytes, bytes]) -> Member:
    name = more.get(b"path", header.name).decode("utf-8", "surrogateescape")
    kind = _KINDS.get(header.kind)
    if kind == "link":
        target = more.get(b"linkpath", header.target).decode("utf-8", "surrogateescape")
        return Member(name, "link", target=target)
    if kind == "directory" or (header.kind == b"\0" and name.endswith("/")):
        return Member(name, "directory")
    if kind is None or any(key.startswith(b"GNU.sparse.") for key in more):
        raise unwanted(name, "hard link" if header.kind == b"1" else "device or special file")
    size = header.size
    if b"size" in more:
        if not _DIGITS.fullmatch(more[b"size"]):
            raise ValueError
        size = int(more[b"size"])
    executable = bool(header.mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH))
    return Member(name, "file", size, executable, privileged=bool(header.mode & PRIVILEGED))
