"""stdin and stdout for the SDK's transport, without threads and with limited memory.

Output is buffered in memory up to a limit; beyond it, no input is read. So a client that only
writes is blocked and cannot fill the memory.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio

LONGEST_MESSAGE = 4 << 20  # bytes
_MOST_WAITING = 16 << 20  # bytes of answers
_PIECE = 1 << 16
# seconds to answer the last quick requests; running commands are then ended
_FAREWELL = 0.1
_INVALID = -32602  # the code of JSON-RPC for invalid parameters
_SURE = 4096  # bytes that a writable pipe accepts without blocking


class Wire:
    """The connection to the client: yields lines, writes text, and sets `gone` when it is closed.

    Creating it redirects the process's stdin from /dev/null and its stdout to stderr, so that
    nothing else can print into the protocol.
    """

    def __init__(self, complain: Callable[[str], None]) -> None:
        self.gone = anyio.Event()
        self._complain = complain
        self._waiting = bytearray()
        self._some = anyio.Event()
        self._room = anyio.Event()
        self._incoming = _own(0)
        self._outgoing = _own(1)

        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        os.dup2(2, 1)

    async def __aiter__(self) -> AsyncIterator[str]:
        rest = b""
        dropping = False
        while True:
            await self._has_room()
            await _ready(anyio.wait_readable, self._incoming)
            piece = os.read(self._incoming, _PIECE)
            if not piece:
                await anyio.sleep(_FAREWELL)
                return

            received = rest + piece
            *lines, rest = received.split(b"\n")
            for line in lines:
                if dropping:
                    dropping = False
                elif line.strip():
                    text = line.decode("utf-8", "replace")
                    refusal = _refusal_of(text)
                    if refusal:
                        await self.write(refusal)
                    else:
                        yield text

            # What follows belongs to the same message, up to its line end.
            if len(rest) > LONGEST_MESSAGE:
                if not dropping:
                    what = f"a message of more than {LONGEST_MESSAGE} bytes"
                    self._complain(f"{what} was dropped")
                rest = b""
                dropping = True

    async def write(self, text: str) -> None:
        """Buffer an answer; wait while the buffer is full."""
        await self._has_room()
        if not self.gone.is_set():
            self._waiting += text.encode()
            self._some.set()

    async def flush(self) -> None:
        """Do nothing: `drain` writes continuously."""

    async def drain(self) -> None:
        """Write buffered output as it arrives, until the client closes the connection."""
        while not self.gone.is_set():
            await self._some.wait()
            try:
                await _ready(anyio.wait_writable, self._outgoing)
                written = os.write(self._outgoing, self._waiting[:_SURE])
                del self._waiting[:written]
            except OSError:
                self._waiting.clear()
                self.gone.set()

            if not self._waiting:
                self._some = anyio.Event()
            # An event of anyio cannot be reset: each step has a new one.
            self._room.set()
            self._room = anyio.Event()

    async def empty(self) -> None:
        """Wait until the output buffer is empty."""
        while self._waiting:
            await self._room.wait()

    async def _has_room(self) -> None:
        while len(self._waiting) > _MOST_WAITING:
            await self._room.wait()


def _refusal_of(line: str) -> str:
    r"""Return the error for a request that has half of a surrogate pair, or "" for other messages.

    JSON allows `"\ud800"`, but it is no character, and the SDK would not answer.
    """
    if "\\ud" not in line.lower():
        return ""
    try:
        message = json.loads(line)
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        if isinstance(message, dict) and "id" in message:
            error = {"code": _INVALID, "message": "a text has half of a surrogate pair"}
            answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            return json.dumps(answer) + "\n"
    except (ValueError, RecursionError):
        pass  # the SDK ignores what is no message
    return ""


def _own(descriptor: int) -> int:
    # Above the standard descriptors, which are redirected.
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


async def _ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    try:
        await wait(descriptor)
    except PermissionError:
        pass  # epoll refuses a regular file, which is always ready
