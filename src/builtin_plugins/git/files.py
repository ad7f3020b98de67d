"""The files of a commit, as git archives them: its attributes and conversions have no say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from builtin_plugins.archives.extract import extract
from builtin_plugins.archives.judge import (
    LONGEST_TARGET,
    MOST_BYTES,
    MOST_FILES,
    Judge,
    Member,
    Rules,
)
from builtin_plugins.git.call import Git
from host import OperationError

_LINK, _SUBMODULE = "120000", "160000"  # modes of git
_RULES = Rules(strip=False, members=MOST_FILES, size=MOST_BYTES)
_ATTRIBUTES = "* -export-ignore -export-subst -filter -text -ident -working-tree-encoding\n"


def write_tree(git: Git, commit: str, target: str, called: str) -> list[str]:
    """Write the files of `commit` into the new directory `target`; return its submodules.

    `git` works in a bare repository of ours, whose attributes are set here. Names, sizes
    and links are judged before the first file is written. Raises OperationError
    naming the repository, which is `called` so, and the member.
    """
    packed = Path(git.directory, "files.tar")
    Path(git.directory, "info").mkdir(exist_ok=True)
    Path(git.directory, "info", "attributes").write_text(_ATTRIBUTES, encoding="utf-8")
    try:
        submodules = _judged(git, commit)
        git("archive", "--format=tar", f"--output={packed}", commit)
    except OperationError as failure:
        raise OperationError(f"{called}: {failure}") from None
    extract(packed, Path(target), _RULES, called=called)
    packed.unlink()
    for name in submodules:
        os.rmdir(os.path.join(target, name))
    return submodules


def _judged(git: Git, commit: str) -> list[str]:
    """Return the submodules of a commit; raises OperationError for what git shall not pack."""
    judge = Judge(_RULES)
    submodules = []
    for mode, size, name in _listed(git, commit):
        if ".git" in name.lower().split("/"):
            raise OperationError(f"it holds {name!r}, a name of git's own")
        if mode == _LINK and size > LONGEST_TARGET:
            raise OperationError(f"its member {name[:80]} is no link of a path")
        if mode == _SUBMODULE:
            submodules.append(name)
        judge.add(Member(name, "file" if mode.startswith("1") else "directory", size))
    return submodules


def _listed(git: Git, commit: str) -> Iterator[tuple[str, int, str]]:
    """Yield mode, size and name of all that a commit holds, directories too."""
    for row in git("ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit).split(b"\0")[:-1]:
        facts, _, name = row.partition(b"\t")
        mode, _, _, size = facts.decode().split()
        yield mode, int(size) if size.isdecimal() else 0, os.fsdecode(name)
