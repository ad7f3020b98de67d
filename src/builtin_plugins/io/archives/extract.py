"""Unpack an untrusted archive: every member is judged before the first byte is written."""

import lzma
import os
import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from builtin_plugins.io.archives.safety import Judge, Member, Rules
from builtin_plugins.io.archives.tar_members import BLOCK, Stream, tar_members, unpacked
from builtin_plugins.io.archives.zip_members import zip_members
from host import OperationError

_RATIO = 250  # no honest archive unpacks to more times its size
_SMALL = 64 << 20  # below this the ratio says nothing
_USUAL = Rules()
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(ValueError, OverflowError, RecursionError, NotImplementedError),
)

_Read = TypeVar("_Read")
# A member, and what yields its content; called before the next member.
Opened = tuple[Member, Callable[[], Iterator[bytes | memoryview]]]


def extract(
    archive: Path,
    target: Path,
    rules: Rules = _USUAL,
    called: str = "",
    seconds: float = 600.0,
) -> int:
    """Unpack `archive` into the new directory `target`; errors call it `called`, else its name.

    The format (.tar, .tar.gz, .tar.bz2, .tar.xz or .zip) is told by content, never by name.
    Files get mode 0755 or 0644 by their execute bits, directories 0755, whatever the
    umask; owners and times are not kept. Returns how many setuid, setgid or sticky bits
    were left out. Raises OperationError naming archive and member. On failure `target`
    may hold a part; the caller removes it.

    The archive is read twice: once to judge it whole, once to write. `seconds` bounds both.
    """
    deadline = time.monotonic() + seconds
    try:
        budget = min(rules.size, max(_SMALL, _RATIO * archive.stat().st_size))
        judge = _judge(archive, target.parent, budget, rules, deadline)
        target.mkdir(mode=0o755)
        target.chmod(0o755)
        _write(archive, target, judge, budget, deadline)
    except OSError as failure:
        path = os.path.relpath(os.fsdecode(failure.filename or target), target)
        where = f"{path}: " if path.partition("/")[0] not in (".", "..") else ""
        raise OperationError(f"{called or archive.name}: {where}{failure.strerror}") from None
    except OperationError as failure:
        raise OperationError(f"{called or archive.name}: {failure}") from None
    return judge.privileged


def _judge(archive: Path, directory: Path, budget: int, rules: Rules, deadline: float) -> Judge:
    """Return what judged all members; raises OperationError, also without room in `directory`."""
    judge = Judge(rules)
    with _members(archive, budget, deadline) as members:
        for member, _ in members:
            judge.add(member)
            if judge.size > budget:
                raise OperationError("it unpacks to far more than its size allows")
    judge.seal()
    free = shutil.disk_usage(directory).free
    if judge.size > free:
        raise OperationError(f"{judge.size} bytes needed to unpack it, {free} free")
    return judge


@contextmanager
def _members(archive: Path, budget: int, deadline: float) -> Iterator[Iterator[Opened]]:
    """Give the members of `archive` in stored order; `budget` bounds the bytes unpacked.

    Raises OperationError for anything that is no whole, sound archive of a known format,
    and after `deadline` (of `time.monotonic`).
    """
    try:
        with archive.open("rb") as file:
            start = file.read(BLOCK)
            file.seek(0)
            if start.startswith(b"PK"):
                yield _until(deadline, zip_members(file))
            else:
                yield tar_members(Stream(_until(deadline, unpacked(file, start)), budget))
    except _BROKEN as failure:
        too_large = isinstance(failure, lzma.LZMAError) and "limit" in str(failure).lower()
        said = (
            "needs more than 128 MiB of memory to unpack"
            if too_large
            else "is damaged or cut short"
        )
        raise OperationError(f"it {said}") from None


def _until(deadline: float, parts: Iterator[_Read]) -> Iterator[_Read]:
    """Yield what `parts` does; raises OperationError once `deadline` is over."""
    for part in parts:
        if time.monotonic() > deadline:
            raise OperationError("it takes too long to unpack")
        yield part


def _write(archive: Path, target: Path, judge: Judge, budget: int, deadline: float) -> None:
    """Write the members; links come last, so nothing is ever written through one."""
    links: list[tuple[str, str]] = []
    made = {""}
    with _members(archive, budget, deadline) as members:
        for known, (member, content) in zip(judge.members, members, strict=True):
            if member != known:
                raise OperationError("it changed while it was read")
            place = judge.place(member.name)
            directory = place if member.kind == "directory" else os.path.dirname(place)
            _make_directories(target, directory, made)
            if member.kind == "link":
                links.append((place, member.target))
            elif member.kind == "file":
                chunks = _until(deadline, content())
                _write_file(os.path.join(target, place), chunks, executable=member.executable)
    for place, points_to in links:
        os.symlink(points_to, os.path.join(target, place))


def _make_directories(target: Path, place: str, made: set[str]) -> None:
    if place in made:
        return
    _make_directories(target, os.path.dirname(place), made)
    path = os.path.join(target, place)
    os.mkdir(path)
    os.chmod(path, 0o755)  # noqa: S103  # whatever the umask
    made.add(place)


def _write_file(path: str, chunks: Iterator[bytes | memoryview], *, executable: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(path, flags, 0o600), "wb") as file:
            file.writelines(chunks)
            os.fchmod(file.fileno(), 0o755 if executable else 0o644)
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, path) from None
