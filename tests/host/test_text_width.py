"""How many columns a text takes."""

import pytest

from host.text_width import shortened, width_of


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("plain", 5, "plain"),
        ("plain text", 5, "plai…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("e\u0301tude", 3, "e\u0301t…"),
        ("text", 1, "…"),
        ("", 1, ""),
    ],
)
def test_a_shortened_text(text: str, columns: int, expected: str) -> None:
    assert shortened(text, columns) == expected
    assert width_of(expected) <= columns
