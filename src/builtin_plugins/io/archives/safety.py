"""Pure: whether an archive may be unpacked, told from its members before any of it is written."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, NamedTuple

from host import OperationError

MOST_FILES = 20_000  # of a plugin
MOST_BYTES = 512 << 20

Kind = Literal["file", "directory", "link"]

PRIVILEGED = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
_NAME_BYTES = 255
_PATH_BYTES = 1024
LONGEST_TARGET = 1024  # bytes of where a link points
_DEPTH = 64
_LINK_HOPS = 40  # as many as the kernel follows
_STEPS = 10_000_000  # parts of paths that all links together may lead through
_BLOCK = 4096  # bytes; the least that a file or a directory takes on a disk


class Member(NamedTuple):
    """One member: its name as stored, size in bytes, and where a link points."""

    name: str
    kind: Kind
    size: int = 0
    executable: bool = False
    target: str = ""
    privileged: bool = False  # carried setuid, setgid or sticky; the bit is not taken over


@dataclass(frozen=True)
class Rules:
    """What an archive may hold, beside files, directories and links that stay inside.

    `strip`: one leading directory that holds everything is taken away, unless `stays`
    says, of all paths, that it is content. `members` (those that others imply, too) and
    `size` (bytes on disk) cap the whole.
    """

    strip: bool = True
    stays: Callable[[Collection[str]], bool] | None = None
    members: int = 100_000
    size: int = 8 << 30


class Judge:
    """Judges members as they come; `add` and `seal` raise OperationError naming the member.

    `members` are they as they came. `size` is what they take on a disk, in bytes, with
    the directories that they imply.
    """

    def __init__(self, rules: Rules) -> None:
        self.size = 0
        self.privileged = 0
        self.members: list[Member] = []
        self._rules = rules
        self._kinds: dict[str, Kind] = {}
        self._targets: dict[str, str] = {}
        self._leading = ""
        self._steps = 0

    def add(self, member: Member) -> None:
        """Take one member in; a directory may repeat, nothing else may."""
        self.members.append(member)
        self.privileged += member.privileged
        path = _clean(member.name)
        if member.kind == "directory":
            self._claim_directories(member.name, path)
        elif not path:
            raise _refusal(member.name, "has no name of its own")
        else:
            self._claim_directories(member.name, path.rpartition("/")[0])
            if path in self._kinds:
                raise _refusal(member.name, "stands twice in it")
            self._claim(path, member.kind, member.size)
        if member.kind == "link":
            self._claim_link(member, path)
        if max(len(self.members), len(self._kinds)) > self._rules.members:
            raise OperationError(f"more than {self._rules.members} members")
        if self.size > self._rules.size:
            raise OperationError(f"more than {self._rules.size} bytes unpacked")

    def seal(self) -> None:
        """Judge the whole once all members are in: links, emptiness."""
        if not self._targets and not any(kind == "file" for kind in self._kinds.values()):
            raise OperationError("it holds no files")
        self._leading = self._shared_directory() if self._rules.strip else ""
        for path in self._targets:
            self._resolve(path)

    def place(self, name: str) -> str:
        """Return where a member of a sealed archive goes, relative to the target ("" = itself)."""
        path = _clean(name)
        return path[len(self._leading) + 1 :] if self._leading else path

    def _claim_directories(self, name: str, path: str) -> None:
        """Record `path` and all above it as directories."""
        while path and self._kinds.get(path) != "directory":
            if path in self._kinds:
                raise _refusal(name, "lies under something that is no directory")
            self._claim(path, "directory")
            path = path.rpartition("/")[0]

    def _claim(self, path: str, kind: Kind, size: int = 0) -> None:
        self._kinds[path] = kind
        self.size += max(size, 1) + -max(size, 1) % _BLOCK

    def _claim_link(self, member: Member, path: str) -> None:
        if not member.target or member.target.startswith("/") or _has_controls(member.target):
            raise _refusal(member.name, "links to what is not a relative path")
        if len(os.fsencode(member.target)) > LONGEST_TARGET:
            raise _refusal(member.name, "links to a path that is too long")
        self._targets[path] = member.target

    def _shared_directory(self) -> str:
        tops = {path.partition("/")[0] for path in self._kinds}
        only = next(iter(tops)) if len(tops) == 1 else ""
        if self._kinds.get(only) != "directory":
            return ""
        stays = self._rules.stays
        return "" if stays and stays(self._kinds) else only

    def _resolve(self, path: str) -> None:
        """Follow a link as the kernel would; raise unless it ends at a member inside.

        Works on the names alone, so no length of path or chain of links can make it
        disagree with what will be on disk (the flaw of CVE-2025-4517).
        """
        floor = 1 if self._leading else 0
        at = path.split("/")[:-1]
        ahead = self._targets[path].split("/")[::-1]
        hops = 0
        while ahead:
            part = ahead.pop()
            self._steps += 1
            if self._steps > _STEPS:
                raise OperationError("its links lead along too many ways")
            if part in ("", "."):
                continue
            if part == "..":
                if len(at) <= floor:
                    raise _refusal(path, "links out of the archive")
                at.pop()
                continue
            at.append(part)
            there = "/".join(at)
            kind = self._kinds.get(there)
            if kind is None or (kind == "file" and ahead):
                raise _refusal(path, "links to nothing in the archive")
            if kind == "link":
                hops += 1
                if hops > _LINK_HOPS:
                    raise _refusal(path, "is part of a chain of links without end")
                at.pop()
                ahead += self._targets[there].split("/")[::-1]


def _clean(name: str) -> str:
    """Return `name` without empty and `.` parts; raises OperationError for an unsafe one."""
    if name.startswith("/"):
        raise _refusal(name, "has an absolute name")
    if _has_controls(name):
        raise _refusal(name, "has control characters in its name")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise _refusal(name, "leads out of the archive")
    if len(parts) > _DEPTH or any(len(os.fsencode(part)) > _NAME_BYTES for part in parts):
        raise _refusal(name, "has a name that is too long or too deep")
    path = "/".join(parts)
    if len(os.fsencode(path)) > _PATH_BYTES:
        raise _refusal(name, "has a name that is too long or too deep")
    return path


def _has_controls(text: str) -> bool:
    return any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in text)


def _refusal(name: str, reason: str) -> OperationError:
    name = name if len(name) <= 80 else name[:77] + "..."
    return OperationError(f"its member {name} {reason}")


def unwanted(name: str, what: str) -> OperationError:
    """Return the error for a member of a kind that is never taken."""
    return _refusal(name, f"is a {what}; those are not taken")
