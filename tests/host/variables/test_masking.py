"""Secrets in texts: what is hidden of them."""

from __future__ import annotations

import pytest

from host import hidden_texts

_HIDDEN = {
    "one word": ("s3cret", ["s3cret"]),
    "three characters": ("abc", ["abc"]),
    "two characters": ("ab", []),
    "two characters that are longer in JSON": ('""', []),
    "one character that is longer in JSON": ("ü\n", []),
    "a switch": ("Off", []),
    "padded": (" pad \n", [r" pad \n", " pad \n", " pad ", "pad"]),
    "short lines": ("user1\nab\npin", [r"user1\nab\npin", "user1\nab\npin", "user1", "pin"]),
    "the structure of JSON": (
        '{\n  "a": [7]\n  ],\n}',
        [r'{\n  \"a\": [7]\n  ],\n}', '{\n  "a": [7]\n  ],\n}', '  "a": [7]'],
    ),
    "in JSON": ('ü"1', [r"\u00fc\"1", 'ü\\"1', 'ü"1']),
}  # fmt: skip


@pytest.mark.parametrize(("secret", "hidden"), _HIDDEN.values(), ids=_HIDDEN)
def test_what_must_not_appear(secret: str, hidden: list[str]) -> None:
    assert hidden_texts([secret]) == hidden
