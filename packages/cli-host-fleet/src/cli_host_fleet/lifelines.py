"""Beats on the lifelines of all running hosts, from a thread: also while output is held up."""

from __future__ import annotations

import os
import threading

SECONDS = 20.0  # a host that hears nothing for 120 s takes the controller for lost


class Lifelines:
    """The file descriptors that a newline goes to now and then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._descriptors: set[int] = set()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def add(self, descriptor: int) -> None:
        with self._lock:
            self._descriptors.add(descriptor)

    def remove(self, descriptor: int) -> None:
        """Forget it; must come before it is closed, as its number is soon another's."""
        with self._lock:
            self._descriptors.discard(descriptor)

    def close(self) -> None:
        self._ends.set()

    def _beat(self) -> None:
        while not self._ends.wait(SECONDS):
            with self._lock:
                for descriptor in self._descriptors:
                    try:
                        os.write(descriptor, b"\n")
                    except OSError:
                        pass  # gone or full: the connection's end is noticed elsewhere
