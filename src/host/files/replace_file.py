"""Replace the small files that the program keeps: caches and the list of trusted projects."""

import os
from contextlib import suppress


def replace(path: str, content: bytes, mode: int = 0o644) -> bool:
    """Write `content` to `path` by rename, so that readers see either the old or the new file.

    Returns False if writing fails. If two processes write at the same time, the new file may mix
    the bytes of both. Only a checksum in the content can detect this.
    """
    directory, name = os.path.split(path)
    # A fixed name, so that a leftover file is overwritten.
    beside = os.path.join(directory, f".{name}.new")

    # Nobody else's link is followed, and a pipe in place of the file does not block.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        os.makedirs(directory, exist_ok=True)
        with open(os.open(beside, flags, mode), "wb") as file:
            file.write(content)
        with suppress(FileNotFoundError):  # another writer has just renamed the file
            os.rename(beside, path)
    except OSError:
        with suppress(OSError):
            os.unlink(beside)
        return False

    return True
