"""Unpack an untrusted archive: every member is checked before the first byte is written.

The standard library reads tar and zip files; `ArchiveValidator` alone decides what is accepted.
"""

from __future__ import annotations

import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Literal, NamedTuple

from builtin_plugins.io.time_limit import time_limit
from host import OperationError

MOST_FILES = 20_000  # of a plugin
MOST_BYTES = 512 << 20

Kind = Literal["file", "directory", "link"]

_VALIDATION_SECONDS = 20
_CHUNK = 1 << 18
_NAME_BYTES, _PATH_BYTES = 255, 1024
_LINK_HOPS = 40  # the kernel's limit
_UNIX = 3  # the zip format's number for systems with file modes
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, ValueError, OverflowError, RecursionError, NotImplementedError),
)


class Member(NamedTuple):
    """One member: its name as stored, its size in bytes, the target of a link."""

    name: str
    kind: Kind
    size: int = 0
    mode: int = 0
    target: str = ""
    read: Callable[[], IO[bytes] | None] | None = None  # opens the content of a file


@dataclass(frozen=True)
class Rules:
    """Rules for an archive of files, directories and links that stay inside.

    `strip`: remove a single top-level directory that holds everything, unless `stays`, called with
    all paths, returns True. `members` (including implied directories) and `size` (bytes) limit the
    whole archive.
    """

    strip: bool = True
    stays: Callable[[Collection[str]], bool] | None = None
    members: int = 100_000
    size: int = 8 << 30


_USUAL = Rules()


def extract(
    archive: Path, target: Path, rules: Rules = _USUAL, called: str = "", seconds: float = 600.0
) -> None:
    """Unpack `archive` into the new directory `target`; errors name it `called`, or its file name.

    The format (.tar, .tar.gz, .tar.bz2, .tar.xz or .zip) is detected from the content, never from
    the name. Files get mode 0755 or 0644 by their execute bits, directories 0755; owners and times
    are not kept. Raises OperationError naming archive and member. After a failure `target` may
    hold a part of the files; the caller removes it.
    """
    called = called or archive.name
    late = OperationError("it takes too long to unpack")
    try:
        with archive.open("rb") as file:
            with time_limit(min(seconds, _VALIDATION_SECONDS), late):
                validator = ArchiveValidator(rules)
                members = list(map(validator.add, _members(file, target)))
                validator.finish()
            with time_limit(seconds, late):
                _write(members, validator, target)
    except OperationError as failure:
        raise OperationError(f"{called}: {failure}") from None
    except (*_BROKEN, OSError) as failure:  # gzip's OSError has no strerror
        reason = getattr(failure, "strerror", "") or "it is damaged or cut short"
        raise OperationError(f"{called}: {reason}") from None


def _members(file: IO[bytes], target: Path) -> Iterator[Member]:
    """Yield the members of an archive in stored order; raises OperationError or _BROKEN."""
    start = file.read(512).lstrip()
    file.seek(0)
    if start.startswith(b"PK"):
        yield from _zip_members(zipfile.ZipFile(file))
        return
    try:
        tar = tarfile.open(fileobj=file, encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
    except tarfile.ReadError:
        hint = "; it looks like a web page" if start.startswith(b"<") else ""
        what = f"it is not a .tar, .tar.gz, .tar.bz2, .tar.xz or .zip, or is damaged{hint}"
        raise OperationError(what) from None
    yield from _tar_members(tar, target)


def _tar_members(tar: tarfile.TarFile, target: Path) -> Iterator[Member]:
    library_filter = getattr(tarfile, "data_filter", lambda *_: None)  # missing in Python 3.11.2
    for info in tar:
        if info.issym():
            yield Member(info.name, "link", target=info.linkname)
        elif info.isdir():
            yield Member(info.name, "directory")
        elif not info.isreg() or info.issparse():
            raise _unwanted(info.name, "hard link" if info.islnk() else "device or special file")
        else:
            yield Member(
                info.name, "file", info.size, info.mode, read=partial(tar.extractfile, info)
            )
        try:
            library_filter(info, target)
        except tarfile.TarError:
            raise _refusal(info.name, "leads out of the archive") from None
    stream = tar.fileobj
    stream.seek(tar.offset)  # tarfile treats a broken header like the end
    if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise EOFError
    while stream.read(_CHUNK):
        pass  # read to the end, to verify the checksum


def _zip_members(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        name, mode = info.orig_filename, info.external_attr >> 16
        kind = stat.S_IFMT(mode) if info.create_system == _UNIX else 0
        if info.flag_bits & 0x1:
            raise _unwanted(name, "encrypted file")
        if kind == stat.S_IFLNK:
            with archive.open(info) as content:
                yield Member(name, "link", target=os.fsdecode(content.read(_PATH_BYTES + 1)))
        elif name.endswith("/") or kind == stat.S_IFDIR:
            yield Member(name, "directory")
        elif kind not in (0, stat.S_IFREG):
            raise _unwanted(name, "device or special file")
        else:
            yield Member(name, "file", info.file_size, mode, read=partial(archive.open, info))


def _write(members: list[Member], validator: ArchiveValidator, target: Path) -> None:
    """Write the members; links come last, so nothing is ever written through one."""
    _make_directory(target)
    for member in members:
        path = target / validator.target_path(member.name)
        _make_directory(path if member.kind == "directory" else path.parent)
        content = member.read and member.read()
        if content:
            with content, path.open("xb") as file:
                shutil.copyfileobj(content, file, _CHUNK)
            path.chmod(0o755 if member.mode & 0o111 else 0o644)
    for member in members:
        if member.kind == "link":
            os.symlink(member.target, target / validator.target_path(member.name))


def _make_directory(path: Path) -> None:
    if not path.is_dir():
        _make_directory(path.parent)
        path.mkdir()
        path.chmod(0o755)  # regardless of the umask


class ArchiveValidator:
    """Checks members one by one; `add` and `finish` raise OperationError naming the member."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._size = 0
        self._kinds: dict[str, Kind] = {}
        self._targets: dict[str, str] = {}
        self._leading = ""

    def add(self, member: Member) -> Member:
        """Check one member and return it; only directories may repeat."""
        name, is_directory = member.name, member.kind == "directory"
        path = _clean(name)
        if not (path or is_directory):
            raise _refusal(name, "has no name of its own")
        above = path if is_directory else path.rpartition("/")[0]
        while above and self._kinds.get(above) != "directory":
            if above in self._kinds:
                raise _refusal(name, "has a parent that is not a directory")
            self._kinds[above] = "directory"
            above = above.rpartition("/")[0]
        if not is_directory:
            if path in self._kinds:
                raise _refusal(name, "occurs twice")
            self._kinds[path] = member.kind
            self._size += member.size
        if member.kind == "link":
            self._targets[path] = _checked_target(member)
        if len(self._kinds) > self._rules.members:
            raise OperationError(f"more than {self._rules.members} members")
        if self._size > self._rules.size:
            raise OperationError(f"more than {self._rules.size} bytes unpacked")
        return member

    def finish(self) -> None:
        """Check the whole archive: it is not empty, and each link resolves to a member."""
        if not self._targets and "file" not in self._kinds.values():
            raise OperationError("it holds no files")
        self._leading = self._shared_directory() if self._rules.strip else ""
        for path in self._targets:
            self._check_link(path)

    def target_path(self, name: str) -> str:
        """Return a member's path relative to the target ("" = itself); call after `finish`."""
        path = _clean(name)
        return path[len(self._leading) + 1 :] if self._leading else path

    def _shared_directory(self) -> str:
        tops = {path.partition("/")[0] for path in self._kinds}
        only = next(iter(tops)) if len(tops) == 1 else ""
        if self._kinds.get(only) != "directory":
            return ""
        stays = self._rules.stays
        return "" if stays and stays(self._kinds) else only

    def _check_link(self, path: str) -> None:
        """Follow a link as the kernel would; raise unless it resolves to a member.

        This uses only the names, so long paths and long chains of links cannot produce a different
        result on disk (CVE-2025-4517).
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
                    raise _refusal(path, "is part of a loop of symbolic links")
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
    if longest > _NAME_BYTES or len(os.fsencode(path)) > _PATH_BYTES:
        raise _refusal(name, "has a name that is too long")
    return path


def _checked_target(link: Member) -> str:
    """Return the target of a link; raises OperationError unless it is a valid relative path."""
    target = link.target
    is_relative = bool(target) and not target.startswith("/") and not _has_controls(target)
    if not is_relative or len(os.fsencode(target)) > _PATH_BYTES:
        raise _refusal(link.name, "has a link target that is not a usable relative path")
    return target


def _has_controls(text: str) -> bool:
    return any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in text)


def _refusal(name: str, reason: str) -> OperationError:
    name = name if len(name) <= 80 else name[:77] + "..."
    return OperationError(f"its member {name} {reason}")


def _unwanted(name: str, what: str) -> OperationError:
    """Return the error for a member of a kind that is never accepted."""
    return _refusal(name, f"is a {what}, which is not allowed")
