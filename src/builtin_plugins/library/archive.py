"""Unpack an untrusted archive: every member is checked before the first byte is written.

The standard library reads tar and zip files; `checked_members` alone decides what is accepted.
"""

import lzma
import os
import re
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Literal, NamedTuple

from builtin_plugins.library.files.atomic import make_directory
from builtin_plugins.library.time_limit import time_limit
from host import OperationError

MOST_FILES = 20_000  # of a plugin
MOST_BYTES = 512 << 20

_VALIDATION_SECONDS = 20
_CHUNK = 1 << 18
_NAME_BYTES = 255
_PATH_BYTES = 1024
_SHOWN_NAME = 80  # characters of a name in a message
_LINK_HOPS = 40  # the kernel's limit
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# ELF, and Mach-O for one processor or several
_PROGRAMS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_UNIX = 3  # the zip format's number for Unix, whose entries have file modes
_BROKEN = (  # what the standard library raises for a damaged archive
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    ValueError,
    OverflowError,
    RecursionError,
    NotImplementedError,
)


class Member(NamedTuple):
    """One member of an archive: its name as stored, its size in bytes, and the target of a link."""

    name: str
    kind: Literal["file", "directory", "link"]
    size: int = 0
    mode: int = 0
    target: str = ""
    read: Callable[[], IO[bytes] | None] | None = None  # opens the content of a file


class UnpackOptions(NamedTuple):
    """The options for one archive.

    A single top-level directory that contains everything is left out, unless `keeps_top`, called
    with all paths, returns True. `members` (including implied directories) and `size` (bytes) limit
    the whole archive.
    """

    keeps_top: Callable[[Collection[str]], bool] = lambda _: False
    members: int = MOST_FILES
    size: int = MOST_BYTES


AS_STORED = UnpackOptions(keeps_top=lambda _: True)


def extract(
    archive: Path,
    target: Path,
    called: str,
    options: UnpackOptions,
    seconds: float = 600.0,
) -> None:
    """Unpack `archive` into the new directory `target`; in errors, its name is `called`.

    The format (.tar, .tar.gz, .tar.bz2, .tar.xz or .zip) is detected from the content, never from
    the name. Files get mode 0755 or 0644 depending on their execute bits, and directories get mode
    0755; owners and times are not kept. Raises OperationError with the names of the archive and of
    the member. After a failure, `target` may contain some of the files; the caller removes it.
    """
    late = OperationError("unpacking takes too long")
    try:
        with archive.open("rb") as file:
            with time_limit(min(seconds, _VALIDATION_SECONDS), late):
                members = checked_members(_members(file, target), options)
            with time_limit(seconds, late):
                _write(members, target)
    except OperationError as failure:
        raise OperationError(f"{called}: {failure}") from None
    except (*_BROKEN, OSError) as failure:
        # An OSError of the disk has a `strerror`; that of gzip has none.
        reason = getattr(failure, "strerror", "")
        if not reason:
            reason = "the archive is damaged or incomplete"
        raise OperationError(f"{called}: {reason}") from None


def _members(file: IO[bytes], target: Path) -> Iterator[Member]:
    """Yield the members in stored order. Raises OperationError or an error listed in `_BROKEN`."""
    is_zip = file.read(2) == b"PK"
    file.seek(0)
    if is_zip:
        yield from _zip_members(zipfile.ZipFile(file))
        return
    try:
        tar = tarfile.open(fileobj=file, encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
    except tarfile.ReadError:
        what = "the file is not a .tar, .tar.gz, .tar.bz2, .tar.xz or .zip archive, or is damaged"
        raise OperationError(what) from None
    yield from _tar_members(tar, target)


def _tar_members(tar: tarfile.TarFile, target: Path) -> Iterator[Member]:
    # Python 3.11.2 has no such filter; ours alone is strict enough.
    library_filter = getattr(tarfile, "data_filter", lambda *_: None)
    for info in tar:
        read = partial(tar.extractfile, info)
        if info.issym():
            yield Member(info.name, "link", target=info.linkname)
        elif info.isdir():
            yield Member(info.name, "directory")
        elif info.isreg() and not info.issparse():
            yield Member(info.name, "file", info.size, info.mode, read=read)
        else:
            raise _special(info.name)

        try:
            library_filter(info, target)
        except tarfile.TarError:
            raise _refusal(info.name, "points outside the archive") from None

    stream = tar.fileobj
    stream.seek(tar.offset)  # tarfile mistakes a broken header for the archive's end
    if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise EOFError
    while stream.read(_CHUNK):
        pass  # read to the end, to verify the checksum


def _zip_members(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        name = info.orig_filename  # `filename` is cut at a NUL character
        if info.flag_bits & 0x1:
            raise _refusal(name, "is encrypted")

        mode = info.external_attr >> 16
        kind = 0  # other systems than Unix store no kind
        if info.create_system == _UNIX:
            kind = stat.S_IFMT(mode)

        read = partial(archive.open, info)
        if kind == stat.S_IFLNK:
            with read() as content:
                target = os.fsdecode(content.read(_PATH_BYTES + 1))
            yield Member(name, "link", target=target)
        elif name.endswith("/") or kind == stat.S_IFDIR:
            yield Member(name, "directory")
        elif kind in (0, stat.S_IFREG):
            if not mode:
                mode = _mode_by_content(read)
            yield Member(name, "file", info.file_size, mode, read=read)
        else:
            raise _special(name)


def _mode_by_content(read: Callable[[], IO[bytes]]) -> int:
    """Return the mode of a zip's file without one: a script or program must start."""
    with read() as content:
        beginning = content.read(4)
    if beginning.startswith(b"#!") or beginning in _PROGRAMS:
        return 0o755
    return 0o644


def _write(members: dict[str, Member], target: Path) -> None:
    """Write the members; links come last, so that no file is written through a link."""
    make_directory(str(target), 0o755)
    for name, member in members.items():
        path = target / name
        if member.kind == "directory":
            make_directory(str(path), 0o755)
        else:
            make_directory(str(path.parent), 0o755)
        if member.read is not None:
            _write_file(path, member.read(), member.mode)

    for name, member in members.items():
        if member.kind == "link":
            os.symlink(member.target, target / name)


def _write_file(path: Path, content: IO[bytes] | None, mode: int) -> None:
    if content is None:
        return
    with content, path.open("xb") as file:
        shutil.copyfileobj(content, file, _CHUNK)

    is_executable = mode & 0o111
    if is_executable:
        path.chmod(0o755)
    else:
        path.chmod(0o644)


def checked_members(
    members: Iterable[Member], options: UnpackOptions
) -> dict[str, Member]:
    """Return the members, keyed by target path, with the directories that their names imply.

    Raises OperationError with the name of the member that is not allowed.
    """
    by_path = _collected(members, options)
    kinds = {member.kind for member in by_path.values()}
    if kinds <= {"directory"}:
        raise OperationError("the archive contains no files")

    if not options.keeps_top(by_path):
        by_path = _without_top(by_path)
    for path, member in by_path.items():
        if member.kind == "link":
            _check_link(path, by_path)
    return by_path


def _without_top(members: dict[str, Member]) -> dict[str, Member]:
    """Return the members below the only top-level directory, such as acme-1.0, if there is one."""
    tops = {path.partition("/")[0] for path in members}
    if len(tops) > 1:
        return members
    top = tops.pop()
    if members[top].kind != "directory":
        return members

    inside = {}
    for path, member in members.items():
        below = path.removeprefix(top).removeprefix("/")
        inside[below] = member
    return inside


def _collected(members: Iterable[Member], options: UnpackOptions) -> dict[str, Member]:
    """Return the members keyed by path; only directories may occur twice. Raises OperationError."""
    by_path: dict[str, Member] = {}
    size = 0
    for member in members:
        name = member.name
        is_directory = member.kind == "directory"
        path = _clean(name)
        if not path and not is_directory:
            raise _refusal(name, "has no name")

        # The directories above it may have no members of their own.
        above = path
        if not is_directory:
            above = path.rpartition("/")[0]
        while above and above not in by_path:
            by_path[above] = Member(above, "directory")
            above = above.rpartition("/")[0]
        if above and by_path[above].kind != "directory":
            raise _refusal(name, "has a parent that is not a directory")

        if not is_directory:
            if path in by_path:
                raise _refusal(name, "occurs twice")
            by_path[path] = member
            size += member.size

        # Within the loop: an archive may never end.
        if len(by_path) > options.members:
            raise OperationError(f"more than {options.members} members")
        if size > options.size:
            raise OperationError(f"more than {options.size} bytes unpacked")
    return by_path


def _check_link(path: str, members: dict[str, Member]) -> None:
    """Follow a link as the kernel would. Raises OperationError unless it resolves to a member.

    Only the names are used, so long paths and long chains of links cannot produce a different
    result on disk (CVE-2025-4517).
    """
    outside = _refusal(path, "is a link that points outside the archive")
    missing = _refusal(path, "is a link to a file that the archive does not contain")

    target = members[path].target
    if not target or target.startswith("/"):
        raise outside

    hops = 1  # this link
    reached = path.split("/")[:-1]
    ahead = target.split("/")[::-1]  # the next part is the last one
    while ahead:
        part = ahead.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not reached:
                raise outside
            reached.pop()
            continue

        reached.append(part)
        member = members.get("/".join(reached))
        if member is None:
            raise missing
        if member.kind == "file" and ahead:
            raise missing
        if member.kind == "link":
            hops += 1
            if hops > _LINK_HOPS:
                raise missing
            ahead += member.target.split("/")[::-1]
            reached.pop()


def _clean(name: str) -> str:
    """Return `name` without empty and `.` parts. Raises OperationError for an unsafe name."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts:
        raise _refusal(name, "points outside the archive")

    path = "/".join(parts)
    if _is_too_long(path):
        raise _refusal(name, "has a name that is too long")
    if _CONTROL.search(name):
        raise _refusal(name, "has control characters in its name")
    return path


def _is_too_long(path: str) -> bool:
    encoded = os.fsencode(path)
    if len(encoded) > _PATH_BYTES:
        return True
    parts = encoded.split(b"/")
    longest = max(map(len, parts))
    return longest > _NAME_BYTES


def _refusal(name: str, reason: str) -> OperationError:
    if len(name) > _SHOWN_NAME:
        name = name[: _SHOWN_NAME - 3] + "..."
    return OperationError(f"member {name} {reason}")


def _special(name: str) -> OperationError:
    return _refusal(name, "is not a file, a directory or a symbolic link")
