"""What happens in a directory, as the kernel tells it: nobody has to look all the time."""

from __future__ import annotations

import ctypes
import os
import select
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

WRITTEN, MOVED_HERE = 0x2, 0x80  # inotify(7): IN_MODIFY, IN_MOVED_TO
_LOST = 0x4000  # IN_Q_OVERFLOW
_HEAD = struct.Struct("iIII")


def changes(directory: Path, name: str, stop: Event) -> Iterator[int]:
    """Yield WRITTEN or MOVED_HERE for each such change of the file `name`, until `stop` is set.

    Where there is no inotify, MOVED_HERE every few milliseconds.
    """
    if sys.platform != "linux":
        while not stop.wait(0.005):
            yield MOVED_HERE
        return
    library = ctypes.CDLL(None, use_errno=True)
    watch = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if (
            library.inotify_add_watch(
                watch, os.fsencode(directory), WRITTEN | MOVED_HERE
            )
            < 0
        ):
            raise OSError(ctypes.get_errno(), f"cannot watch {directory}")
        last = False
        while not last:
            last = stop.is_set()  # what came before it is still told
            if select.select([watch], [], [], 0 if last else 0.1)[0]:
                yield from _kinds(os.read(watch, 1 << 16), os.fsencode(name))
    finally:
        os.close(watch)


def _kinds(events: bytes, name: bytes) -> Iterator[int]:
    at = 0
    while at < len(events):
        _, kind, _, length = _HEAD.unpack_from(events, at)
        assert not kind & _LOST
        at += _HEAD.size
        if events[at : at + length].rstrip(b"\0") == name:
            yield kind
        at += length
