"""Cache files (the lock and the index beside it), replaced atomically."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

from host.run.lock import FORMAT, Lock, checksum, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CLOCK_GRAIN = 0.02  # seconds; the kernel's clock for file times ticks every 4 to 10 ms


def write_lock(places: Iterable[str], key: str, lock: Lock) -> None:
    """Write `lock` atomically to the first writable one of `places`.

    Nothing is written if a stamp of the lock is outdated.
    """
    content = _content_of(lock, key)
    if not _settled(lock.stamps):
        return
    for place in places:
        if replace(place, content):
            return


def _content_of(lock: Lock, key: str) -> bytes:
    """Return the bytes of the lock file for `lock` and `key`."""
    values = {
        "key": key,
        "stamps": lock.stamps,
        "trees": [one.row() for one in lock.trees],
        "commands": [[one.words, one.plugin, one.ours, one.runs] for one in lock.commands],
        "sources": [one.row() for one in lock.sources],
        "schemes": [[*one] for one in lock.schemes],
        "plugins": [one.row() for one in lock.plugins.values()],
        "disabled": lock.disabled,
    }
    whole = json.dumps(values, separators=(",", ":")).encode()
    body = b"\n".join([whole, *(one.json for one in lock.commands)])
    return FORMAT + checksum(body) + b"\n" + body


def _settled(stamps: Mapping[str, str]) -> bool:
    """Wait until every change is visible in the stamps; return whether all are still valid."""
    time.sleep(_CLOCK_GRAIN)
    return all(stamp(path) == then for path, then in stamps.items())


def replace(place: str, content: bytes, mode: int = 0o644) -> bool:
    """Write `content` to `place` by rename, so readers see either the old or the new file.

    Returns False if that fails. If two writers mix their bytes, readers notice by the checksum.
    """
    directory, name = os.path.split(place)
    beside = os.path.join(directory, f".{name}.new")  # a fixed name, so leftovers are overwritten
    try:
        os.makedirs(directory, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(beside, flags, mode), "wb") as file:
            file.write(content)
        with suppress(FileNotFoundError):  # another writer has just renamed it into place
            os.rename(beside, place)
    except OSError:
        with suppress(OSError):
            os.unlink(beside)
        return False
    return True


def can_be_made(place: str) -> bool:
    """Return whether the directory of `place` is writable or can be created."""
    directory = os.path.dirname(place)
    while not os.path.lexists(directory):
        directory = os.path.dirname(directory)
    return os.access(directory, os.W_OK | os.X_OK)
