"""Members and bytes of .tar, .tar.gz, .tar.bz2, .tar.xz and .zip, in bounded memory."""

import bz2
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from builtin_plugins.archives.judge import Member
from builtin_plugins.archives.stream import CHUNK, Stream, inflated
from builtin_plugins.archives.tar_reader import BLOCK, tar_members
from builtin_plugins.archives.zip_reader import zip_members
from host import OperationError

_XZ_MEMORY = 128 << 20
_DAMAGED = "is damaged or cut short"
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(ValueError, OverflowError, RecursionError, NotImplementedError),
)

# Yields what a member holds; called before the next member.
Content = Callable[[], Iterator[bytes | memoryview]]


@contextmanager
def read_members(
    archive: Path, budget: int, deadline: float
) -> Iterator[Iterator[tuple[Member, Content]]]:
    """Give the members of `archive` in stored order; `budget` bounds the bytes unpacked.

    The format is told by content, never by name. Raises OperationError for anything
    that is no whole, sound archive of a known format, and after `deadline` (of
    `time.monotonic`).
    """
    try:
        with archive.open("rb") as file:
            start = file.read(BLOCK)
            file.seek(0)
            if start.startswith(b"PK"):
                yield zip_members(file)
            else:
                yield tar_members(Stream(_tar_chunks(file, start), budget, deadline))
    except _BROKEN as failure:
        too_large = isinstance(failure, lzma.LZMAError) and "limit" in str(failure).lower()
        said = "needs more than 128 MiB of memory to unpack" if too_large else _DAMAGED
        raise OperationError(f"it {said}") from None


def _tar_chunks(file: BinaryIO, start: bytes) -> Iterator[bytes]:
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
