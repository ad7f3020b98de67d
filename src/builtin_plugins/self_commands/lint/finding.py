"""A finding: one thing that is wrong at one place of a file, and how it is written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from typing import NamedTuple

from builtin_plugins.self_commands.lint.positions import Positions
from host import printable

_LINE = re.compile(r":(\d+)(?::(\d+))?: ", re.ASCII)
_KEY = re.compile(r'"([^"]+)": ')
_NAMED = re.compile(r'(?:unknown key|the key) "([^"]+)"')
_GITHUB = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_GITHUB_PROPERTY = {**_GITHUB, ":": "%3A", ",": "%2C"}


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
    def text(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


def of_error(
    file: str, positions: Positions, text: str, rule: str = "definition", remedy: str = ""
) -> Finding:
    """Return the finding that the reader's line `text` about `file` is.

    The line names `file`, then a line and column, or the key.
    """
    said = text.removeprefix(file)
    if found := _LINE.match(said):
        line, column = int(found[1]), int(found[2] or 1)
        return Finding(file, line, column, rule, said[found.end() :], remedy)
    said = said.removeprefix(": ")
    path: list[str | int] = []
    end = 0
    while found := _KEY.match(said, end):
        end = found.end()
        path += _parts(found[1])
    named = _NAMED.match(said, end)
    if named and "stands twice in one object" in said:
        return Finding(file, *positions.twice(named[1]), rule, said, remedy)
    if named:
        path.append(named[1])
    return Finding(file, *positions.place(tuple(path)), rule, said, remedy)


def _parts(key: str) -> Iterable[str | int]:
    """Return the steps of a key as errors write it: `args[0]`, `envs.NAME`."""
    name, _, rest = key.partition(".")
    word, bracket, index = name.partition("[")
    yield word
    if bracket:
        yield int(index.rstrip("]"))
    if rest:
        yield rest


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
        f"::error file={_escaped(shown_path(one.file), _GITHUB_PROPERTY)},line={one.line},"
        f"col={one.column},title=lint {one.rule}::{_escaped(one.text, _GITHUB)}\n"
        for one in findings
    )


def _escaped(text: str, signs: dict[str, str]) -> str:
    return printable("".join(signs.get(one, one) for one in text))
