"""Names that look like misspelt ones: which are near, and how much is compared."""

import pytest

from host.run import misspelt
from host.run.misspelt import nearest

WORDS = ["deploy", "list", "list-all", "install", "uninstall", "db", "gc", "cp", "version"]

# fmt: off
NEAR = {
    "depoly": ["deploy"], "deploi": ["deploy"], "DEPLOY": ["deploy"], "deploy_": ["deploy"],
    "listall": ["list-all"], "List_All": ["list-all"], "lst": ["list"],
    "insta": ["install", "uninstall", "list"],
    "intsall": ["install", "uninstall", "list-all"], "bd": ["db"], "cg": ["gc", "cp"], "dx": ["db"],
    "verbose": [], "q": [], "": [], "-": [], "xyzzy": [], "x" * 65: [], "dép": [],
}
# fmt: on


@pytest.mark.parametrize("word", NEAR, ids=[word[:10] or "empty" for word in NEAR])
def test_names_that_are_near(word):
    assert nearest(word, WORDS) == NEAR[word]
    assert nearest(word, reversed(WORDS)) == NEAR[word]


def test_nothing_is_near_among_none():
    assert nearest("word", []) == []


def test_more_of_a_name_can_be_asked_to_be_alike():
    assert nearest("lst", WORDS, alike=0.9) == []
    assert nearest("deploi", WORDS, alike=0.75) == ["deploy"]


@pytest.fixture
def compared(monkeypatch):
    """Return a list of what is compared letter by letter from now on."""
    pairs = []
    apart = misspelt._apart  # noqa: SLF001 - it is what takes the time

    def counted(one, other, **more):
        pairs.append((one, other))
        return apart(one, other, **more)

    monkeypatch.setattr(misspelt, "_apart", counted)
    return pairs


NAMES = [f"command-{number:06}" for number in range(100_000)]


@pytest.mark.parametrize(
    "word",
    ["comand-099999", "command-0999999", "command-09999x", "ocmmand-099999", "9ommand-099999"],
)
def test_one_slip_is_found_among_a_hundred_thousand_names_with_few_comparisons(compared, word):
    assert "command-099999" in nearest(word, [*NAMES[:90_000], *NAMES[99_999:]])
    assert len(compared) < 400


def test_what_is_like_nothing_is_compared_with_nothing(compared):
    assert nearest("qqqq-qqqqqqqq", NAMES) == []
    assert compared == []
