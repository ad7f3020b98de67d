"""A real HTTP server on loopback whose answers can lie, break off, stall or drip."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Handler"], None]


@dataclass
class Site:
    """A running server: its base address, what it answers by path, and what it was asked."""

    address: str = ""
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def add(self, path: str, answer: Answer | bytes) -> str:
        """Answer `path` so (bytes: as a well-behaved server would); return its address."""
        self.answers[path] = serve(answer) if isinstance(answer, bytes) else answer
        return self.address + path

    def asked(self, path: str) -> int:
        return sum(1 for asked, _ in self.requests if asked == path)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.site.requests.append((path, dict(self.headers)))
        self.close_connection = True
        try:
            self.site.answers.get(path, status(404))(self)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def do_HEAD(self) -> None:
        """Refuse, as some package indexes do."""
        self.close_connection = True
        self.head(405, content_length=0)

    def head(self, code: int, **headers: object) -> None:
        """Send a head; `content_length=3` becomes `Content-Length: 3`."""
        self.send_response_only(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-").title(), str(value))
        self.send_header("Connection", "close")
        self.end_headers()

    def reset(self) -> None:
        """Close the connection so that the other side sees a reset."""
        self.wfile.flush()
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()

    def log_message(self, *arguments: Any) -> None:
        pass


def serve(content: bytes, etag: str | None = '"v1"') -> Answer:
    """Answer like a good server: length, ETag, ranges."""

    def answer(handler: Handler) -> None:
        headers = {"etag": etag} if etag else {}
        wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        if wanted and handler.headers.get("If-Range") == etag:
            start = int(wanted[1])
            last = len(content) - 1
            handler.head(
                206,
                content_range=f"bytes {start}-{last}/{len(content)}",
                content_length=len(content) - start,
                **headers,
            )
            handler.wfile.write(content[start:])
        else:
            handler.head(200, content_length=len(content), **headers)
            handler.wfile.write(content)

    return answer


def in_turn(*answers: Answer) -> Answer:
    """Answer the first request with the first of `answers`, and so on."""
    left = iter(answers)

    def answer(handler: Handler) -> None:
        next(left)(handler)

    return answer


def status(code: int, body: bytes = b"") -> Answer:
    def answer(handler: Handler) -> None:
        if code == 204:
            handler.head(code)
        else:
            handler.head(code, content_length=len(body))
            handler.wfile.write(body)

    return answer


def redirect(target: str, code: int = 302) -> Answer:
    return lambda handler: handler.head(code, location=target, content_length=0)


def body(content: bytes, code: int = 200, **headers: object) -> Answer:
    """Send exactly these headers and bytes, then close."""

    def answer(handler: Handler) -> None:
        handler.head(code, **headers)
        handler.wfile.write(content)

    return answer


def cut(content: bytes, at: int, times: int = 99, etag: str | None = '"v1"') -> Answer:
    """Break off after `at` bytes of what was asked, the first `times` times."""
    good = serve(content, etag)
    left = [times]

    def answer(handler: Handler) -> None:
        if not left[0]:
            return good(handler)
        left[0] -= 1
        inner = handler.wfile

        class Short:
            sent = 0
            in_body = False

            def write(self, data: bytes) -> int:
                if not self.in_body:
                    self.in_body = data.endswith(b"\r\n\r\n")
                    return inner.write(data)
                return inner.write(data[:at])

            def flush(self) -> None:
                inner.flush()

        handler.wfile = Short()  # type: ignore[assignment]
        try:
            good(handler)
        finally:
            handler.wfile = inner
        return None

    return answer


def stall(content: bytes, at: int) -> Answer:
    """Send `at` bytes and then nothing, with the connection open."""

    def answer(handler: Handler) -> None:
        handler.head(200, content_length=len(content), content_type="text/html")
        handler.wfile.write(content[:at])
        handler.wfile.flush()
        time.sleep(30)

    return answer


def drip(content: bytes, seconds: float = 0.1) -> Answer:
    """Send a byte at a time."""

    def answer(handler: Handler) -> None:
        handler.head(200, content_length=len(content))
        for byte in content:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(seconds)

    return answer


def drip_head(handler: Handler) -> None:
    """Send the head of an answer a byte at a time."""
    for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Padding: " + b"x" * 1000:
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()
        time.sleep(0.1)


def reset_after(content: bytes, at: int) -> Answer:
    def answer(handler: Handler) -> None:
        handler.head(200, content_length=len(content), content_type="text/html")
        handler.wfile.write(content[:at])
        handler.reset()

    return answer


def chunked(*chunks: bytes, end: bool = True) -> Answer:
    def answer(handler: Handler) -> None:
        handler.head(200, transfer_encoding="chunked")
        for chunk in chunks:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if end:
            handler.wfile.write(b"0\r\n\r\n")

    return answer


@contextmanager
def running() -> Iterator[Site]:
    """Serve until the block ends."""
    site = Site()
    handler = type("BoundHandler", (Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
