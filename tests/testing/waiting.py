"""Wait for a condition, because no test knows how long a busy machine takes."""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST = 120.0  # seconds; whoever waits longer hangs


def wait_until(holds: Callable[[], object], seconds: float = LONGEST) -> None:
    """Return as soon as `holds()` is true; raise AssertionError if that takes too long."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds:g} seconds"
        time.sleep(0.02)
