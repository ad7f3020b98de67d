"""The spool file, to which runs append lines: take it away from them, and read its records.

Anything may be in the file: the disk was full, somebody has edited it. What this program did not
write is skipped.
"""

from __future__ import annotations

import glob
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from host.launch.spool import lock_spool

_LARGEST_NUMBER = 2**63 - 1  # that SQLite can store


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    # `True` is an `int`, and JSON as Python reads it may have NaN.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value)


def _is_whole_number(value: object) -> bool:
    return type(value) is int and abs(value) <= _LARGEST_NUMBER


def _is_list_of_texts(value: object) -> bool:
    if not isinstance(value, list):
        return False
    return all(map(_is_text, value))


def _is_client(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    return all(map(_is_text, value.values()))


def _is_list_of_results(value: object) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(item, dict) for item in value)


# The values that a run starts with, and those that its end adds.
_STARTED = {
    "id": _is_text,
    "start": _is_text,
    "words": _is_list_of_texts,
    "arguments": _is_list_of_texts,
    "directory": _is_text,
    "user": _is_text,
    "host": _is_text,
    "version": _is_text,
    "plugin": _is_text,
    "origin": _is_text,
    "outer": _is_text,
    "process": _is_whole_number,
    "client": _is_client,
}
_ENDED = {
    "seconds": _is_number,
    "status": _is_whole_number,
    "signal": _is_whole_number,
    "output": _is_text,
    "hosts": _is_list_of_results,
}
COLUMNS = (*_STARTED, *_ENDED)


def is_record(values: Mapping[str, Any]) -> bool:
    """Return whether a line is the start of a run or its end, with values of the right kinds."""
    checks = _STARTED
    if "start" not in values:
        checks = {"id": _is_text, **_ENDED}
    for name, is_valid in checks.items():
        if name not in values or not is_valid(values[name]):
            return False
    return True


def is_run(values: Mapping[str, Any]) -> bool:
    """Return whether `values` are those of a run that has started and perhaps ended."""
    for name, is_valid in _STARTED.items():
        if not is_valid(values[name]):
            return False
    for name, is_valid in _ENDED.items():
        value = values[name]
        if value is not None and not is_valid(value):
            return False
    return True


def spooled_files(spool: str) -> list[str]:
    """Return the files that wait to be read: those that an interrupted import has left, too."""
    return sorted(glob.glob(f"{glob.escape(spool)}.*"))


def take_spool(spool: str) -> None:
    """Rename the spool, so that the runs that write to it begin a new one."""
    # Neither a link nor a pipe that somebody has put in its place is used.
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(spool, flags)
    except FileNotFoundError:
        return

    try:
        # A run that is writing a line has finished it then.
        lock_spool(descriptor)
        with suppress(FileNotFoundError):  # another import was faster
            os.rename(spool, f"{spool}.{os.urandom(6).hex()}")
    finally:
        os.close(descriptor)


def read_records(path: str) -> Iterator[Mapping[str, Any]]:
    """Yield the records in a spool file."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return  # another process has moved it into the database

    with file:
        for line in file:
            if not line.strip():
                continue
            try:
                values = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(values, dict) and is_record(values):
                yield values
