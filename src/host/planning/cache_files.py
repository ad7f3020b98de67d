"""Cache files (the lock and the index beside it), written whole or not at all."""

from __future__ import annotations

import fcntl
import json
import os
import time

from host.run.lock import FORMAT, Lock, checksum, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CLOCK_GRAIN = 0.02  # seconds; the kernel's clock for files moves every 4 to 10 ms


def write_lock(places: Iterable[str], key: str, lock: Lock) -> None:
    """Write `lock` to the first of `places` that can be written, whole or not at all.

    When one of its stamps no longer holds, nothing is written. Where no place can be
    written, nothing is either.
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
        "commands": [one.row() for one in lock.commands],
        "sources": [one.row() for one in lock.sources],
        "plugins": [one.row() for one in lock.plugins.values()],
    }
    whole = json.dumps(values, separators=(",", ":")).encode()
    body = b"\n".join([whole, lock.disabled_json, *(one.json for one in lock.commands)])
    return FORMAT + checksum(body) + b"\n" + body


def _settled(stamps: Mapping[str, str]) -> bool:
    """Tell whether the stamps still hold, once a change could no longer hide behind them."""
    time.sleep(_CLOCK_GRAIN)
    return all(stamp(path) == then for path, then in stamps.items())


def replace(place: str, content: bytes, mode: int = 0o644) -> bool:
    """Put `content` at `place` by rename, so that a reader sees the old or the new.

    The file beside it has one hidden name, so that a killed writer leaves no more than
    that, and the next one takes it over; while somebody else writes, nothing is done.
    """
    directory, name = os.path.split(place)
    beside = os.path.join(directory, f".{name}.new")
    try:
        os.makedirs(directory, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(beside, flags, mode), "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.stat(beside), os.fstat(file.fileno())):
                return True  # its former writer has just put it in place
            os.fchmod(file.fileno(), os.fstat(file.fileno()).st_mode & mode)
            file.truncate()
            file.write(content)
            file.flush()
            os.rename(beside, place)
    except BlockingIOError:
        return True  # somebody writes the same
    except OSError:
        try:
            os.unlink(beside)
        except OSError:
            pass
        return False
    return True


def can_be_made(place: str) -> bool:
    """Tell whether the directory of `place` can be written, or made."""
    directory = os.path.dirname(place)
    while not os.path.lexists(directory):
        directory = os.path.dirname(directory)
    return os.access(directory, os.W_OK | os.X_OK)
