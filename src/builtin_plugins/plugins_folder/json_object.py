"""Read untrusted JSON objects from files, within limits, and check them key by key."""

import json
import os
from typing import Any

from host import PluginError, Problem

_LARGEST = 16 << 20  # bytes


def read_object(path: str) -> dict[str, Any]:
    """Return the JSON object in the file at `path`.

    Raises FileNotFoundError, and PluginError with the position if it is not a JSON object.
    """
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            values = json.loads(file.read(_LARGEST).decode("utf-8-sig"), object_pairs_hook=_unique)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as failure:
        what = getattr(failure, "msg", "") or getattr(failure, "strerror", "") or str(failure)
        line, column = getattr(failure, "lineno", 0), getattr(failure, "colno", 0)
        raise PluginError(Problem(path, what, line=line, column=column)) from None
    if not isinstance(values, dict):
        raise PluginError(Problem(path, "expected an object"))
    return values


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # do not wait for the writer of a FIFO


def typed(path: str, values: dict[str, Any], key: str, kind: type, expected: str) -> Any:
    """Return the value of `key`, None if it is absent or null.

    Raises PluginError naming `path` and the key for a value of another type.
    """
    value = values.get(key)
    if value is not None and type(value) is not kind:
        raise PluginError(Problem(path, f"expected {expected}", key=key))
    return value


def text(path: str, values: dict[str, Any], key: str) -> str:
    """Return the string at `key`, "" if it is absent or null; raises as `typed`, and for a NUL."""
    value: str = typed(path, values, key, str, "a string") or ""
    if "\0" in value:
        raise PluginError(Problem(path, "contains a NUL character", key=key))
    return value
