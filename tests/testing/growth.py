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
    gc.freeze()  # what the whole test run holds is not looked through at each collection
    try:
        small, large = make(size), make(4 * size)
        allowed = ALLOWED * min(_seconds(use, small) for _ in range(3)) + 0.05
        return any(_seconds(use, large) < allowed for _ in range(3))
    finally:
        gc.unfreeze()


def _seconds(use: Callable[[Any], object], given: Any) -> float:
    """Return what a call takes of the processor, collecting garbage aside."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    use(given)
    taken = time.process_time() - start
    gc.enable()
    return taken
