"""Heartbeats for all running hosts, from a thread, so that blocked output does not stop them."""

from __future__ import annotations

import os
import threading

SECONDS = 20.0  # a host without a heartbeat for 120 s considers the controller lost


class Lifelines:
    """The file descriptors to which a newline is written every `SECONDS` seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._descriptors: set[int] = set()
        # A daemon thread does not keep this process from ending.
        thread = threading.Thread(target=self._beat, daemon=True)
        thread.start()

    def add(self, descriptor: int) -> None:
        with self._lock:
            self._descriptors.add(descriptor)

    def remove(self, descriptor: int) -> None:
        """Forget a descriptor; call before closing it, because its number may be reused."""
        with self._lock:
            self._descriptors.discard(descriptor)

    def close(self) -> None:
        self._ends.set()

    def _beat(self) -> None:
        while not self._ends.wait(SECONDS):
            with self._lock:
                self._write_to_all()

    def _write_to_all(self) -> None:
        for descriptor in self._descriptors:
            try:
                os.write(descriptor, b"\n")
            except OSError:
                pass  # the pipe is closed or full; `Connection` detects a lost host
