"""Where the keys of JSON files stand, so that each finding has a line and a column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import count, groupby

from builtin_plugins.administration.findings import Finding
from host import HostError, Problem
from host.run import read_regular

_LARGEST = 16 << 20  # bytes of a file of JSON
_TOKEN = re.compile(r'("(?:\\.|[^"\\])*")(\s*:)?|[\[\]{}]|[^\s\[\]{},:"]+')
_DEEPEST = 20  # levels whose keys have a place; a definition has five


def keys_of(path: str) -> tuple[str, dict[str, int]]:
    """Return a file's text and the offset of each key (`envs.NAME`, `args[1].type`).

    There are none if the file cannot be read.
    """
    try:
        text = read_regular(path, _LARGEST, HostError).decode("utf-8-sig")
    except (HostError, FileNotFoundError, UnicodeDecodeError):
        return "", {}
    return text, _offsets_of_keys(text)


def _offsets_of_keys(text: str) -> dict[str, int]:
    """Return where each key and item is, by its path; the text need not be correct JSON."""
    offsets: dict[str, int] = {}
    above: list[tuple[str, Iterator[int] | None]] = []  # what is open; arrays have numbers
    path = ""
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in ("]", "}"):
            del above[-1:]
            continue
        outer, numbers = above[-1] if above else ("", None)
        if (numbers is not None or token[2]) and len(above) <= _DEEPEST:
            key = token[1] and _unquoted(token[1])
            path = f"{outer}[{next(numbers)}]" if numbers is not None else f"{outer}.{key}"
            path = path.removeprefix(".")
            offsets[path] = token.start()
        if sign in ("{", "["):
            above.append((path, count() if sign == "[" else None))
    return offsets


def _unquoted(token: str) -> str:
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token[1:-1]


def placed(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings in the order of their places, each with a line and a column."""
    by_path = sorted({*findings}, key=lambda one: one.problem.path)
    result = []
    for path, group in groupby(by_path, lambda one: one.problem.path):
        text, offsets = keys_of(path) if path.endswith(".json") else ("", {})
        result += [one._replace(problem=_placed(one.problem, text, offsets)) for one in group]
    return sorted(result, key=_order)


def _placed(problem: Problem, text: str, offsets: dict[str, int]) -> Problem:
    """Return the problem at its line, or else at its key, or at the nearest key above that."""
    key = problem.key
    while key and key not in offsets:
        key = key[: max(key.rfind("."), key.rfind("["), 0)]
    before = text[: offsets.get(key, 0)]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    if problem.line:
        line, column = problem.line, problem.column or 1
    return Problem(problem.path, problem.text, problem.remedy, problem.key, line, column)


def _order(one: Finding) -> tuple[object, ...]:
    problem = one.problem
    return problem.path, problem.line, problem.column, one.rule, problem.message
