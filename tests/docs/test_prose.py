"""The prose of the pages: no sentence has more than 30 words, and only people speak."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from testing.installation import PROJECT

_LONGEST = 30
_PAGES = sorted(
    str(path.relative_to(PROJECT))
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "packages/*/*.md",
        "examples/*/README.md",
        "plugins/README.md",
        "commands/**/*.md",
    )
    for path in PROJECT.glob(pattern)
)
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->|\A---\n.*?^---$", re.DOTALL | re.MULTILINE)
_TAG = re.compile(r"<[a-zA-Z/][^>]*>")
_CODE = re.compile(r"(`+).+?\1", re.DOTALL)
_LINK = re.compile(r"!?\[([^][]*)\](?:\([^()\s]*\)|\[[^][]*\])")
_TABLE_ROW = re.compile(r"^\s*\|.*$", re.MULTILINE)
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)|\n(?=#)|(?<=\n)#[^\n]*\n")
_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_]*[A-Z`\d./])")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs)\.")
_SPOKEN = re.compile(r"\b(?:told|tells?|said)\b", re.IGNORECASE)


def sentences(markdown: str) -> Iterator[str]:
    """Yield the sentences of a page without its tables and code; inline code is one word."""
    text = _COMMENT.sub("", _FENCE.sub("\n\n", markdown))
    text = _TABLE_ROW.sub("\n", _CODE.sub("`c`", text))
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))
    text = _ABBREVIATION.sub(r"\1", _TAG.sub("", text))
    for block in _BLOCK.split(text):
        yield from filter(None, _END.split(" ".join(block.split()).lstrip("#-*+> ")))


def too_long(markdown: str) -> list[str]:
    return [one for one in sentences(markdown) if len(re.findall(r"[\w`]+\S*", one)) > _LONGEST]


def spoken(markdown: str) -> list[str]:
    return [one for one in sentences(markdown) if _SPOKEN.search(one)]


@pytest.mark.parametrize("page", _PAGES)
def test_no_sentence_is_long(page: str) -> None:
    assert too_long((PROJECT / page).read_text()) == []


@pytest.mark.parametrize("page", _PAGES)
def test_only_people_speak(page: str) -> None:
    assert spoken((PROJECT / page).read_text()) == []
    rows = _TABLE_ROW.findall(_FENCE.sub("", (PROJECT / page).read_text()))
    assert [row for row in rows if _SPOKEN.search(_CODE.sub("", row))] == []


def test_the_checks_can_fail() -> None:
    long = "Word " * 15 + "`a b c` [two words](page.md) " + "and so on " * 5
    assert too_long(f"# Title\n\nShort. {long.strip()}. Short.\n") != []
    assert too_long(f"| {long} |\n\n```text\n{long}\n```\n") == []
    assert too_long("- " + "word " * 29 + "end.\n- " + "word " * 29 + "end\n") == []
    assert spoken("The program tells what is wrong.") == ["The program tells what is wrong."]
    assert spoken("Use `tell`. Intelligent retold stories.") == []
