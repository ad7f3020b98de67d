"""What `self lint` and `self doctor` find, and how a page shows it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from host import Problem, Terminal, printable

_STYLES = {"error": "missing", "hint": "name", "fixed": "installed"}
_KIND = max(map(len, _STYLES))


class Finding(NamedTuple):
    """A problem, and the rule or check that found it.

    A `hint` never changes the exit status. `fix` applies the remedy, if that is safe; `fixed` says
    that it did.
    """

    rule: str
    problem: Problem
    hint: bool = False
    fix: Callable[[], object] | None = None
    fixed: bool = False

    @property
    def counts(self) -> bool:
        """Whether it makes the exit status 1."""
        return not (self.hint or self.fixed)

    @property
    def kind(self) -> str:
        return "fixed" if self.fixed else "hint" if self.hint else "error"


def relative_path(path: str) -> str:
    """Return the path relative to the current directory if it is below that."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        return path
    return path.removeprefix(f"{here}/") if here != "/" else path


def grouped(rows: Iterable[tuple[str, str, Finding]], terminal: Terminal) -> list[str]:
    """Return the lines of a page: each row is a heading, a text and the finding it is about.

    Neighbours with the same heading share it. The remedy stands below the text.
    """
    lines = []
    for heading, group in groupby(rows, lambda row: row[0]):
        lines.append(terminal.styled(printable(heading), "heading"))
        for _, text, one in group:
            label = terminal.styled(f"{one.kind:<{_KIND}}", _STYLES[one.kind])
            lines.append(f"  {label}  {printable(text)}")
            if one.problem.remedy:
                lines.append(f"  {' ' * _KIND}  {printable(one.problem.remedy)}")
    return lines


def counted(findings: Sequence[Finding]) -> str:
    """Return how many there are of each kind: `2 errors, 1 hint`."""
    kinds = [one.kind for one in findings]
    parts = [
        plural(kinds.count(kind), kind) if kind != "fixed" else f"{kinds.count(kind)} fixed"
        for kind in _STYLES
        if kind in kinds
    ]
    return ", ".join(parts)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
