"""The files that the program keeps for itself, for each installation: names, directories, owners.

A file in the place of one of these may be anybody's, if somebody else can write to its directory,
or to the file system that two machines share.
"""

import _stat
import posix

from host.errors import HostError, Problem
from host.files.paths import basename, dirname
from host.text import encode, quoted, value_hash

_LONGEST_NAME = 200  # bytes; file systems allow 255
_OWNER_ONLY = 0o600
_OTHERS_WRITE = 0o022


def open_own(path: str) -> int:
    """Open a file of the program's own state for reading and writing; make it if it is missing.

    Neither a link nor a pipe in its place is used. Raises OSError, and HostError if the file is not
    a regular one, or if it or its directory belongs to another user or can be written by others.
    """
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC
    flags |= posix.O_NOFOLLOW | posix.O_NONBLOCK
    try:
        descriptor = posix.open(path, flags, _OWNER_ONLY)
    except FileNotFoundError:
        make_directories(dirname(path))
        descriptor = posix.open(path, flags, _OWNER_ONLY)

    problem = _distrusted(path, posix.fstat(descriptor))
    if problem is None:
        # SQLite takes whatever journal it finds beside a database.
        problem = _distrusted_directory(path)
    if problem is not None:
        posix.close(descriptor)
        raise HostError(problem)
    return descriptor


def _distrusted(path: str, facts: posix.stat_result) -> "Problem | None":
    """Return why a file is not used, or None if it is this user's own."""
    if not _stat.S_ISREG(facts.st_mode):
        return Problem(path, "is not a regular file", "move it away")
    if facts.st_uid != posix.geteuid():
        return Problem(path, f"belongs to user {facts.st_uid}", "move it away")
    if facts.st_mode & _OTHERS_WRITE:
        return Problem(
            path, "can be written by others", f"run: chmod 600 {quoted(path)}"
        )
    return None


def _distrusted_directory(path: str) -> "Problem | None":
    """Return why others can write to the directory of a file, or None if they cannot."""
    directory = dirname(path)
    facts = posix.stat(directory)
    if facts.st_uid != posix.geteuid():
        what = f"is in a directory of user {facts.st_uid}"
        return Problem(path, what, f"move {directory} away")
    if facts.st_mode & _OTHERS_WRITE:
        what = "is in a directory that others can write to"
        return Problem(path, what, f"run: chmod 700 {quoted(directory)}")
    return None


def installation_name(root: str) -> str:
    """Return a file name for the installation at `root`: its name and 8 digits of a hash."""
    name = basename(root) or "root"

    # The name of the directory may be as long as a file name can be, and the hash and a suffix
    # follow.
    content = encode(name)
    if len(content) > _LONGEST_NAME:
        name = content[:_LONGEST_NAME].decode("utf-8", "ignore")  # no half character
    return f"{name}-{value_hash(root)}"


def make_directories(path: str) -> None:
    """Make a directory of the program's own state, and those above it that are missing."""
    missing = []
    while True:
        try:
            posix.mkdir(path, 0o700)
            break
        except FileExistsError:
            break
        except FileNotFoundError:
            missing.append(path)
            path = dirname(path)

    for directory in reversed(missing):
        try:
            posix.mkdir(directory, 0o700)
        except FileExistsError:
            pass  # another run has made it
