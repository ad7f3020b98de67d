"""The files of a checkout brought forward to a newer commit of its branch, or left as they are."""

from __future__ import annotations

import os
from contextlib import suppress

from builtin_plugins.files.atomic import discard
from builtin_plugins.git.call import Git
from host import OperationError


class FastForward:
    """The way of the checkout that `git` works in from commit `old` to its descendant `new`."""

    def __init__(self, git: Git, old: str, new: str) -> None:
        self._git = git
        self._compared = (old, new)

    def check(self) -> None:
        """Raise OperationError when it is no way forward, or a file of the user's is in it."""
        git, (old, new) = self._git, self._compared
        if git("merge-base", old, new).decode().strip() != old:
            raise OperationError(
                f"{git.directory}: has commits of its own, so it cannot be fast-forwarded",
                "run: git pull --rebase, then install.sh",
            )
        changed = self._names(old, new)
        for name in self._names(old):
            if name in changed:
                raise OperationError(
                    f"{git.directory}/{name}: has changes of yours",
                    f"commit them, or undo them with: git checkout -- {name}",
                )
        with suppress(OperationError):  # it fails for what differs, too
            git("update-index", "-q", "--refresh")
        git("read-tree", "-n", "-m", "-u", old, new)  # files that git does not know

    def go(self) -> None:
        """Merge, after `check`; raises OperationError, and the files are as they were then."""
        try:
            self._git("merge", "--ff-only", "--quiet", self._compared[1])
        except OperationError:
            self._put_back()
            raise

    def _put_back(self) -> None:
        """Undo what a merge did that failed on its way: git leaves it there."""
        git, (old, new) = self._git, self._compared
        for name in self._names("--diff-filter=A", old, new):
            discard(os.path.join(git.directory, name))
        names = os.path.join(git.directory, ".git", "cli-names")
        former = ("--diff-filter=a", f"--output={names}", old, new)
        git("diff", "--name-only", "--no-renames", "-z", *former)
        there = (f"--pathspec-from-file={names}", "--pathspec-file-nul")
        git("--literal-pathspecs", "checkout", "--quiet", *there, old)
        discard(names)

    def _names(self, *compared: str) -> set[str]:
        """Return the files that differ between two commits, or between one and what is on disk."""
        listed = self._git("diff", "--name-only", "--no-renames", "-z", *compared)
        return {os.fsdecode(name) for name in listed.split(b"\0") if name}
