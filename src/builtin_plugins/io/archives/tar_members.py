"""Members of a tar file (POSIX.1-2017 "pax", ustar, and GNU's long names), read strictly.

`tarfile` reads blocks of 512 bytes, and no more: in Python 3.11 the time that it takes for
longer headers grows with the square of their length, and a header packs to next to nothing.
"""

import bz2
import lzma
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from tarfile import TarInfo
from typing import Any, BinaryIO

from builtin_plugins.io.archives.safety import PRIVILEGED, Member, unwanted
from host import OperationError

BLOCK = 512
_CHUNK = 1 << 18
_HEADER_LIMIT = 1 << 20  # no honest member has a longer header
_XZ_MEMORY = 128 << 20
_DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_PAX = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_LONG = {tarfile.GNUTYPE_LONGNAME: b"path", tarfile.GNUTYPE_LONGLINK: b"linkpath"}


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


def tar_members(stream: Stream) -> Iterator[tuple[Member, partial[Iterator[memoryview]]]]:
    """Yield each member and how to read it.

    Raises EOFError, ValueError or TarError for a broken file.
    """
    more: dict[bytes, bytes] = {}  # what pax and GNU headers say of the next member
    while any(block := stream.read(BLOCK)):
        header = TarInfo.frombuf(block, "utf-8", "surrogateescape")
        if header.size < 0:
            raise ValueError
        after = stream.position + header.size + -header.size % BLOCK
        if header.type in _PAX:
            more |= _records(stream.read(header.size))
        elif header.type == tarfile.XGLTYPE:
            if not {b"path", b"linkpath", b"size"}.isdisjoint(_records(stream.read(header.size))):
                raise ValueError
        elif header.type in _LONG:
            more[_LONG[header.type]] = stream.read(header.size).partition(b"\0")[0]
        else:
            member = _member(header, more)
            after = stream.position + member.size + -member.size % BLOCK
            more = {}
            yield member, partial(stream.content, member.size)
        stream.skip_to(after)
    if more:
        raise EOFError
    stream.drain()


def _records(content: bytes) -> dict[bytes, bytes]:
    """Return the records `LENGTH KEY=VALUE` of a pax header; each is looked at once."""
    found = {}
    start = 0
    while start < len(content):
        blank = content.find(b" ", start, start + 20)
        length = content[start : max(blank, start)]
        end = start + (int(length) if length.isdigit() else 0)
        key, mark, value = content[blank + 1 : end].partition(b"=")
        if not mark or end > len(content) or not value.endswith(b"\n"):
            raise ValueError
        found[key] = value[:-1]
        start = end
    return found


def _member(header: TarInfo, more: dict[bytes, bytes]) -> Member:
    def said(key: bytes, otherwise: str) -> str:
        return more[key].decode("utf-8", "surrogateescape") if key in more else otherwise

    name = said(b"path", header.name)
    if header.issym():
        return Member(name, "link", target=said(b"linkpath", header.linkname))
    if header.isdir():
        return Member(name, "directory")
    if header.type not in _FILES or any(key.startswith(b"GNU.sparse.") for key in more):
        raise unwanted(name, "hard link" if header.islnk() else "device or special file")
    size = said(b"size", str(header.size))
    if not _DIGITS.fullmatch(size):
        raise ValueError
    executable, privileged = bool(header.mode & 0o111), bool(header.mode & PRIVILEGED)
    return Member(name, "file", int(size), executable, privileged=privileged)
