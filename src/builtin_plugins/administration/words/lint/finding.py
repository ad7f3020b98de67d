"""A finding: one thing that is wrong at one place of a file, and how it is written."""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

from host import HostError, printable
from host.run import read_regular
from host.run.json_file import DEEPEST

_LARGEST = 16 * 1024 * 1024  # bytes of a file of JSON
_TOKEN = re.compile(r'("(?:\\.|[^"\\])*")(\s*:)?|[\[\]{}]|[^\s\[\]{},:"]+')
_PLACE = re.compile(r":(\d+)(?::(\d+))?: ", re.ASCII)
_KEYS = re.compile(r'(?:"[^"]+": )*(?:(?:unknown key|the key) "[^"]+")?')
_QUOTED = re.compile(r'"([^"]+)"')
_GITHUB = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_GITHUB_PROPERTY = _GITHUB | str.maketrans({":": "%3A", ",": "%2C"})


class Finding(NamedTuple):
    """One thing that is wrong, and what to do: `line` and `column` count from 1.

    `file` is absolute, `remedy` may be "".
    """

    file: str
    line: int
    column: int
    rule: str
    message: str
    remedy: str = ""

    @property
    def hint(self) -> bool:
        """Whether it is about something that may be intended: the exit status stays 0."""
        return self.rule == "undefined"

    @property
    def text(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


class JsonFile:
    """A file of JSON that findings are about; of one that cannot be read nothing is known.

    `offsets` are those of its keys and items, as errors write them: `os`, `envs.NAME`,
    `args[1].type`; of a key that comes twice, the last. Those deeper than a definition may go
    are not kept: a path for each level takes the square.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.offsets: dict[str, int] = {}
        self._twice: dict[str, int] = {}
        try:
            text = read_regular(path, _LARGEST, HostError).decode("utf-8-sig")
        except (HostError, FileNotFoundError, UnicodeDecodeError):
            text = ""
        self._ends = [found.start() for found in re.finditer("\n", text)]
        self._find_keys(text)

    def _find_keys(self, text: str) -> None:
        above: list[tuple[str, Iterator[int] | None]] = []  # what is open; arrays have numbers
        path = ""
        for token in _TOKEN.finditer(text):
            sign, offset = token[0], token.start()
            if sign in ("]", "}"):
                del above[-1:]
                continue
            outer, numbers = above[-1] if above else ("", None)
            if numbers is not None and len(above) <= DEEPEST:
                path = f"{outer}[{next(numbers)}]"
                self.offsets[path] = offset
            elif token[2] and len(above) <= DEEPEST:
                key = _unquoted(token[1])
                path = f"{outer}.{key}" if outer else key
                if path in self.offsets:
                    self._twice[key] = offset
                self.offsets[path] = offset
            if sign in ("{", "["):
                above.append((path, count() if sign == "[" else None))

    def at(self, key: str, message: str, rule: str = "definition", remedy: str = "") -> Finding:
        """Return a finding where `key` stands, or else the nearest above it that is there."""
        while key and key not in self.offsets:
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return self._finding(self.offsets.get(key, 0), message, rule, remedy)

    def told(self, line: str, rule: str = "definition", remedy: str = "") -> Finding:
        """Return the finding that is a line of the reader's, which names a place or a key."""
        said = line.removeprefix(self.path)
        if found := _PLACE.match(said):
            place = int(found[1]), int(found[2] or 1)
            return Finding(self.path, *place, rule, said[found.end() :], remedy)
        said = said.removeprefix(": ")
        keys = _QUOTED.findall(_KEYS.findall(said)[0])
        if keys and said.endswith("stands twice in one object"):
            return self._finding(self._twice.get(keys[-1], 0), said, rule, remedy)
        return self.at(".".join(keys), said, rule, remedy)

    def _finding(self, offset: int, message: str, rule: str, remedy: str) -> Finding:
        line = bisect_left(self._ends, offset)
        column = offset - (self._ends[line - 1] if line else -1)
        return Finding(self.path, line + 1, column, rule, message, remedy)


def _unquoted(token: str) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token[1:-1]


def shown_path(file: str) -> str:
    """Return a path as people see it: relative where it is below the current directory."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        return file
    return file.removeprefix(f"{here}/") if here != "/" else file


def as_text(findings: Iterable[Finding]) -> str:
    return "".join(
        f"{printable(shown_path(one.file))}:{one.line}:{one.column}: {printable(one.text)}\n"
        for one in findings
    )


def as_json(findings: Iterable[Finding]) -> str:
    rows = [
        {
            "file": shown_path(one.file),
            "line": one.line,
            "column": one.column,
            "rule": one.rule,
            "message": one.text,
        }
        for one in findings
    ]
    return json.dumps({"findings": rows}, indent=2) + "\n"


def as_github(findings: Iterable[Finding]) -> str:
    """Return workflow commands, which GitHub shows beside the lines."""
    return "".join(
        f"::{'notice' if one.hint else 'error'} "
        f"file={printable(shown_path(one.file).translate(_GITHUB_PROPERTY))},"
        f"line={one.line},col={one.column},title=lint {one.rule}::"
        f"{printable(one.text.translate(_GITHUB))}\n"
        for one in findings
    )
