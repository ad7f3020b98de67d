"""Where the keys of definitions stand, so that each finding has a line and a column."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from builtin_plugins.administration.pages import Finding
from host import HostError, Problem
from host.run import read_regular
from host.run.json_errors import offsets_of_keys, place_of_key
from host.run.script_definition import block_text

_LARGEST = 16 << 20  # bytes of a file of JSON


def keys_of(path: str) -> tuple[str, dict[str, int]]:
    """Return the JSON in a file or script and the offset of each key (`envs.NAME`, `args[1].type`).

    There are none if the file cannot be read.
    """
    try:
        text = read_regular(path, _LARGEST, HostError).decode("utf-8-sig")
        if not path.endswith(".json"):
            text = block_text(text.splitlines())
    except (HostError, FileNotFoundError, UnicodeDecodeError):
        return "", {}
    return text, offsets_of_keys(text)


def placed(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings in the order of their places, each with a line and a column."""
    by_path = sorted({*findings}, key=lambda one: one.problem.path)
    result = []
    for path, group in groupby(by_path, lambda one: one.problem.path):
        rows = list(group)
        text, offsets = keys_of(path) if any(one.problem.key for one in rows) else ("", {})
        result += [one._replace(problem=_placed(one.problem, text, offsets)) for one in rows]
    return sorted(result, key=_order)


def _placed(problem: Problem, text: str, offsets: dict[str, int]) -> Problem:
    """Return the problem at its line, or else at its key, or at the nearest key above that."""
    line, column = place_of_key(text, offsets, problem.key)
    if problem.line:
        line, column = problem.line, problem.column or 1
    return Problem(problem.path, problem.text, problem.remedy, problem.key, line, column)


def _order(one: Finding) -> tuple[object, ...]:
    problem = one.problem
    return problem.path, problem.line, problem.column, one.rule, problem.message
