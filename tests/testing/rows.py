"""Rows of a table that run only at night."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest


def night_but(day: Iterable[str], rows: Mapping[str, Any]) -> list[Any]:
    """Return the parameters of `rows`; those whose names are not in `day` have the mark `night`.

    A value that is a tuple gives several arguments.
    """
    chosen = set(day)
    parameters = []
    for name, row in rows.items():
        values = row if isinstance(row, tuple) else (row,)
        marks = () if name in chosen else (pytest.mark.night,)
        parameters.append(pytest.param(*values, id=name, marks=marks))
    return parameters
