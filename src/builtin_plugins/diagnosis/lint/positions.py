"""The line and column of each finding; a finding often knows only the key in a file."""

import os
from collections.abc import Iterable
from functools import cache
from operator import attrgetter

from builtin_plugins.self_commands.findings import Finding
from host import HostError, Problem
from host.files.json_errors import offsets_of_keys, position_of_key
from host.files.paths import read_regular
from host.headers.script_comments import block_text

_ORDER = ("problem.path", "problem.line", "problem.column", "rule", "problem.message")


def with_positions(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings sorted by position, each with a line and a column.

    Paths below the current directory are relative to it. A finding that occurs twice, such as a
    problem of a category that several commands have, is returned once.
    """
    directory = f"{_current_directory()}/"
    keys = cache(keys_of)  # many findings are in the same file

    placed = set()
    for finding in findings:
        problem = finding.problem
        line = problem.line or 1
        column = problem.column or 1
        if problem.key and not problem.line:
            text, offsets = keys(problem.path)
            line, column = position_of_key(text, offsets, problem.key)

        path = problem.path.removeprefix(directory)
        moved = Problem(path, problem.text, problem.remedy, problem.key, line, column)
        placed.add(finding._replace(problem=moved))

    return sorted(placed, key=attrgetter(*_ORDER))


def _current_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "//deleted"  # no path begins with it


def keys_of(path: str) -> tuple[str, dict[str, int]]:
    """Return the JSON in a .json file or a script's comment, and the offset of each of its keys.

    The keys are paths such as `envs.NAME` and `args[1].type`. Returns an empty text and no offsets
    if the file cannot be read.
    """
    try:
        text = read_regular(path, HostError).decode("utf-8-sig")
        if not path.endswith(".json"):
            text = block_text(text.splitlines())
    except (HostError, FileNotFoundError, UnicodeDecodeError):
        return "", {}
    return text, dict(offsets_of_keys(text))
