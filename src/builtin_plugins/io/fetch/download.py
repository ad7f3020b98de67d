"""Fetch one file over HTTP: whole and within bounds, or nothing at all."""

import time
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from builtin_plugins.io.fetch.addresses import fetchable
from builtin_plugins.io.fetch.progress import Progress
from builtin_plugins.io.fetch.transfer import Limits, Transfer

_GLANCE = 0.1  # seconds between two looks at a running transfer
_USUAL = Limits()


class Fetched(NamedTuple):
    """What came: its size in bytes, its SHA-256 in hex."""

    size: int
    sha256: str


def download(
    address: str,
    target: Path,
    *,
    limits: Limits = _USUAL,
    sha256: str = "",
    progress: Progress | None = None,
) -> Fetched:
    """Fetch `address` into the new or emptied file `target`.

    `sha256` is the expected checksum in hex, "" for any. `progress` is called about ten
    times a second, in the caller's thread. Proxies, CA bundles and .netrc count as
    `requests` documents. Raises OperationError; `target` is gone then.

    A thread does the work, because only an outside clock can end a transfer that
    drips, hangs in DNS or sends its headers a byte at a time.
    """
    transfer = Transfer(fetchable(address), target, limits, trusted=bool(sha256))
    worker = Thread(target=transfer.run, daemon=True)
    whole = False
    try:
        worker.start()
        running = True
        while running:
            worker.join(_GLANCE)
            running = worker.is_alive()
            if progress is not None:  # at least once, also for the quickest
                trouble, transfer.trouble = transfer.trouble, ""
                progress(transfer.received, transfer.total, trouble)
            if running and time.monotonic() > transfer.deadline:
                raise transfer.error(f"not finished within {limits.seconds:g} seconds")
        if transfer.failure is not None:
            raise transfer.failure
        fetched = Fetched(transfer.received, transfer.hash.hexdigest())
        if sha256 and fetched.sha256 != sha256.strip().lower():
            raise transfer.error(f"the SHA-256 is {fetched.sha256}, expected {sha256}")
        whole = True
        return fetched
    finally:
        transfer.cancelled.set()
        if not whole:
            target.unlink(missing_ok=True)
