"""Fast-forward a checkout to a newer commit of its branch, or leave its files unchanged."""

from __future__ import annotations

import os
from contextlib import suppress

from builtin_plugins.io.files.atomic import discard
from builtin_plugins.io.git.call import Git
from host import OperationError


def check_fast_forward(
    git: Git, old: str, new: str, remedy: str = "git pull --rebase, then install.sh"
) -> None:
    """Raise OperationError if `new` does not follow `old` or would overwrite files of the user.

    `git` runs in the checkout.
    """
    if git("merge-base", old, new).decode().strip() != old:
        raise OperationError(
            f"{git.directory}: has local commits, so it cannot be fast-forwarded",
            f"run: {remedy}",
        )
    with suppress(OperationError):  # it also fails if files differ
        git("update-index", "-q", "--refresh")
    try:
        git("read-tree", "-n", "-m", "-u", old, new)
    except OperationError as failure:
        text = f"{git.directory}: {failure.problem.text}"
        raise OperationError(text, "commit the file or move it away") from None


def fast_forward(git: Git, old: str, new: str) -> None:
    """Merge, after the check; if it raises OperationError, the files are unchanged."""
    try:
        git("merge", "--ff-only", "--quiet", new)
    except OperationError:
        _put_back(git, old, new)
        raise


def _put_back(git: Git, old: str, new: str) -> None:
    """Undo the changes of a merge that failed halfway, which git does not undo."""
    names = ("diff", "--name-only", "--no-renames", "-z")
    for name in git(*names, "--diff-filter=A", old, new).split(b"\0"):
        discard(os.path.join(git.directory, os.fsdecode(name)))
    former = git(*names, "--diff-filter=a", old, new)
    given = ("--pathspec-from-file=-", "--pathspec-file-nul")
    git("--literal-pathspecs", "checkout", "--quiet", *given, old, given=former)
