"""Update a git checkout: fetch, check and fast-forward, by one process at a time.

The file `MARK` in the git directory is the lock. While git changes the checkout, it also records
the change. If git or this program is killed, or if git fails, the record is used to restore the
former commit: HEAD, the index and the files. Locks that git left are removed.
"""

import os
import re
import shlex
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import NamedTuple

from builtin_plugins.library.files.atomic import discard
from builtin_plugins.library.files.file_lock import take_file_lock
from builtin_plugins.library.files.undo import os_errors_explained
from builtin_plugins.library.git import Git, has_commit
from host import OperationError

MARK = "cli-host-update"

_LOCKS = (
    "index.lock",
    "HEAD.lock",
    "ORIG_HEAD.lock",
    "packed-refs.lock",
    "shallow.lock",
    "config.lock",
)
_PATIENCE = 2.0  # seconds that a short git command of the user may hold a lock
_CLOCK = 2.1  # seconds by which a file system's times may be too early
_NO_FILE = "000000"  # the mode of a file that a commit does not contain
_SUBMODULE = "160000"
_COMMIT = re.compile(r"[0-9a-f]{40,64}\Z")


class _Change(NamedTuple):
    """A path that differs between two commits, with git's modes and blobs."""

    path: str
    old_mode: str
    new_mode: str
    old: str
    new: str


def fetch_newest(git: Git) -> tuple[str, str, str]:
    """Fetch the upstream branch of a checkout.

    Returns the remote's address, the commit of HEAD, and the newest commit, which may be HEAD. If
    the last update moved HEAD, but not the files, HEAD is restored first.
    """
    address = git("ls-remote", "--get-url").decode().strip()
    with _changing(git) as locked:
        options = ("--quiet", "--no-tags", "--no-write-fetch-head")
        locked.contact(address, "fetch", *options)
        printed = locked("rev-parse", "HEAD", "@{upstream}")
        old, new = printed.decode().split()

        former = _former_commit(locked, old)
        if former:
            _put_back(locked, former, old)
            old = former
        if has_commit(locked, new):
            new = old
    return address, old, new


def _former_commit(git: Git, head: str) -> str:
    """Return the commit before the last update if the files are still in its state, or ""."""
    options = ("--verify", "--quiet")
    try:
        printed = git("rev-parse", *options, "ORIG_HEAD^{commit}")
    except OperationError:
        return ""
    former = printed.decode().strip()
    if former == head or not has_commit(git, former):
        return ""

    updated = {change.path for change in _changes(git, former, head)}
    if not updated:
        return ""
    differing = differing_paths(git, former)
    if not updated.isdisjoint(differing):
        return ""
    return former


def check_fast_forward(
    git: Git, old: str, new: str, remedy: str = "git pull --rebase, then install.sh"
) -> None:
    """Raise OperationError if `new` does not descend from `old`, or would overwrite user files.

    `git` runs in the checkout. If the checkout has local commits, the error suggests `remedy`.
    """
    base = git("merge-base", old, new).decode().strip()
    if base != old:
        what = f"{git.directory}: has local commits, so it cannot be fast-forwarded"
        raise OperationError(what, f"run: {remedy}")

    with _changing(git) as locked:
        with suppress(OperationError):  # fails if files differ; read-tree checks them
            locked("update-index", "-q", "--refresh")
        try:
            locked("read-tree", "-n", "-m", "-u", old, new)
        except OperationError as failure:
            text = f"{git.directory}: {failure.problem.text}"
            raise OperationError(text, "commit the file or move it") from None


def fast_forward(git: Git, old: str, new: str) -> None:
    """Fast-forward the checkout from the commit `old` to `new`.

    Call `check_fast_forward` first. After an error, HEAD, the index and the files are unchanged.
    """
    with _changing(git, f"{old} {new}") as locked:
        locked("merge", "--ff-only", "--quiet", new)


def differing_paths(git: Git, commit: str = "HEAD") -> list[str]:
    """Return the tracked files that differ from a commit."""
    listed = git("diff", "--no-ext-diff", "--no-renames", "--name-only", "-z", commit)
    return os.fsdecode(listed).split("\0")[:-1]


@contextmanager
def _changing(git: Git, record: str = "-") -> Iterator[Git]:
    """Yield a `Git` that may change the checkout; other updates wait, also for its children.

    `record` is "OLD NEW" if the files change. If the block fails, and after a crash, the checkout
    is put back. Raises OperationError if another git command has locked the checkout.
    """
    # The directory of a worktree is not the one that has the references.
    listed = git("rev-parse", "--absolute-git-dir", "--git-common-dir")
    git_dir, common_dir = os.fsdecode(listed).splitlines()
    common_dir = os.path.join(git.directory, common_dir)

    path = os.path.join(git_dir, MARK)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os_errors_explained(path):
        descriptor = os.open(path, flags, 0o600)

    try:
        if not take_file_lock(descriptor, git.on_wait):
            what = f"{git.directory}: another update is in progress"
            raise OperationError(what, "try again")

        locked = replace(git, held=(descriptor,))
        with os_errors_explained(path):  # an update that was killed left a record
            _recover(locked, descriptor, git_dir, common_dir)
        _wait_for_locks(git.directory, git_dir, common_dir)

        try:
            # The record is on the disk before the first change.
            with os_errors_explained(path):
                os.pwrite(descriptor, record.encode(), 0)
                os.fsync(descriptor)
            yield locked
            with os_errors_explained(path):
                os.ftruncate(descriptor, 0)
        except BaseException as failure:
            _undo(failure, locked, descriptor, git_dir, common_dir)
            raise
    finally:
        os.close(descriptor)


def _undo(
    failure: BaseException, git: Git, descriptor: int, git_dir: str, common_dir: str
) -> None:
    """Undo an update after `failure`. Raises OperationError, which names both failures."""
    try:
        _recover(git, descriptor, git_dir, common_dir)
    except (OSError, OperationError) as second:
        undone = f"the update could not be undone ({second})"
        raise OperationError(f"{failure}; {undone}", "run it again") from None


def _recover(git: Git, descriptor: int, git_dir: str, common_dir: str) -> None:
    """Undo the update that the mark records, if any, and clear the mark."""
    content = os.pread(descriptor, 256, 0)
    record = content.decode("ascii", "replace")
    if not record:
        return

    since = os.fstat(descriptor).st_mtime - _CLOCK
    for path in _locks(git_dir, common_dir):
        with suppress(FileNotFoundError):
            _remove_lock(path, since, git.directory, git_dir)

    commits = record.split()
    if len(commits) == 2 and all(map(_COMMIT.match, commits)):
        _put_back(git, *commits)
    os.ftruncate(descriptor, 0)


def _remove_lock(path: str, since: float, directory: str, git_dir: str) -> None:
    """Remove a lock of an update that began at `since`, if no process holds it.

    Other users and earlier commands have their own locks.
    """
    state = os.lstat(path)
    if state.st_uid != os.geteuid() or state.st_mtime < since:
        return
    if _is_free(path, directory, git_dir) is True:
        os.unlink(path)


def _locks(git_dir: str, common_dir: str) -> list[str]:
    """Return git's lock files for the index and the references."""
    paths = []
    for directory in dict.fromkeys([git_dir, common_dir]):
        for name in _LOCKS:
            paths.append(os.path.join(directory, name))

    references = os.path.join(common_dir, "refs")
    for directory, _, names in os.walk(references):
        for name in names:
            if name.endswith(".lock"):
                paths.append(os.path.join(directory, name))
    return [path for path in paths if os.path.lexists(path)]


def _wait_for_locks(directory: str, git_dir: str, common_dir: str) -> None:
    """Wait a moment for other git commands. Raises OperationError, which names the lock."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        locks = _locks(git_dir, common_dir)
        if not locks:
            return

        is_free = _is_free(locks[0], directory, git_dir)
        if is_free or time.monotonic() > deadline:
            raise _locked(locks[0], is_free=is_free)
        time.sleep(0.05)


def _locked(lock: str, *, is_free: bool | None) -> OperationError:
    """Return the error for a lock of git; see `_is_free` for `is_free`."""
    removal = f"rm {shlex.quote(lock)}"
    if is_free:
        what = "a git command was killed and left this lock"
        return OperationError(f"{lock}: {what}", removal)
    if is_free is None:
        what = "a git command is running or was killed"
        return OperationError(f"{lock}: {what}", f"if none runs: {removal}")
    what = "another git command is running"
    return OperationError(f"{lock}: {what}", "try again when it has ended")


def _is_free(lock: str, directory: str, git_dir: str) -> bool | None:
    """Return whether no process holds one of git's locks, or None if that cannot be known.

    git closes a lock before it is done. So each git command whose current directory is in the
    checkout counts, too.
    """
    try:
        processes = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:  # macOS has no /proc
        return None

    lock = os.path.realpath(lock)
    places = (
        os.path.join(os.path.realpath(directory), ""),
        os.path.join(os.path.realpath(git_dir), ""),
    )
    for process in processes:
        with suppress(OSError):  # it has ended, or it belongs to somebody else
            if _is_git_in(f"/proc/{process}", places, lock):
                return False
    return True


def _is_git_in(process: str, places: tuple[str, ...], lock: str) -> bool:
    """Return whether a process is a git command below one of `places`, or has `lock` open.

    `process` is its directory in /proc. Raises OSError if the process has ended.
    """
    with open(f"{process}/comm", encoding="ascii", errors="replace") as file:
        if not file.read().startswith("git"):
            return False

    current = os.readlink(f"{process}/cwd")
    if os.path.join(current, "").startswith(places):
        return True
    for number in os.listdir(f"{process}/fd"):
        if os.readlink(f"{process}/fd/{number}") == lock:
            return True
    return False


def _put_back(git: Git, old: str, new: str) -> None:
    """Restore HEAD, the index and the files of `old` after an incomplete update to `new`.

    Files that the user has changed since then stay, and so does a HEAD at any other commit.
    """
    head = git("rev-parse", "HEAD").decode().strip()
    if head not in (old, new):
        return
    if head == new:
        git("update-ref", "-m", "update undone", "HEAD", old, new)

    changes = _changes(git, old, new)
    lines = ""
    for change in changes:
        lines += f"{change.old_mode} {change.old} 0\t{change.path}\0"
    git("update-index", "-z", "--index-info", given=os.fsencode(lines))

    added = []
    replaced = []
    for change in changes:
        if not _is_of_update(git, change):
            continue
        if change.old_mode == _NO_FILE:
            added.append(change.path)
        else:
            replaced.append(change.path)

    # New files go first: one may be in the place of a directory with former files.
    for path in added:
        _remove(git.directory, path)

    former = ""
    for path in replaced:
        # A directory of the user is in the place of the file, and stays.
        place = os.path.join(git.directory, path)
        if not os.path.isdir(place):
            former += f"{path}\0"
    options = ("--force", "-u", "-z", "--stdin")
    git("checkout-index", *options, given=os.fsencode(former))


def _changes(git: Git, old: str, new: str) -> list[_Change]:
    """Return the files that differ between two commits, without submodules."""
    options = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev")
    listed = git("diff-tree", *options, old, new)

    # Each file has two fields: `:MODE MODE BLOB BLOB STATE`, and its path.
    fields = os.fsdecode(listed).split("\0")
    all_facts = fields[::2]
    paths = fields[1::2]
    changes = []
    for facts, path in zip(all_facts, paths, strict=False):
        old_mode, new_mode, old_blob, new_blob, _ = facts.lstrip(":").split()
        if _SUBMODULE in (old_mode, new_mode):
            continue
        change = _Change(path, old_mode, new_mode, old_blob, new_blob)
        changes.append(change)
    return changes


def _is_of_update(git: Git, change: _Change) -> bool:
    """Return whether the file is as one of the commits has it, missing, or only half written."""
    path = os.path.join(git.directory, change.path)
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            content = os.fsencode(os.readlink(path))
        elif stat.S_ISREG(mode):
            with open(path, "rb") as file:
                content = file.read()
        else:
            return stat.S_ISDIR(mode)
    except (FileNotFoundError, NotADirectoryError):
        return True

    if change.new_mode != _NO_FILE:
        new = git("cat-file", "blob", change.new)
        if new.startswith(content):
            return True
    if change.old_mode == _NO_FILE:
        return False
    return git("cat-file", "blob", change.old) == content


def _remove(root: str, path: str) -> None:
    """Remove a file of the checkout, and the directories that are empty without it."""
    discard(os.path.join(root, path))
    above = os.path.dirname(path)
    with suppress(OSError):
        while above:
            os.rmdir(os.path.join(root, above))
            above = os.path.dirname(above)
