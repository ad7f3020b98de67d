"""The files of a commit, written without a check-out: git's own conversions have no say."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from builtin_plugins.archives.stream import Stream
from builtin_plugins.archives.tree import (
    LONGEST_TARGET,
    MOST_BYTES,
    MOST_FILES,
    Rules,
    Tree,
    unwritten,
)
from builtin_plugins.archives.tree import Entry as Member
from builtin_plugins.git.call import Git
from host.errors import OperationError
from host.run.text import printable

_DIRECTORY, _PROGRAM, _LINK, _SUBMODULE = "040000", "100755", "120000", "160000"  # modes of git
_LONGEST_ROW = 8192  # bytes; a path that is taken has far fewer
_RULES = Rules(strip=False, links=True, members=MOST_FILES, size=MOST_BYTES)


class _Row(NamedTuple):
    """An entry of a commit's tree, as `git ls-tree` lists it."""

    mode: str
    oid: str
    size: int
    name: str


def write_tree(git: Git, commit: str, target: str, called: str) -> list[str]:
    """Write the files of `commit` into the new directory `target`; return what was left out.

    Each path and link is judged before the first is written. Raises OperationError
    naming the repository, which is `called` so, and the member.
    """
    try:
        return _write_tree(git, commit, target)
    except (OperationError, OSError) as failure:
        said = unwritten(failure, target) if isinstance(failure, OSError) else failure
        raise OperationError(f"{called}: {said}") from None


def _write_tree(git: Git, commit: str, target: str) -> list[str]:
    tree = Tree(_RULES)
    files: list[_Row] = []
    links: list[_Row] = []
    skipped: list[str] = []
    for row in _listed(git, commit):
        if ".git" in (part.lower() for part in row.name.split("/")):
            raise OperationError(f"it holds {row.name!r}, a name of git's own")
        if row.mode == _SUBMODULE:
            skipped.append(f"{row.name}: a submodule; its content is not fetched")
        elif row.mode == _LINK:
            if row.size > LONGEST_TARGET:
                raise OperationError(f"its member {printable(row.name[:80])} is no link of a path")
            links.append(row)
        elif row.mode != _DIRECTORY:
            tree.add(Member(row.name, "file", row.size))
            files.append(row)
    targets = [os.fsdecode(b"".join(pieces)) for pieces in _contents(git, links)]
    for row, points_to in zip(links, targets, strict=True):
        tree.add(Member(row.name, "link", target=points_to))
    tree.seal()
    os.mkdir(target, 0o755)
    made: set[str] = {target}
    for row, pieces in zip(files, _contents(git, files), strict=True):
        place = os.path.join(target, row.name)
        _write(place, pieces, made, executable=row.mode == _PROGRAM)
    for row, points_to in zip(links, targets, strict=True):
        place = os.path.join(target, row.name)
        _make_directory(os.path.dirname(place), made)
        os.symlink(points_to, place)
    return skipped


def _listed(git: Git, commit: str) -> Iterator[_Row]:
    """Yield what a commit holds, directories too; raises OperationError when that is too much."""
    count, begun = 0, b""
    with closing(git.stream("ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit)) as said:
        for chunk in said:
            *rows, begun = (begun + chunk).split(b"\0")
            count += len(rows)
            if count > MOST_FILES:
                raise OperationError(f"more than {MOST_FILES} members")
            if len(begun) > _LONGEST_ROW:
                raise OperationError("one of its members has a name that is too long or too deep")
            for row in rows:
                facts, _, name = row.partition(b"\t")
                mode, _, oid, size = facts.decode().split()
                yield _Row(mode, oid, int(size) if size.isdecimal() else 0, os.fsdecode(name))


def _contents(git: Git, rows: Sequence[_Row]) -> Iterator[Iterator[memoryview]]:
    """Yield the content of each row, in pieces; each is to be read before the next is asked for."""
    if not rows:
        return
    asked = "".join(f"{row.oid}\n" for row in rows).encode()
    with closing(git.stream("cat-file", "--batch", "--buffer", stdin=asked)) as said:
        stream = Stream(said, sys.maxsize)  # the sizes have been judged
        for row in rows:
            head = f"{row.oid} blob {row.size}\n".encode()
            found = stream.read(len(head))
            if found != head:
                raise OperationError(f"git gave {printable(found.decode())} for {row.oid}")
            yield stream.content(row.size)
            stream.read(1)  # the newline that follows


def _write(path: str, pieces: Iterable[memoryview], made: set[str], *, executable: bool) -> None:
    _make_directory(os.path.dirname(path), made)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o755 if executable else 0o644)
    with open(descriptor, "wb") as file:
        file.writelines(pieces)
        os.fchmod(file.fileno(), 0o755 if executable else 0o644)


def _make_directory(path: str, made: set[str]) -> None:
    if path not in made:
        _make_directory(os.path.dirname(path), made)
        os.mkdir(path, 0o755)
        made.add(path)
