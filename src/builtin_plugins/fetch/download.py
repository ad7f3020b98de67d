"""Fetch one file over HTTP: whole and within bounds, or nothing at all."""

import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from builtin_plugins.fetch.addresses import fetchable
from builtin_plugins.fetch.progress import Progress
from builtin_plugins.fetch.transfer import Limits, Transfer

__all__ = ["Fetched", "Limits", "fetch"]

_GLANCE = 0.1  # seconds between two looks at a running transfer
_USUAL = Limits()


@dataclass(frozen=True)
class Fetched:
    """What came: its size in bytes, its SHA-256 (hex; None unless asked for)."""

    size: int
    sha256: str | None


def fetch(
    address: str,
    target: Path,
    *,
    limits: Limits = _USUAL,
    sha256: str | None = None,
    digest: bool = False,
    progress: Progress | None = None,
) -> Fetched:
    """Fetch `address` into the new or emptied file `target`.

    `sha256` is the expected checksum in hex; `digest` asks for one without expecting
    it. `progress` is called about ten times a second, in the caller's thread. Proxies,
    CA bundles and .netrc count as `requests` documents. Raises OperationError; `target`
    is gone then.

    A thread does the work, because only an outside clock can end a transfer that
    drips, hangs in DNS or sends its headers a byte at a time.
    """
    trusted = sha256 is not None
    transfer = Transfer(fetchable(address), target, limits, digest or trusted, trusted)
    worker = Thread(target=transfer.run, daemon=True)
    whole = False
    try:
        worker.start()
        _watch(worker, transfer, limits.seconds, progress)
        if transfer.failure is not None:
            raise transfer.failure
        fetched = Fetched(transfer.received, transfer.hexdigest())
        if sha256 is not None and fetched.sha256 != sha256.strip().lower():
            raise transfer.error(f"the SHA-256 is {fetched.sha256}, expected {sha256}")
        whole = True
        return fetched
    finally:
        transfer.cancelled.set()
        if not whole:
            target.unlink(missing_ok=True)


def _watch(worker: Thread, transfer: Transfer, seconds: float, progress: Progress | None) -> None:
    """Wait for the end of the transfer; raises OperationError at the deadline."""
    deadline = time.monotonic() + seconds
    running = True
    while running:
        worker.join(_GLANCE)
        running = worker.is_alive()
        if progress is not None:  # at least once, also for the quickest
            trouble, transfer.trouble = transfer.trouble, ""
            progress(transfer.received, transfer.total, trouble)
        if running and time.monotonic() > deadline:
            raise transfer.error(f"not finished within {seconds:g} seconds")
