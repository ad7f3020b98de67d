"""Suggestions: which known names resemble a word, and what a hundred thousand names cost."""

import sys
from time import process_time

import pytest

from host.suggestions import closest

WORDS = [
    "deploy",
    "list",
    "list-all",
    "install",
    "uninstall",
    "db",
    "gc",
    "cp",
    "version",
]

# fmt: off
NEAR = {
    "depoly": ["deploy"], "deploi": ["deploy"], "DEPLOY": ["deploy"], "deploy_": ["deploy"],
    "listall": ["list-all"], "List_All": ["list-all"], "lst": ["list"],
    "insta": ["install", "uninstall", "list-all"],
    "intsall": ["install", "uninstall", "list-all"], "bd": ["db"], "dx": ["db"],
    "verbose": [], "q": [], "": [], "-": [], "xyzzy": [], "x" * 65: [], "dép": [],
}
# fmt: on


@pytest.mark.parametrize("word", NEAR, ids=[word[:10] or "empty" for word in NEAR])
def test_names_that_are_near(word):
    assert closest(word, WORDS) == NEAR[word]
    assert closest(word, reversed(WORDS)) == NEAR[word]


def test_nothing_is_near_among_none():
    assert closest("word", []) == []


def test_at_most_three_names_are_near():
    assert len(closest("deplox", [f"deplo{letter}" for letter in "abcdef"])) == 3


def test_more_of_a_name_can_be_asked_to_be_alike():
    assert closest("lst", WORDS, 0.9) == []
    assert closest("deploi", WORDS, 0.75) == ["deploy"]


NAMES = [f"command-{number:05}" for number in range(20_000)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "word",
    [
        "comand-19999",
        "command-199999",
        "command-1999x",
        "ocmmand-19999",
        "9ommand-19999",
    ],
)
def test_one_slip_is_found_among_thousands_of_names(word):
    started = process_time()
    assert "command-19999" in closest(word, [*NAMES[:18_000], *NAMES[19_999:]])
    assert process_time() - started < 1  # second; it takes about a fifth


def test_names_without_common_letters_import_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "difflib", None)  # importing it raises
    assert closest("qqqq-qqqqqqqq", NAMES) == []
    assert (
        closest("author", ["name", "description", "entrypoint", "os", "args"], 0.8)
        == []
    )
