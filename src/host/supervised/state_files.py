"""The files that the program keeps for itself, for each installation: names and directories."""

import posix

from host.run.files import basename, dirname
from host.run.text import value_hash


def installation_name(root: str) -> str:
    """Return a file name for the installation at `root`: its name and 8 digits of a hash."""
    return f"{basename(root) or 'root'}-{value_hash(root)}"


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
