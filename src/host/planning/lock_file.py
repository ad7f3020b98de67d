"""Write the lock, the cache of what all plugins declare; `host.run.lock` reads it."""

import json
import time
from collections.abc import Iterable

from host.run.lock import FORMAT, Lock, checksum, stamp
from host.run.replace_file import replace

_CLOCK_GRAIN = 0.02  # seconds; the kernel's clock for file times ticks every 4 to 10 ms


def write_lock(paths: Iterable[str], key: str, lock: Lock) -> None:
    """Write `lock` atomically to the first writable one of `paths`.

    Nothing is written if a file on which the lock depends has changed meanwhile. Readers whose key
    differs from `key` ignore the written lock.
    """
    content = _content_of(lock, key)
    time.sleep(_CLOCK_GRAIN)  # let the file clock tick, so that every later change alters a stamp
    if any(stamp(path) != then for path, then in lock.stamps.items()):
        return
    any(replace(path, content) for path in paths)


def _content_of(lock: Lock, key: str) -> bytes:
    values = {
        "key": key,
        "stamps": lock.stamps,
        "trees": [one.row() for one in lock.trees],
        "sources": [one.row() for one in lock.sources],
        "schemes": [[*one] for one in lock.schemes],
        "after_runs": [call.row() for call in lock.after_runs],
    }
    later = {
        "commands": [[one.words, one.plugin, one.ours, one.runs] for one in lock.commands],
        "plugins": [one.row() for one in lock.plugins.values()],
        "disabled": lock.disabled,
    }
    lines = [json.dumps(one, separators=(",", ":")).encode() for one in (values, later)]
    body = b"\n".join([*lines, *(one.json for one in lock.commands)])
    return FORMAT + checksum(body) + b"\n" + body
