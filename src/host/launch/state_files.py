"""The files that the program keeps for itself, for each installation: names and directories."""

import posix

from host.files.paths import basename, dirname
from host.text import encode, value_hash

_LONGEST_NAME = 200  # bytes; file systems allow 255


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
