"""Plugins from git repositories: objects are fetched and files written; nothing is checked out.

So no hook, template, filter, attribute or submodule of the repository has any effect.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

from builtin_plugins.archive_tree import Entry as Member
from builtin_plugins.archive_tree import Rules, Tree
from builtin_plugins.git_call import Git
from builtin_plugins.plugin_archive import MOST_BYTES, MOST_FILES
from builtin_plugins.plugin_kinds import Staged, Work, described
from builtin_plugins.plugin_origin import Origin
from builtin_plugins.plugin_staging import Undo, put_version, take_away
from host.errors import OperationError
from host.registry import Entry

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}\Z")
_WANTED = "refs/cli/wanted"
_RULES = Rules(strip=False, links=True, members=MOST_FILES, size=MOST_BYTES)


class GitKind:
    """Follows a branch; stays where a tag or commit was asked for."""

    def fetch(self, origin: Origin, work: Work) -> Staged:
        directory = os.path.join(work.stage.path, "objects.git")
        os.mkdir(directory)
        git = _git(origin, directory, work)
        git("init", "--quiet", "--bare", "--template=")
        address = origin.source  # credentials go in by configuration, out of sight of `ps`
        commit, pinned = origin.commit, bool(origin.commit)
        if not commit:
            commit, pinned = _resolve(git, address, origin.ref)
        commit = _bring(git, address, commit)
        work.stage.make_version()
        for note in write_tree(git, commit, work.stage.tree):
            work.reporter.warn(note)
        entry = Entry(
            name="",
            kind="git",
            source=origin.source,
            ref=origin.ref,
            commit=commit,
            pinned=pinned and bool(origin.ref),
        )
        return described(entry, work.stage.tree, origin.suggested_name)

    def put(self, entry: Entry, work: Work) -> Undo:
        return put_version(work.stage, entry)

    def take(self, entry: Entry, work: Work) -> Undo:
        return take_away(work.stage, entry.name)


def newest(origin: Origin, work: Work) -> str:
    """Return the commit that a branch or tag is at, without fetching it."""
    git = _git(origin, work.stage.path, work)
    return _resolve(git, origin.source, origin.ref)[0]


def _git(origin: Origin, directory: str, work: Work) -> Git:
    address, secret = origin.address or origin.source, ""
    settings: dict[str, str] = {}
    if address != origin.source:
        settings[f"url.{address}.insteadOf"] = origin.source
        secret = urlsplit(address).netloc.rpartition("@")[0]
    return Git(
        directory,
        work.environ,
        time.monotonic() + work.seconds,
        held=work.stage.descriptor,
        secret=secret,
        settings=settings,
        say=work.reporter.detail,
    )


def _resolve(git: Git, address: str, ref: str) -> tuple[str, bool]:
    """Return the commit (or its beginning) that `ref` names there, and whether it stays so."""
    if _COMMIT.match(ref):
        return ref, True
    wanted = [f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/tags/{ref}^{{}}"] if ref else ["HEAD"]
    listed = git("ls-remote", "--", address, *wanted, stall=True).decode("utf-8", "replace")
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
            git("fetch", "--depth=1", *options, "--", address, f"{commit}:{_WANTED}", stall=True)
        except OperationError as error:
            if "too long" in str(error):
                raise
        else:
            return _full_name(git, address, _WANTED)
    branches = ("+refs/heads/*:refs/cli/heads/*", "+refs/tags/*:refs/cli/tags/*")
    git("fetch", *options, "--", address, *branches, stall=True)
    return _full_name(git, address, commit)


def _full_name(git: Git, address: str, name: str) -> str:
    try:
        found = git("rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    except OperationError:
        raise OperationError(f"{address}: there is no commit {name}") from None
    return found.decode().strip()


def write_tree(git: Git, commit: str, target: str) -> Iterator[str]:
    """Write the files of `commit` into the new directory `target`; yield what was left out.

    Each path and link is judged before the first is written. Raises OperationError.
    """
    tree = Tree(_RULES)
    files: list[tuple[str, str, bool]] = []
    links: list[tuple[str, str]] = []
    skipped: list[str] = []
    for mode, oid, size, name in _listed(git, commit):
        if ".git" in (part.lower() for part in name.split("/")):
            raise OperationError(f"it holds {name!r}, a name of git's own")
        if mode == "160000":
            skipped.append(name)
        elif mode == "120000":
            links.append((name, oid))
        else:
            tree.add(Member(name, "file", size))
            files.append((name, oid, mode == "100755"))
    targets = dict(zip(links, _contents(git, [oid for _, oid in links]), strict=True))
    for (name, _), points_to in targets.items():
        tree.add(Member(name, "link", target=os.fsdecode(points_to)))
    tree.seal()
    os.mkdir(target, 0o755)
    made: set[str] = {target}
    for (name, _, executable), content in zip(
        files, _contents(git, [oid for _, oid, _ in files]), strict=True
    ):
        _write(os.path.join(target, name), content, made, executable=executable)
    for (name, _), points_to in targets.items():
        place = os.path.join(target, name)
        _make_directory(os.path.dirname(place), made)
        os.symlink(points_to, os.fsencode(place))
    yield from (f"{name}: a submodule; its content is not fetched" for name in skipped)


def _listed(git: Git, commit: str) -> Iterator[tuple[str, str, int, str]]:
    listed = git("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    for row in listed.split(b"\0"):
        if row:
            facts, _, name = row.partition(b"\t")
            mode, _, oid, size = facts.decode().split()
            yield mode, oid, int(size) if size.isdecimal() else 0, os.fsdecode(name)


def _contents(git: Git, oids: list[str]) -> Iterator[bytes]:
    """Yield the content of each object, a few at a time so that memory stays bounded."""
    batch: list[str] = []
    for index, oid in enumerate(oids):
        batch.append(oid)
        if len(batch) < 500 and index + 1 < len(oids):
            continue
        said = memoryview(git("cat-file", "--batch", stdin="\n".join([*batch, ""]).encode()))
        for wanted in batch:
            end = bytes(said[:200]).index(b"\n")
            name, kind, size = bytes(said[:end]).split()
            if name.decode() != wanted or kind != b"blob":
                raise OperationError(f"git gave {name.decode()} for {wanted}")
            yield bytes(said[end + 1 : end + 1 + int(size)])
            said = said[end + 2 + int(size) :]
        batch = []


def _write(path: str, content: bytes, made: set[str], *, executable: bool) -> None:
    _make_directory(os.path.dirname(path), made)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o755 if executable else 0o644)
    with open(descriptor, "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), 0o755 if executable else 0o644)


def _make_directory(path: str, made: set[str]) -> None:
    if path not in made:
        _make_directory(os.path.dirname(path), made)
        os.mkdir(path, 0o755)
        made.add(path)
