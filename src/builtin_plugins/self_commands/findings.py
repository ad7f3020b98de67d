"""The findings of `self lint` and `self doctor`, and how they are printed."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from host import Problem, Terminal, printable
from host.text import plural

_STYLES = {"error": "[missing]", "hint": "hint", "fixed": "installed"}
_KIND = max(map(len, _STYLES))


class Finding(NamedTuple):
    """A problem, and the rule or check that found it.

    A `hint` never changes the exit status. `fix` is a function that safely applies the remedy, or
    None. `fixed` is true after `fix` succeeded.
    """

    rule: str
    problem: Problem
    hint: bool = False
    fix: Callable[[], object] | None = None
    fixed: bool = False

    @property
    def kind(self) -> str:
        """The kind of finding as shown to users; an "error" makes the exit status 1."""
        if self.fixed:
            return "fixed"
        if self.hint:
            return "hint"
        return "error"


def grouped(
    rows: Iterable[tuple[str, str, Finding]], terminal: Terminal
) -> Iterator[str]:
    """Yield the lines of a page from rows of a heading, a text and the finding to show.

    Adjacent rows with the same heading stand below one heading. Each remedy follows its text.
    """
    for heading, group in groupby(rows, lambda row: row[0]):
        yield terminal.styled(printable(heading), "heading")
        for _, text, finding in group:
            kind = finding.kind
            label = terminal.styled(f"{kind:<{_KIND}}", _STYLES[kind])
            yield f"  {label}  {printable(text)}"
            if finding.problem.remedy:
                yield f"  {' ' * _KIND}  {printable(finding.problem.remedy)}"


def has_errors(findings: Iterable[Finding]) -> bool:
    return any(finding.kind == "error" for finding in findings)


def counted(findings: Iterable[Finding]) -> str:
    """Return the number of findings of each kind: `2 errors, 1 hint`."""
    counts = Counter(finding.kind for finding in findings)
    texts = []
    for kind, count in sorted(counts.items()):
        if kind == "fixed":
            texts.append(f"{count} fixed")
        else:
            texts.append(plural(count, kind))
    return ", ".join(texts)
