"""Listings as text and as a tree."""

from __future__ import annotations

from builtin_plugins.renderers.text_listing import tree_page
from host import Category, Listing, Terminal


def test_a_tree_may_be_deeper_than_pythons_stack() -> None:
    depth = 1500
    categories = tuple(
        Category(("a",) * level, "a", "A") for level in range(1, depth + 1)
    )
    listing = Listing("cli", (), "CLI", "", categories=categories, deep=True)
    lines = tree_page(listing, Terminal(80, encoding="utf-8")).splitlines()
    assert len(lines) == depth + 1
    assert lines[:3] == ["cli", "└── a  A", "    └── a  A"]
    assert lines[-1] == f"{'    ' * (depth - 1)}└── a  A"
