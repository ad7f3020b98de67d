"""How the time of something grows with its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

ALLOWED = 10  # times as long for four times as much; a square would take sixteen


def grows_in_proportion(
    make: Callable[[int], Any], use: Callable[[Any], object], size: int
) -> bool:
    """Tell whether `use` of what `make(4 * size)` gives takes time in proportion to `size`."""
    small, large = (_seconds(use, make(count)) for count in (size, 4 * size))
    return large < ALLOWED * small + 0.05


def _seconds(use: Callable[[Any], object], given: Any) -> float:
    """Return what the quickest of three calls takes of the processor, collecting garbage aside."""
    times = []
    for _ in range(3):
        gc.collect()
        gc.disable()
        start = time.process_time()
        use(given)
        times.append(time.process_time() - start)
        gc.enable()
    return min(times)
