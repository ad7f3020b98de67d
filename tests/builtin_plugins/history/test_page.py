"""The table of runs fits the terminal."""

from __future__ import annotations

import pytest

from builtin_plugins.history.page import table
from host import Terminal

_RUN = {
    "id": "b83f06e9c217",
    "start": "2026-01-05T09:00:31.000Z",
    "user": "babbage",
    "host": "engine",
    "words": ["deploy", "production"],
    "arguments": ["--region", "eu-west-1"],
    "seconds": 0.2,
    "status": 0,
    "origin": "terminal",
}


@pytest.mark.parametrize(
    ("width", "headings", "command"),
    [
        (
            120,
            "ID WHEN WHO COMMAND TIME STATUS ORIGIN",
            "acme deploy production --region eu-west-1",
        ),
        (85, "ID WHEN WHO COMMAND TIME STATUS ORIGIN", "acme deploy pr…"),
        (80, "ID WHEN WHO COMMAND TIME STATUS", "acme deploy product…"),
        (57, "ID WHEN COMMAND TIME STATUS", "acme deploy …"),
    ],
)
def test_a_line_is_as_wide_as_the_terminal(
    width: int, headings: str, command: str
) -> None:
    terminal = Terminal(width, is_interactive=True)
    heading, row = table([_RUN], terminal, "acme", {_RUN["id"]: "0"})
    assert heading.split() == headings.split()
    assert f"  {command}  " in row
    assert max(len(heading), len(row)) <= width


def test_a_file_gets_all_columns() -> None:
    heading, row = table([_RUN], Terminal(20), "acme", {_RUN["id"]: "0"})
    assert heading.endswith("ORIGIN")
    assert "acme deploy production --region eu-west-1" in row
