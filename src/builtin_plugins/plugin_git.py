"""Plugins from git repositories: objects are fetched and files written; nothing is checked out.

So no hook, template, filter, attribute or submodule of the repository has any effect.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from builtin_plugins.archive_stream import Stream
from builtin_plugins.archive_tree import LONGEST_TARGET, Rules, Tree, unwritten
from builtin_plugins.archive_tree import Entry as Member
from builtin_plugins.git_call import Git
from builtin_plugins.git_login import login_of
from builtin_plugins.plugin_archive import MOST_BYTES, MOST_FILES
from builtin_plugins.plugin_kinds import Staged, Work, described
from builtin_plugins.plugin_origin import Origin
from builtin_plugins.plugin_staging import Undo, put_version, take_away
from host.errors import OperationError
from host.escape import printable
from host.registry import Entry

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}\Z")
_WANTED = "refs/cli/wanted"
_DIRECTORY, _PROGRAM, _LINK, _SUBMODULE = "040000", "100755", "120000", "160000"  # modes of git
_LONGEST_ROW = 8192  # bytes; a path that is taken has far fewer
_RULES = Rules(strip=False, links=True, members=MOST_FILES, size=MOST_BYTES)


class GitKind:
    """Follows a branch; stays where a tag or commit was asked for."""

    def fetch(self, origin: Origin, work: Work) -> Staged:
        directory = os.path.join(work.stage.path, "objects.git")
        os.mkdir(directory)
        git = _git(origin, directory, work)
        git("init", "--quiet", "--bare", "--template=")
        address = origin.source
        commit, pinned = origin.commit, bool(origin.commit)
        if not commit:
            commit, pinned = _resolve(git, address, origin.ref)
        commit = _bring(git, address, commit)
        work.stage.make_version()
        for note in write_tree(git, commit, work.stage.tree, address):
            work.reporter.warn(f"{address}: {note}")
        entry = Entry(
            name="",
            kind="git",
            source=origin.source,
            ref=origin.ref,
            commit=commit,
            pinned=pinned and bool(origin.ref),
        )
        return described(entry, work.stage.tree, origin)

    def put(self, entry: Entry, work: Work) -> Undo:
        return put_version(work.stage, entry)

    def take(self, entry: Entry, work: Work) -> Undo:
        return take_away(work.stage, entry.name)


def newest(origin: Origin, work: Work) -> str:
    """Return the commit that a branch or tag is at, without fetching it."""
    git = _git(origin, work.stage.path, work)
    return _resolve(git, origin.source, origin.ref)[0]


def _git(origin: Origin, directory: str, work: Work) -> Git:
    return Git(
        directory,
        work.environ,
        time.monotonic() + work.seconds,
        held=work.stage.descriptor,
        login=login_of(origin.address),
        say=work.reporter.detail,
    )


def _resolve(git: Git, address: str, ref: str) -> tuple[str, bool]:
    """Return the commit (or its beginning) that `ref` names there, and whether it stays so."""
    if _COMMIT.match(ref):
        return ref, True
    wanted = [f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/tags/{ref}^{{}}"] if ref else ["HEAD"]
    listed = _ask(git, address, "ls-remote", "--", address, *wanted).decode("utf-8", "replace")
    found = {
        name: commit
        for commit, _, name in (line.partition("\t") for line in listed.splitlines())
        if name in wanted and _COMMIT.match(commit)
    }
    for name in (wanted[0], *reversed(wanted[1:])):
        if name in found:
            return found[name], name != wanted[0]
    if _SHORT_COMMIT.match(ref):
        return ref, True
    what = f"there is no branch, tag or commit {ref}" if ref else "it has no commit"
    raise OperationError(f"{address}: {what}")


def _bring(git: Git, address: str, commit: str) -> str:
    """Fetch one commit, alone where the server lets us, and return its full name."""
    options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    options = ("--progress", *options[1:]) if git.say else options
    if _COMMIT.match(commit):
        try:
            wanted = f"{commit}:{_WANTED}"
            _ask(git, address, "fetch", "--depth=1", *options, "--", address, wanted)
        except OperationError as error:
            if "too long" in str(error):
                raise
        else:
            return _full_name(git, address, _WANTED)
    branches = ("+refs/heads/*:refs/cli/heads/*", "+refs/tags/*:refs/cli/tags/*")
    _ask(git, address, "fetch", *options, "--", address, *branches)
    return _full_name(git, address, commit)


def _ask(git: Git, address: str, *arguments: str) -> bytes:
    """Call git for what is at `address`; an error names it, and what ssh can be checked with."""
    try:
        return git(*arguments, stall=True)
    except OperationError as error:
        scheme, found, rest = address.partition("://")
        host = address.partition(":")[0] if not found else f"ssh://{rest.partition('/')[0]}"
        hint = f"; check key and host with: ssh -T {host}" if scheme == "ssh" or not found else ""
        raise OperationError(f"{address}: {error}{hint}") from None


def _full_name(git: Git, address: str, name: str) -> str:
    try:
        found = git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    except OperationError:
        raise OperationError(f"{address}: there is no commit {name}") from None
    return found.decode().strip()


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
