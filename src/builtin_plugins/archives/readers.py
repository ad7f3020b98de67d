"""Members and bytes of .tar, .tar.gz, .tar.bz2, .tar.xz and .zip, in bounded memory."""

import bz2
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from builtin_plugins.archives.stream import CHUNK, Stream, ahead, inflated
from builtin_plugins.archives.tree import Entry
from host.errors import OperationError
from host.run.text import printable

_DIRECTORY_LIMIT = 32 << 20  # no honest zip has a longer table of contents
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
                with ahead(_tar_stream(file, start)) as chunks:
                    yield _tar_members(Stream(chunks, budget))
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
        return inflated(file, lambda: zlib.decompressobj(wbits=31))
    if start.startswith(b"BZh"):
        return inflated(file, bz2.BZ2Decompressor)
    if start.startswith(b"\xfd7zXZ\0"):
        return inflated(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY))
    if start[257:262] == b"ustar":
        return iter(lambda: file.read(CHUNK), b"")
    hint = "; it looks like a web page" if start.lstrip()[:1] == b"<" else ""
    raise OperationError(f"it is no .tar, .tar.gz, .tar.bz2, .tar.xz or .zip{hint}")


def _tar_members(stream: Stream) -> Iterator[Member]:
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
        while chunk := content.read(CHUNK):
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
