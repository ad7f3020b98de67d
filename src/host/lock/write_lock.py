"""Write the lock, the cache of what all plugins declare; `host.lock.lock` reads it."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from host.files.replace_file import replace
from host.lock.lock import FORMAT, SLOWEST_CLOCK, Lock, checksum, stamp
from host.record_base import Record

_SECOND = 1_000_000_000  # in ns
_CLOCK_GRAIN = 0.02  # seconds; the kernel's clock for file times ticks every 4 to 10 ms


def write_lock(paths: Iterable[str], key: str, lock: Lock) -> None:
    """Write `lock` atomically to the first writable one of `paths`.

    Nothing is written if a file on which the lock depends has changed meanwhile, or may change
    without a new stamp. Readers whose key differs from `key` ignore the written lock.
    """
    if not is_settled(lock.stamps, time.time_ns()):
        return

    content = _content_of(lock, key)
    # Let the file clock tick, so that every later change alters a stamp.
    time.sleep(_CLOCK_GRAIN)
    for path, then in lock.stamps.items():
        if stamp(path) != then:
            return

    for path in paths:
        if replace(path, content):
            return


def is_settled(stamps: Mapping[str, str], now: int) -> bool:
    """Return whether every later change of these files changes its stamp; `now` is in ns.

    Some file systems store times in whole seconds (ext2 with small inodes, NFS) or in steps of two
    (FAT). A file there may change once more with the same times, so it must rest first. Runs query
    the plugins until then. A time in whole seconds is a matter of luck elsewhere, one in a billion.
    """
    for text in stamps.values():
        if not text:
            continue
        modified, changed, *_ = map(int, text.split())
        is_coarse = changed % _SECOND == 0
        if is_coarse and max(modified, changed) > now - SLOWEST_CLOCK:
            return False
    return True


def _content_of(lock: Lock, key: str) -> bytes:
    """Return the bytes of the lock's file; `host.lock.lock` describes its parts."""
    values = {
        "key": key,
        "stamps": lock.stamps,
        "trees": _rows(lock.trees),
        "sources": _rows(lock.sources),
        "schemes": _rows(lock.schemes),
        "before_runs": _rows(lock.before_runs),
        "after_runs": _rows(lock.after_runs),
        "first_declared": lock.first_declared,
    }

    commands: list[Sequence[Any]] = []
    for command in lock.commands:
        commands.append(
            (command.words, command.plugin, command.ours, command.runs, command.order)
        )
    later = {
        "commands": commands,
        "plugins": _rows(lock.plugins.values()),
        "disabled": lock.disabled,
        "first_words": lock.first_words,
    }

    definitions = [command.json for command in lock.commands]
    body = b"\n".join([_line(values), _line(later), *definitions])
    return FORMAT + checksum(body) + b"\n" + body


def _rows(records: Iterable[Record]) -> list[Any]:
    return [record.row() for record in records]


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode()
