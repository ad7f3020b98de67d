"""The size of the program: a module is a page or two, and the whole can be read."""

from __future__ import annotations

import ast

from testing.installation import PROJECT

_MODULES = sorted((PROJECT / "src").rglob("*.py"))
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_LINES = 250  # of a module
_MOST_CODE = 12_800  # lines of `src` without blank lines, comments and docstrings


def test_only_two_modules_are_long() -> None:
    """A run loads both; a split would add a module to each run (docs/decisions.md)."""
    long = [one.name for one in _MODULES if len(one.read_text().splitlines()) > _MOST_LINES]
    assert long == ["catalog.py", "command_files.py"]


def test_the_program_does_not_grow() -> None:
    assert sum(_code_lines(one.read_text()) for one in _MODULES) <= _MOST_CODE


def _code_lines(text: str) -> int:
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node) is not None:
            documented.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(text.splitlines(), 1)
    code = [line for number, line in lines if number not in documented]
    return sum(1 for line in code if line.strip() and not line.strip().startswith("#"))
