"""Find the directories of projects around the current directory."""

import posix

from host.files.paths import dirname, is_directory, is_there, join, realpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def project_roots(program: str, home: str) -> "Iterator[str]":
    """Yield the directories that contain `.<program>/commands`, from the current one upward.

    The search ends at the root of a git work tree, the home directory or the root of the file
    system.
    """
    try:
        at = posix.getcwd()
        device = posix.stat(at).st_dev
        last = ("/", realpath(home))
        # As git does, the search stays in one file system: a mount may belong to somebody else.
        while posix.stat(at).st_dev == device:
            if is_directory(join(at, f".{program}/commands")):
                yield at
            if at in last or is_there(join(at, ".git")):
                return
            at = dirname(at)
    except OSError:
        return  # the current directory is deleted or unreadable
