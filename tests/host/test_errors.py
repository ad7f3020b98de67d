"""The errors and the problems that they carry."""

from __future__ import annotations

import pytest

from host import DefinitionError, HostError, Problem, UsageError

WORDED = {
    "text alone": (Problem("", "it broke"), "it broke"),
    "file": (Problem("f", "is empty"), "f: is empty"),
    "remedy": (Problem("f", "is empty", "fill it"), "f: is empty; fill it"),
    "key": (Problem("f", "missing", key="args[0].name"), 'f: "args[0].name": missing'),
    "line": (Problem("f", "not UTF-8", line=3), "f:3: not UTF-8"),
    "line and column": (
        Problem("f", "trailing comma", line=3, column=7),
        "f:3:7: trailing comma",
    ),
    "line and key": (
        Problem("f", "stays", "quote it", "A", 3),
        'f:3: "A": stays; quote it',
    ),
}


@pytest.mark.parametrize(("problem", "line"), WORDED.values(), ids=WORDED)
def test_a_problem_is_worded_once(problem: Problem, line: str) -> None:
    error = DefinitionError(problem)
    assert (str(problem), str(error), error.problem) == (line, line, problem)
    assert line == (f"{error.what}; {error.remedy}" if error.remedy else error.what)


def test_an_error_of_text_alone_has_a_problem_too() -> None:
    assert HostError("it broke", "mend it").problem == Problem(
        "", "it broke", "mend it"
    )
    assert str(UsageError("no such word", suggestions=["a", "b"])) == (
        "no such word; did you mean a or b?"
    )


def test_problems_are_equal_by_their_values() -> None:
    assert {Problem("f", "x", line=1), Problem("f", "x", line=1)} == {
        Problem("f", "x", line=1)
    }
    assert Problem("f", "x", line=1) != Problem("f", "x", line=2)


def test_a_problem_inside_an_archive() -> None:
    assert (
        str(Problem("a.json", "bad", key="k").inside("acme.zip"))
        == 'acme.zip: a.json: "k": bad'
    )
    assert str(Problem("", "bad").inside("acme.zip")) == "acme.zip: bad"
