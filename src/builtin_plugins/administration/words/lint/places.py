"""Positions of the keys in definitions, so that each finding has a line and a column."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache

from builtin_plugins.administration.pages import Finding
from host import HostError, Problem
from host.run import read_regular
from host.run.json_errors import offsets_of_keys, place_of_key
from host.run.script_definition import block_text

_LARGEST = 16 << 20  # bytes of a JSON file


def keys_of(path: str) -> tuple[str, dict[str, int]]:
    """Return the JSON in a file or script and the offset of each key (`envs.NAME`, `args[1].type`).

    Returns "" and no keys if the file cannot be read.
    """
    try:
        text = read_regular(path, _LARGEST, HostError).decode("utf-8-sig")
        if not path.endswith(".json"):
            text = block_text(text.splitlines())
    except (HostError, FileNotFoundError, UnicodeDecodeError):
        return "", {}
    return text, offsets_of_keys(text)


def placed(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings sorted by position, each with a line and a column.

    Paths below the current directory are relative to it.
    """
    keys = cache(keys_of)
    found = set()
    for one in findings:
        at = one.problem
        line, column = at.line, at.column or 1
        if not line:
            text, offsets = keys(at.path) if at.key else ("", {})
            line, column = place_of_key(text, offsets, at.key)
        place = (_relative(at.path), at.text, at.remedy, at.key, line, column)
        found.add(one._replace(problem=Problem(*place)))
    return sorted(found, key=_order)


def _relative(path: str) -> str:
    with suppress(OSError):
        return path.removeprefix(f"{os.getcwd()}/")
    return path


def _order(one: Finding) -> tuple[object, ...]:
    at = one.problem
    return at.path, at.line, at.column, one.rule, at.message
