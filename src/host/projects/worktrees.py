"""The other work trees of a project's git repository, read from git's own files.

A linked work tree has a file `.git` that leads to `REPOSITORY/worktrees/NAME`; the file `gitdir`
there leads back. git is not started. A run loads this module only for a project that is not
trusted itself.
"""

import posix

from host.errors import DefinitionError
from host.files.paths import (
    basename,
    dirname,
    is_directory,
    is_file,
    join,
    read_regular,
    realpath,
)
from host.text import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from host.projects.projects import Project

_MOST_READ = 4096  # bytes of a link file
_LINK = "gitdir: "


def twin_roots(project: "Project") -> list[str]:
    """Return the project's real path in each other work tree, if its own is a linked one.

    Each pair of git's links must agree, and nobody else may be able to write those of the
    project's own work tree.
    """
    top = project.root
    while not is_file(f"{top}/.git"):
        # A directory `.git` is in the main work tree of a repository.
        if top in ("", "/") or is_directory(f"{top}/.git"):
            return []
        top = dirname(top)

    record = _record_of(top)
    if not record:
        return []
    try:
        project.check(f"{top}/.git")
        project.check(f"{record}/gitdir")
    except DefinitionError:
        return []

    inside = project.root[len(top) :]
    return [f"{other}{inside}" for other in _other_tops(top, record)]


def _other_tops(top: str, record: str) -> list[str]:
    """Return the other work trees of the repository that has `record` for the one at `top`."""
    repository = dirname(dirname(record))
    tops = []
    if basename(repository) == ".git":  # a bare repository has no main work tree
        tops.append(dirname(repository))
    records = f"{repository}/worktrees"
    for name in _names_in(records):
        other_record = join(records, name)
        other = _top_of(other_record)
        if other in ("", top):
            continue
        if _record_of(other) == other_record:  # it leads back
            tops.append(other)
    return tops


def _record_of(top: str) -> str:
    """Return the repository's folder for the linked work tree at `top`, or "".

    The result is "" unless that folder leads back to `top`.
    """
    link = _text_of(f"{top}/.git")
    if not link.startswith(_LINK):
        return ""
    record = realpath(join(top, link.removeprefix(_LINK)))
    if basename(dirname(record)) != "worktrees":  # a submodule, for example
        return ""
    if _top_of(record) != top:
        return ""
    return record


def _top_of(record: str) -> str:
    """Return the real path of the work tree that a folder of the repository leads to, or ""."""
    path = _text_of(f"{record}/gitdir")
    if basename(path) != ".git":
        return ""
    return realpath(join(record, dirname(path)))


def _names_in(directory: str) -> list[str]:
    try:
        return sorted(posix.listdir(directory))
    except OSError:
        return []


def _text_of(path: str) -> str:
    """Return the first line of a link file, or "" if it cannot be read."""
    try:
        content = read_regular(path, DefinitionError, _MOST_READ)
    except (DefinitionError, FileNotFoundError, NotADirectoryError):
        return ""
    line, _, _ = decode(content).partition("\n")
    return line
