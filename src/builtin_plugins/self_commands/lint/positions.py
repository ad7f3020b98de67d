"""Where each key of a JSON text stands."""

from __future__ import annotations

import json
import re
from bisect import bisect_left

from host.run.json_files import DEEPEST

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[\[\]{},:]|[^\s\[\]{},:"]+')

Path = tuple[str | int, ...]


class Positions:
    """The offsets of keys and array items in a text; of a key that comes twice, the last.

    Those deeper than a definition may go are not kept: a path for each level takes the square.
    """

    def __init__(self, text: str) -> None:
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self.offsets: dict[Path, int] = {}
        self._twice: dict[str, int] = {}
        frames: list[list[str | int | None]] = []  # of an object its key, of an array its index
        for token in _TOKEN.finditer(text):
            sign, offset = token[0], token.start()
            if 0 < len(frames) <= DEEPEST and sign not in ("]", "}", ",", ":"):
                self._value(frames, sign, offset)
            if sign in ("{", "["):
                frames.append([None if sign == "{" else 0])
            elif sign in ("}", "]") and frames:
                frames.pop()
            elif sign == "," and frames:
                last = frames[-1][0]
                frames[-1][0] = last + 1 if isinstance(last, int) else None

    def _value(self, frames: list[list[str | int | None]], sign: str, offset: int) -> None:
        """Note a key, or an item of an array."""
        last = frames[-1]
        is_key = last[0] is None and sign.startswith('"')
        if is_key:
            last[0] = _unquoted(sign)
        if not is_key and not isinstance(last[0], int):
            return
        path = tuple(frame[0] for frame in frames if frame[0] is not None)
        if is_key and path in self.offsets:
            self._twice[str(last[0])] = offset
        self.offsets[path] = offset

    def place(self, path: Path) -> tuple[int, int]:
        """Return line and column of `path`, or of the nearest above it that is there."""
        while path and path not in self.offsets:
            path = path[:-1]
        return self._line_and_column(self.offsets.get(path, 0))

    def twice(self, key: str) -> tuple[int, int]:
        """Return line and column of where `key` comes again."""
        return self._line_and_column(self._twice.get(key, 0))

    def _line_and_column(self, offset: int) -> tuple[int, int]:
        line = bisect_left(self._ends, offset)
        return line + 1, offset - (self._ends[line - 1] if line else -1)


def _unquoted(token: str) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token[1:-1]
