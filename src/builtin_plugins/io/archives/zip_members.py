"""Members of a zip file, as `zipfile` reads them, with what it believes too readily bounded."""

import io
import stat
import zipfile
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from builtin_plugins.io.archives.safety import LONGEST_TARGET, PRIVILEGED, Member, unwanted
from host import OperationError

_CHUNK = 1 << 18
_DIRECTORY_LIMIT = 16 << 20  # no honest zip has a longer table of contents
_UNIX = 3


def zip_members(file: BinaryIO) -> Iterator[tuple[Member, partial[Iterator[bytes]]]]:
    """Yield each member and how to read it; raises EOFError or what `zipfile` raises."""
    with zipfile.ZipFile(_Capped(file.fileno(), closefd=False)) as archive:
        for info in archive.infolist():
            yield _member(archive, info), partial(_content, archive, info)


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(info) as content:  # never yields more than its stated size
        yield from iter(lambda: content.read(_CHUNK), b"")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    name, mode = info.orig_filename, info.external_attr >> 16
    if info.flag_bits & 0x1:
        raise unwanted(name, "encrypted file")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise unwanted(name, "file packed in an unusual way")  # those inflate without bound
    kind = stat.S_IFMT(mode) if info.create_system == _UNIX else 0
    if kind == stat.S_IFLNK:
        if info.file_size > LONGEST_TARGET:
            raise unwanted(name, "link of unusual length")
        target = b"".join(_content(archive, info)).decode("utf-8", "surrogateescape")
        return Member(name, "link", target=target)
    if name.endswith("/") or kind == stat.S_IFDIR:
        return Member(name, "directory")
    if kind not in (0, stat.S_IFREG):
        raise unwanted(name, "device or special file")
    privileged = bool(mode & PRIVILEGED)
    return Member(name, "file", info.file_size, bool(mode & 0o111), privileged=privileged)


class _Capped(io.FileIO):
    """A file whose single reads are bounded, as `zipfile` believes what a header says."""

    def read(self, size: int | None = -1) -> bytes:
        most = _DIRECTORY_LIMIT + 1
        content = super().read(most if size is None or size < 0 else min(size, most))
        if len(content) == most:
            raise OperationError("its table of contents is of unusual size")
        return content
