"""Unpack an archive from a stranger: every member is checked before the first byte is written.

The standard library reads tar and zip files; `ArchiveValidator` alone decides what is accepted.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import stat
import sys
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

from builtin_plugins.io.time_limit import time_limit
from host import OperationError

MOST_FILES = 20_000  # of a plugin
MOST_BYTES = 512 << 20
LONGEST_TARGET = 1024  # bytes of where a link points

Kind = Literal["file", "directory", "link"]

_VALIDATION_SECONDS = 20
_RATIO = 250  # no honest archive unpacks to more times its size
_SMALL = 64 << 20  # bytes; below this the ratio is not checked
_CHUNK = 1 << 18
_LARGEST_READ = 16 << 20  # bytes; more than any honest header or table of contents has
_BLOCK = 4096  # bytes; the least that a file or a directory takes on a disk
_PRIVILEGED = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
_NAME_BYTES, _PATH_BYTES, _DEPTH = 255, 1024, 64
_LINK_HOPS = 40  # as many as the kernel follows
_TOO_LARGE = "it unpacks to far more than its size allows"
_TOO_SLOW = "it takes too long to unpack"
_UNIX = 3  # the zip format's number of a system with modes
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError),
    *(EOFError, ValueError, OverflowError, RecursionError, NotImplementedError),
)


class Member(NamedTuple):
    """One member: its name as stored, its size in bytes, where a link points."""

    name: str
    kind: Kind
    size: int = 0
    executable: bool = False
    target: str = ""
    privileged: bool = False  # has setuid, setgid or sticky, which is not taken over
    read: Callable[[], IO[bytes]] | None = None  # opens the content of a file
    info: tarfile.TarInfo | None = None


@dataclass(frozen=True)
class Rules:
    """What an archive may hold, beside files, directories and links that stay inside.

    `strip`: one leading directory that holds everything is removed, unless `stays`, called with
    all paths, says that it is content. `members` (implied directories count) and `size` (bytes
    on disk) limit the whole.
    """

    strip: bool = True
    stays: Callable[[Collection[str]], bool] | None = None
    members: int = 100_000
    size: int = 8 << 30


_USUAL = Rules()


def extract(
    archive: Path, target: Path, rules: Rules = _USUAL, called: str = "", seconds: float = 600.0
) -> int:
    """Unpack `archive` into the new directory `target`; errors name it `called`, or its file name.

    The content, never the name, decides the format (.tar, .tar.gz, .tar.bz2, .tar.xz or .zip).
    Files get mode 0755 or 0644 by their execute bits, directories 0755; owners and times are not
    kept. Returns how many setuid, setgid or sticky bits were left out. Raises OperationError
    naming archive and member. After a failure `target` may hold a part; the caller removes it.
    """
    deadline = time.monotonic() + seconds
    try:
        budget = min(rules.size, max(_SMALL, _RATIO * archive.stat().st_size))
        with archive.open("rb") as file, _broken_explained():
            validator = ArchiveValidator(rules)
            late = OperationError(_TOO_SLOW)
            with time_limit(min(seconds, _VALIDATION_SECONDS), late):
                members = []
                for member in _members(file, budget):
                    validator.add(member)
                    members.append(member)
                validator.finish()
                _check_by_library(members, target)
                _check_room(validator.size, budget, target.parent)
            _write(members, validator, target, deadline)
    except OSError as failure:
        path = os.path.relpath(os.fsdecode(failure.filename or target), target)
        where = f"{path}: " if path.partition("/")[0] not in (".", "..") else ""
        raise OperationError(f"{called or archive.name}: {where}{failure.strerror}") from None
    except OperationError as failure:
        raise OperationError(f"{called or archive.name}: {failure}") from None
    return validator.privileged


def _check_by_library(members: list[Member], target: Path) -> None:
    """Ask the standard library, too: its filter may know of attacks that are found later."""
    library_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
    for member in members:
        if library_filter is not None and member.info is not None:
            try:
                library_filter(member.info, target)
            except tarfile.TarError as failure:
                raise OperationError(str(failure)) from None


def _check_room(size: int, budget: int, directory: Path) -> None:
    if size > budget:
        raise OperationError(_TOO_LARGE)
    free = shutil.disk_usage(directory).free
    if size > free:
        raise OperationError(f"it needs {size} bytes of disk space, {free} are free")


@contextmanager
def _broken_explained() -> Iterator[None]:
    try:
        yield
    except _BROKEN:
        raise OperationError("it is damaged or cut short") from None


def _members(file: IO[bytes], budget: int) -> Iterator[Member]:
    """Yield the members of an archive in stored order; raises OperationError or _BROKEN."""
    start = file.read(512)
    file.seek(0)
    if start.startswith(b"PK"):
        yield from _zip_members(zipfile.ZipFile(cast("IO[bytes]", _Limited(file, sys.maxsize))))
        return
    opened: Any = file
    if start.startswith(b"\x1f\x8b"):
        opened = gzip.GzipFile(fileobj=file)
    elif start.startswith(b"BZh"):
        opened = bz2.BZ2File(file)
    elif start.startswith(b"\xfd7zXZ\0"):
        opened = lzma.LZMAFile(file)  # noqa: SIM115 - the caller closes `file`
    elif start[257:262] != b"ustar":
        hint = "; it looks like a web page" if start.lstrip()[:1] == b"<" else ""
        raise OperationError(f"it is no .tar, .tar.gz, .tar.bz2, .tar.xz or .zip{hint}")
    yield from _tar_members(_Limited(opened, budget))


class _Limited:
    """A file that refuses a read larger than any header, and one beyond `most` bytes.

    Archives state sizes, and the standard library reads that much at once.
    """

    def __init__(self, file: Any, most: int) -> None:
        self._file = file
        self._most = most + _LARGEST_READ
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > _LARGEST_READ:
            raise OperationError("it has a header or table of contents of unusual size")
        if self._file.tell() > self._most:
            raise OperationError(_TOO_LARGE)
        return bytes(self._file.read(_LARGEST_READ if size is None or size < 0 else size))


def _tar_members(file: _Limited) -> Iterator[Member]:
    tar = tarfile.open(  # noqa: SIM115 - its members are read later
        fileobj=cast("IO[bytes]", file), mode="r:", encoding="utf-8", errors="surrogateescape"
    )
    for info in tar:
        if info.issym():
            yield Member(info.name, "link", target=info.linkname, info=info)
        elif info.isdir():
            yield Member(info.name, "directory")
        elif not info.isreg() or info.issparse():
            raise unwanted(info.name, "hard link" if info.islnk() else "device or special file")
        elif info.size < 0:
            raise ValueError
        else:
            read = cast("Callable[[], IO[bytes]]", partial(tar.extractfile, info))
            executable, privileged = bool(info.mode & 0o111), bool(info.mode & _PRIVILEGED)
            yield Member(info.name, "file", info.size, executable, "", privileged, read, info)
    file.seek(tar.offset)  # the reader stops at a broken header as at the end
    if file.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise EOFError
    while file.read(_CHUNK):
        pass  # up to the checksum at the end


def _zip_members(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        name, mode = info.orig_filename, info.external_attr >> 16
        kind = stat.S_IFMT(mode) if info.create_system == _UNIX else 0
        read = partial(archive.open, info)
        if info.flag_bits & 0x1:
            raise unwanted(name, "encrypted file")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise unwanted(name, "file packed in an unusual way")  # others unpack without bound
        if kind == stat.S_IFLNK:
            if info.file_size > LONGEST_TARGET:
                raise unwanted(name, "link of unusual length")
            with read() as content:
                yield Member(name, "link", target=os.fsdecode(content.read()))
        elif name.endswith("/") or kind == stat.S_IFDIR:
            yield Member(name, "directory")
        elif kind not in (0, stat.S_IFREG):
            raise unwanted(name, "device or special file")
        else:
            executable, privileged = bool(mode & 0o111), bool(mode & _PRIVILEGED)
            yield Member(name, "file", info.file_size, executable, "", privileged, read)


def _write(
    members: list[Member], validator: ArchiveValidator, target: Path, deadline: float
) -> None:
    """Write the members; links come last, so nothing is ever written through one."""
    target.mkdir()
    target.chmod(0o755)
    for member in members:
        path = target / validator.target_path(member.name)
        _make_directories(target, path if member.kind == "directory" else path.parent)
        if member.read is not None:
            with member.read() as content:
                _write_file(path, content, member.executable, deadline)
    for member in members:
        if member.kind == "link":
            os.symlink(member.target, target / validator.target_path(member.name))


def _make_directories(target: Path, path: Path) -> None:
    if path != target and not path.is_dir():
        _make_directories(target, path.parent)
        path.mkdir()
        path.chmod(0o755)  # whatever the umask


def _write_file(path: Path, content: IO[bytes], executable: bool, deadline: float) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(path, flags, 0o600), "wb") as file:
            while chunk := content.read(_CHUNK):
                if time.monotonic() > deadline:
                    raise OperationError(_TOO_SLOW)
                file.write(chunk)
            os.fchmod(file.fileno(), 0o755 if executable else 0o644)
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, path) from None


class ArchiveValidator:
    """Checks members as they come; `add` and `finish` raise OperationError naming the member.

    `size` is what they take on a disk, in bytes, implied directories included; `privileged`
    counts files with setuid, setgid or sticky.
    """

    def __init__(self, rules: Rules) -> None:
        self.size = 0
        self.privileged = 0
        self._rules = rules
        self._kinds: dict[str, Kind] = {}
        self._targets: dict[str, str] = {}
        self._leading = ""

    def add(self, member: Member) -> None:
        """Accept one member; a directory may repeat, nothing else may."""
        self.privileged += member.privileged
        path = _clean(member.name)
        if member.kind == "directory":
            self._add_directories(member.name, path)
        elif not path:
            raise _refusal(member.name, "has no name of its own")
        else:
            self._add_directories(member.name, path.rpartition("/")[0])
            if path in self._kinds:
                raise _refusal(member.name, "stands twice in it")
            self._add(path, member.kind, member.size)
        if member.kind == "link":
            if not member.target or member.target.startswith("/") or _has_controls(member.target):
                raise _refusal(member.name, "links to what is not a relative path")
            if len(os.fsencode(member.target)) > LONGEST_TARGET:
                raise _refusal(member.name, "links to a path that is too long")
            self._targets[path] = member.target
        if len(self._kinds) > self._rules.members:
            raise OperationError(f"more than {self._rules.members} members")
        if self.size > self._rules.size:
            raise OperationError(f"more than {self._rules.size} bytes unpacked")

    def finish(self) -> None:
        """Check the whole: it holds something, and each link ends at a member."""
        if not self._targets and "file" not in self._kinds.values():
            raise OperationError("it holds no files")
        self._leading = self._shared_directory() if self._rules.strip else ""
        for path in self._targets:
            self._check_link(path)

    def target_path(self, name: str) -> str:
        """Return where a member goes after `finish`, relative to the target ("" = itself)."""
        path = _clean(name)
        return path[len(self._leading) + 1 :] if self._leading else path

    def _add_directories(self, name: str, path: str) -> None:
        """Record `path` and all above it as directories."""
        while path and self._kinds.get(path) != "directory":
            if path in self._kinds:
                raise _refusal(name, "lies under something that is no directory")
            self._add(path, "directory")
            path = path.rpartition("/")[0]

    def _add(self, path: str, kind: Kind, size: int = 0) -> None:
        self._kinds[path] = kind
        self.size += max(size, 1) + -max(size, 1) % _BLOCK

    def _shared_directory(self) -> str:
        tops = {path.partition("/")[0] for path in self._kinds}
        only = next(iter(tops)) if len(tops) == 1 else ""
        if self._kinds.get(only) != "directory":
            return ""
        stays = self._rules.stays
        return "" if stays and stays(self._kinds) else only

    def _check_link(self, path: str) -> None:
        """Follow a link as the kernel would; raise unless it ends at a member inside.

        This works on the names alone, so it cannot disagree with the disk, however long a path
        or chain of links is (the flaw of CVE-2025-4517).
        """
        floor = 1 if self._leading else 0
        at = path.split("/")[:-1]
        ahead = self._targets[path].split("/")[::-1]
        hops = 0
        while ahead:
            part = ahead.pop()
            if part in ("", "."):
                continue
            if part == "..":
                if len(at) <= floor:
                    raise _refusal(path, "links out of the archive")
                at.pop()
                continue
            at.append(part)
            kind = self._kinds.get("/".join(at))
            if kind is None or (kind == "file" and ahead):
                raise _refusal(path, "links to nothing in the archive")
            if kind == "link":
                hops += 1
                if hops > _LINK_HOPS:
                    raise _refusal(path, "is part of a chain of links without end")
                ahead += self._targets["/".join(at)].split("/")[::-1]
                at.pop()


def _clean(name: str) -> str:
    """Return `name` without empty and `.` parts; raises OperationError for an unsafe one."""
    if name.startswith("/"):
        raise _refusal(name, "has an absolute name")
    if _has_controls(name):
        raise _refusal(name, "has control characters in its name")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise _refusal(name, "leads out of the archive")
    path = "/".join(parts)
    longest = max((len(os.fsencode(part)) for part in parts), default=0)
    if len(parts) > _DEPTH or longest > _NAME_BYTES or len(os.fsencode(path)) > _PATH_BYTES:
        raise _refusal(name, "has a name that is too long or too deep")
    return path


def _has_controls(text: str) -> bool:
    return any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in text)


def _refusal(name: str, reason: str) -> OperationError:
    name = name if len(name) <= 80 else name[:77] + "..."
    return OperationError(f"its member {name} {reason}")


def unwanted(name: str, what: str) -> OperationError:
    """Return the error for a member of a kind that is never accepted."""
    return _refusal(name, f"is a {what}; those are not taken")
