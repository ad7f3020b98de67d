"""Cache files (the lock and the index beside it), written whole or not at all."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

from host.run.lock import FORMAT, Lock, checksum, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CLOCK_GRAIN = 0.02  # seconds; the kernel's clock for files moves every 4 to 10 ms


def write_lock(places: Iterable[str], key: str, lock: Lock) -> None:
    """Write `lock` to the first of `places` that can be written, whole or not at all.

    Nothing is written if a stamp of the lock no longer holds.
    """
    content = _content_of(lock, key)
    if not _settled(lock.stamps):
        return
    for place in places:
        if replace(place, content):
            return


def _content_of(lock: Lock, key: str) -> bytes:
    """Return the bytes of a lock made for `key`."""
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
    """Wait until a change must show in a stamp, and return whether all stamps still hold."""
    time.sleep(_CLOCK_GRAIN)
    return all(stamp(path) == then for path, then in stamps.items())


def replace(place: str, content: bytes, mode: int = 0o644) -> bool:
    """Put `content` at `place` by rename, so that a reader sees the old or the new.

    A checksum rejects what two writers at once may leave there.
    """
    directory, name = os.path.split(place)
    beside = os.path.join(directory, f".{name}.new")  # one name: the next writer takes it over
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
    """Return whether the directory of `place` can be written, or made."""
    directory = os.path.dirname(place)
    while not os.path.lexists(directory):
        directory = os.path.dirname(directory)
    return os.access(directory, os.W_OK | os.X_OK)
