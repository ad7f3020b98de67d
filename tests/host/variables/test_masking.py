"""Secrets in texts: what is hidden of them."""

from __future__ import annotations

import base64
import os
import re
import textwrap
from urllib.parse import quote, quote_plus

import pytest

from host import hidden_texts
from host.variables.masking import masked_line

_KEY = "".join(map(str, range(90)))
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
    encoded = {text for text in hidden_texts([secret]) if text not in hidden}
    assert [text for text in hidden_texts([secret]) if text in hidden] == hidden
    assert all("%" in text or "+" in text or text.isalnum() for text in encoded)


@pytest.mark.parametrize(
    "secret", ["s3cret", "pa/ss wörd?", "it's (one)!", "\udcff\udcfe bytes"]
)
@pytest.mark.parametrize("before", ["", "x", "xy", "ada:"])
def test_what_is_masked_in_other_encodings(secret: str, before: str) -> None:
    content = os.fsencode(f"{before}{secret} and more")
    for encode in (
        base64.standard_b64encode,
        base64.urlsafe_b64encode,
        quote,
        quote_plus,
        lambda text: quote(text, safe="").lower(),
        lambda text: quote(text, safe="!*'()"),  # JavaScript's encodeURIComponent
    ):
        text = encode(content)
        shown = text if isinstance(text, str) else text.decode()
        masked = masked_line(shown, [secret])
        assert "********" in masked
        assert len(masked.replace("********", "")) <= len(shown) - len(secret)


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("k/y&<'>\\", r"k\/y&<'>\\"),
        ("k/y&<'>\\", r"k/y\u0026\u003c'\u003e\\"),
        ("k/y&<'>\\", r"k/y\u0026\u003c\u0027\u003e\\"),
        ("~ *k", "%7E+*k"),
        ("~ *k", "%7e%20%2ak"),
        (_KEY, base64.encodebytes(_KEY.encode()).decode().strip()),
        (_KEY, "\n".join(textwrap.wrap(base64.b64encode(_KEY.encode()).decode(), 64))),
    ],
    ids=["PHP", "Go", "quote", "form", "path", "76 columns", "64 columns"],
)
def test_what_is_masked_as_other_programs_write_it(secret: str, text: str) -> None:
    masked = masked_line(text, [secret])
    # Bits of the last character may be those of what follows the secret.
    assert re.fullmatch(r"(\*{8}\n?)+[\w=]{0,3}", masked)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://:hun/ter2@cache:6379/0", "redis://…@cache:6379/0"),
        ("redis://cache:6379/0?x=a@b", "redis://cache:6379/0?x=a@b"),
        ("Server=db;UID=sa;PWD=hunter2;x=1", "Server=db;UID=sa;PWD=…;x=1"),
        ("host=db;pass=hunter2", "host=db;pass=…"),
        ("https://host/x?pat=hunter2&path=/x", "https://host/x?pat=…&path=/x"),
        ("?passenger=3&bypass=1;compass=north", "?passenger=3&bypass=1;compass=north"),
        ('Server=db;Password="a;b c";x=1', "Server=db;Password=…;x=1"),
        ("Server=db;Password='a;b c'", "Server=db;Password=…"),
        ("Server=db;Password={a;b c};x=1", "Server=db;Password=…;x=1"),
        ("postgres://me:12/34@db/x", "postgres://…@db/x"),
        ("postgresql://db:5432/x", "postgresql://db:5432/x"),
        ("https://host:443/@scope/name", "https://host:443/@scope/name"),
    ],
)
def test_credentials_in_addresses_and_connection_strings(text: str, shown: str) -> None:
    assert masked_line(text, []) == shown
