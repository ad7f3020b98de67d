"""A relay between ssh and sshd that can cut connections or stop forwarding."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Relay:
    """Forwards from `port` to `target`, both on 127.0.0.1; cuts connections after `most` bytes."""

    def __init__(self, target: int, most: int = 1 << 40) -> None:
        self._target = target
        self._left = most
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._sockets: list[socket.socket] = []
        self._open = threading.Event()
        self._open.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Close all connections, as a reset would."""
        for end in self._sockets:
            with suppress(OSError):  # this end is already closed
                end.shutdown(socket.SHUT_RDWR)

    def freeze(self) -> None:
        """Stop forwarding without closing connections, like a network that fails."""
        self._open.clear()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            self._sockets += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(
                    target=self._forward, args=(source, target), daemon=True
                ).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                self._open.wait()
                target.sendall(data)
                self._left -= len(data)
                if self._left < 0:
                    self.cut()
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self) -> None:
        self._open.set()
        self._listener.close()
        for end in self._sockets:
            end.close()
