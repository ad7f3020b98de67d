"""Members and bytes of .tar, .tar.gz, .tar.bz2, .tar.xz and .zip, in bounded memory."""

import bz2
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any, BinaryIO

from builtin_plugins.archive_tree import Entry
from host.errors import OperationError
from host.escape import printable

_CHUNK = 1 << 18
_AHEAD = 4  # chunks unpacked before they are asked for
_HEADER_LIMIT = 1 << 20  # no honest member has a longer header
_DIRECTORY_LIMIT = 32 << 20  # the same for a zip's central directory
_XZ_MEMORY = 128 << 20
_BLOCK = 512
_PRIVILEGED = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX

# One member, and a function that yields its content; call it before the next member.
Member = tuple[Entry, Callable[[], Iterator[bytes | memoryview]]]


@contextmanager
def read_members(archive: Path, budget: int) -> Iterator[Iterator[Member]]:
    """Give the members of `archive` in stored order; `budget` bounds the bytes unpacked.

    The format is told by content, never by name. Raises OperationError for anything
    that is no whole, sound archive of a known format.
    """
    try:
        with archive.open("rb") as file:
            start = file.read(_BLOCK)
            file.seek(0)
            if start.startswith(b"PK"):
                yield _zip_members(file)
            else:
                with _ahead(_tar_stream(file, start)) as chunks:
                    yield _tar_members(_Stream(chunks, budget))
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as failure:
        raise _damaged(failure) from None
    except (ValueError, OverflowError, RecursionError, NotImplementedError) as failure:
        raise _damaged(failure) from None


def _damaged(failure: BaseException) -> OperationError:
    if isinstance(failure, lzma.LZMAError) and "limit" in str(failure).lower():
        return OperationError("it needs more than 128 MiB of memory to unpack")
    return OperationError("it is damaged or cut short")


def _tar_stream(file: BinaryIO, start: bytes) -> Iterator[bytes]:
    """Return the unpacked chunks of a tar file that begins with `start`."""
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
    """Yield unpacked chunks of at most `_CHUNK` bytes; several streams may follow each other.

    `make` gives a decompressor of zlib, bz2 or lzma. Raises EOFError for a cut file.
    """
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


@contextmanager
def _ahead(chunks: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
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


class _Stream:
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
        self._position += len(part)
        return part


def _tar_members(stream: _Stream) -> Iterator[Member]:
    with tarfile.TarFile(fileobj=stream) as tar:  # type: ignore[arg-type]
        while (member := tar.next()) is not None:
            setattr(tar, "members", [])  # noqa: B010  # it would keep them all
            yield _tar_entry(member), partial(stream.content, member.size)
        if len(stream.last) != _BLOCK or any(stream.last):
            raise EOFError  # `tarfile` takes a broken header for the end
        stream.drain()


def _tar_entry(member: tarfile.TarInfo) -> Entry:
    privileged = bool(member.mode & _PRIVILEGED)
    if member.isdir():
        return Entry(member.name, "directory")
    if member.issym():
        return Entry(member.name, "link", target=member.linkname)
    if member.isreg() and not member.issparse() and member.size >= 0:
        return Entry(
            member.name, "file", member.size, bool(member.mode & 0o111), privileged=privileged
        )
    raise _unwanted(member.name, "hard link" if member.islnk() else "device or other special file")


def _zip_members(file: BinaryIO) -> Iterator[Member]:
    with zipfile.ZipFile(_Capped(file)) as archive:
        for info in archive.infolist():
            yield _zip_entry(archive, info), partial(_zip_content, archive, info)


def _zip_content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(info) as content:
        left = info.file_size
        while chunk := content.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise EOFError
            yield chunk
        if left:
            raise EOFError


def _zip_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Entry:
    name, mode = info.orig_filename, info.external_attr >> 16
    if info.flag_bits & 0x1:
        raise _unwanted(name, "encrypted file")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _unwanted(name, "file packed in an unusual way")  # those inflate without bound
    kind = stat.S_IFMT(mode) if info.create_system == 3 else 0
    if kind == stat.S_IFLNK:
        if info.file_size > 4096:
            raise _unwanted(name, "link of unusual length")
        target = b"".join(_zip_content(archive, info)).decode("utf-8", "surrogateescape")
        return Entry(name, "link", target=target)
    if name.endswith("/") or kind == stat.S_IFDIR:
        return Entry(name, "directory")
    if kind not in (0, stat.S_IFREG):
        raise _unwanted(name, "device or other special file")
    return Entry(
        name, "file", info.file_size, bool(mode & 0o111), privileged=bool(mode & _PRIVILEGED)
    )


def _unwanted(name: str, what: str) -> OperationError:
    return OperationError(f"its member {printable(name[:80])} is a {what}; those are not taken")


class _Capped:
    """A file whose single reads are bounded, as `zipfile` believes what a header says."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell
        self.close = file.close

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(
            _DIRECTORY_LIMIT + 1 if size < 0 else min(size, _DIRECTORY_LIMIT + 1)
        )
        if len(content) > _DIRECTORY_LIMIT:
            raise OperationError("its table of contents is of unusual size")
        return content
