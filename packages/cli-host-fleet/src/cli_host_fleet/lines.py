"""Turn the bytes of many hosts into whole lines, each prefixed with its host."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable

# bytes; an unfinished line that is longer is buffered in an unnamed file
_IN_MEMORY = 1 << 20
_CHUNK = 1 << 16
# Colours, and the \r of \r\n, stay. \xc2 begins the controls that have two bytes in UTF-8.
_CONTROL = re.compile(
    rb"(\x1b\[[0-9;:]*m|\r(?=\n))|[\x00-\x08\x0b-\x1f\x7f]|\xc2(?:[\x80-\x9f]|\Z)"
)


def without_controls(text: bytes) -> bytes:
    r"""Return `text` with control characters shown as `\x1b`, except colours, tab and newline.

    On a terminal, they could change the lines of other hosts.
    """

    def shown(match: re.Match[bytes]) -> bytes:
        if match[1]:
            return match[1]
        return "".join(f"\\x{byte:02x}" for byte in match[0]).encode()

    return _CONTROL.sub(shown, text)


class Lines:
    """One stream of one host. Calls `write` with whole lines, or pieces of a very long line."""

    def __init__(self, prefix: bytes, write: Callable[[bytes], None]) -> None:
        self._prefix = prefix
        self._write = write
        self._begun = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed by `close`
        self._length = 0

    def feed(self, data: bytes) -> None:
        """Write the lines that these bytes complete, and keep the beginning of the next line."""
        if self._length:
            end, newline, data = data.partition(b"\n")
            if not newline:
                self._keep(end)
                return
            self._finish_line(end)

        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            # All lines in one call: it is a system call for each, and other hosts wait.
            lines = whole.replace(b"\n", b"\n" + self._prefix)
            self._write(self._prefix + lines + newline)
        if rest:
            self._keep(rest)

    def close(self) -> None:
        """Write the last line if no newline ends it."""
        if self._length:
            self.feed(b"\n")
        self._begun.close()

    def _keep(self, part: bytes) -> None:
        self._begun.write(part)
        self._length += len(part)

    def _finish_line(self, end: bytes) -> None:
        """Write the line that has begun, of which `end` was missing."""
        self._write(self._prefix)
        self._begun.seek(0)
        while piece := self._begun.read(_CHUNK):
            self._write(piece)
        self._write(end + b"\n")

        # The file is used again for the next line that does not come whole.
        self._begun.seek(0)
        self._begun.truncate()
        self._length = 0
