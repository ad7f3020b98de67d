"""Unpack an untrusted archive: every member is judged before the first byte is written."""

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from builtin_plugins.archives.judge import Judge, Member, Rules
from builtin_plugins.archives.members import read_members
from builtin_plugins.archives.stream import check_time
from host import OperationError

_RATIO = 250  # no honest archive unpacks to more times its size
_SMALL = 64 << 20  # below this the ratio says nothing
_USUAL = Rules()
_USUAL_SECONDS = 600.0


@dataclass(frozen=True)
class Extracted:
    """What was written: bytes on disk, and how many setuid, setgid or sticky bits were left out."""

    size: int
    privileged: int


def extract(
    archive: Path,
    target: Path,
    rules: Rules = _USUAL,
    called: str = "",
    seconds: float = _USUAL_SECONDS,
) -> Extracted:
    """Unpack `archive` into the new directory `target`; errors call it `called`, else its name.

    Files get mode 0755 or 0644 by their execute bits, directories 0755, whatever the
    umask; owners and times are not kept. Raises OperationError naming archive
    and member. On failure `target` may hold a part; the caller removes it.

    The archive is read twice: once to judge it whole, once to write. `seconds` bounds both.
    """
    deadline = time.monotonic() + seconds
    try:
        packed = archive.stat().st_size
        budget = min(rules.size, max(_SMALL, _RATIO * packed))
        judge = _judge(archive, budget, rules, deadline)
        _check_room(judge.size, target.parent)
        target.mkdir(mode=0o755)
        target.chmod(0o755)
        _write(archive, target, judge, budget, deadline)
    except OSError as failure:
        path = os.path.relpath(os.fsdecode(failure.filename or target), target)
        where = f"{path}: " if path.partition("/")[0] not in (".", "..") else ""
        raise OperationError(f"{called or archive.name}: {where}{failure.strerror}") from None
    except OperationError as failure:
        raise OperationError(f"{called or archive.name}: {failure}") from None
    return Extracted(judge.size, judge.privileged)


def _check_room(size: int, directory: Path) -> None:
    free = shutil.disk_usage(directory).free
    if size > free:
        raise OperationError(f"{size} bytes needed to unpack it, {free} free")


def _judge(archive: Path, budget: int, rules: Rules, deadline: float) -> Judge:
    judge = Judge(rules)
    with read_members(archive, budget, deadline) as members:
        for member, _ in members:
            check_time(deadline)
            judge.add(member)
            if judge.size > budget:
                raise OperationError("it unpacks to far more than its size allows")
    judge.seal()
    return judge


def _write(archive: Path, target: Path, judge: Judge, budget: int, deadline: float) -> None:
    """Write the members; links come last, so nothing is ever written through one."""
    links: list[tuple[str, str]] = []
    made = {""}
    with read_members(archive, budget, deadline) as members:
        for known, (member, content) in zip(judge.members, members, strict=True):
            check_time(deadline)
            if member != known:
                raise OperationError("it changed while it was read")
            place = judge.place(member.name)
            directory = place if member.kind == "directory" else os.path.dirname(place)
            _make_directories(target, directory, made)
            if member.kind == "link":
                links.append((place, member.target))
            elif member.kind == "file":
                _write_file(os.path.join(target, place), member, content(), deadline)
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


def _write_file(
    path: str, member: Member, content: Iterator[bytes | memoryview], deadline: float
) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(path, flags, 0o600), "wb") as file:
            for chunk in content:
                check_time(deadline)
                file.write(chunk)
            os.fchmod(file.fileno(), 0o755 if member.executable else 0o644)
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, path) from None
