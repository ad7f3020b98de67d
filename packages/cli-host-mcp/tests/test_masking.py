"""Secrets in output, and the limits of output."""

from __future__ import annotations

import base64
from urllib.parse import unquote, unquote_plus

import pytest

from cli_host_mcp.masking import Mask, secrets_of
from cli_host_mcp.output import Lines, Stream, shown
from host import Variable

_SECRETS = {"abcdef", "abcdefgh", "fghijk", "línea-uno\nlínea-dos"}
_TEXT = "xabcdefghabcdeabcdefghijk línea-uno\nlínea-dos abcdefg é".encode()


def _plain(found: set[str], hidden: set[str]) -> set[str]:
    """Return the texts of `found` but those that encode one of `hidden`: URL, JSON or base64."""
    encoded = set()
    for text in found - hidden:
        from_json = text.replace("\\/", "/").replace("\\u0027", "'")
        if {unquote(text), unquote_plus(text), from_json} & hidden:
            encoded.add(text)
    for secret in hidden:
        for before in range(3):
            whole = base64.b64encode(b" " * before + secret.encode() + b"  ").decode()
            encoded |= {text for text in found - hidden if text in whole}
    return found - encoded


def test_any_pieces_give_the_same() -> None:
    whole = Mask(_SECRETS)
    expected = whole.feed(_TEXT) + whole.end()
    assert expected == "x********abcde********ijk ******** ********g é".encode()
    for size in range(1, len(_TEXT)):
        mask = Mask(_SECRETS)
        pieces = [_TEXT[start : start + size] for start in range(0, len(_TEXT), size)]
        assert b"".join(map(mask.feed, pieces)) + mask.end() == expected


def test_what_begins_no_secret_is_not_held_back() -> None:
    assert Mask(_SECRETS).feed(b"one\n") == b"one\n"
    assert Mask(set()).feed(b"abc") == b"abc"


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ("API_TOKEN", "0123456", {"0123456"}),
        ("API_TOKEN", "abc", {"abc"}),
        ("API_TOKEN", "ab", set()),
        ("API_TOKEN", "True", set()),
        ("TOKEN1", "0123456", {"0123456"}),
        (
            "KEY",
            "first line\n  }\n",
            {"first line\n  }\n", "first line\n  }", "first line"}
            | {"first line\\n  }\\n", "first line\\n  }"},
        ),
        ("DATABASE", "pg://me:hunter 19@db/x", {"hunter 19"}),
        ("PGPASS", " padded \n", {" padded \n", " padded ", "padded", " padded \\n"}),
        (
            "KEY",
            "first line\nsecond",
            {"first line\nsecond", "first line", "second", "first line\\nsecond"},
        ),
        (
            "KEY",
            "first line\npin",
            {"first line\npin", "first line", "pin", "first line\\npin"},
        ),
        ("KEY", 'ü"1', {'ü"1', 'ü\\"1', '\\u00fc\\"1'}),
        ("DATABASE", "pg://me:s3cret/word@db/x", {"s3cret/word"}),
        ("DATABASE", "pg://me:s3cretword@db/x", {"s3cretword"}),
        ("DATABASE", "pg://postgres@db/x", {"//postgres@"}),
        (
            "DATABASES",
            "pg://me:s3cret:1@db/x pg://me:s3cret-2@db",
            {"s3cret:1", "s3cret-2"},
        ),
        ("REMOTE", "ssh://me:s3cretword@host/x", {"s3cretword"}),
        ("HOOK", "https://a.b/c?token=0123456&x=7654321", {"0123456"}),
        ("TEXT", "an … and ******** of one's own", set()),
        ("PWD", "/home/somebody", set()),
    ],
)
def test_what_is_a_secret(name: str, value: str, hidden: set[str]) -> None:
    assert _plain(secrets_of({name: Variable(name, value, "", 1)}), hidden) == hidden


def test_what_is_shadowed_is_secret_too() -> None:
    weaker = Variable("API_TOKEN", "from a file", "", 4)
    variable = Variable("API_TOKEN", "the caller's", "", 1, (weaker,))
    hidden = {"from a file", "the caller's"}
    assert _plain(secrets_of({"API_TOKEN": variable}), hidden) == hidden


@pytest.mark.parametrize("limit", range(8, 30))
def test_a_cut_counts_what_is_missing_and_keeps_characters_whole(limit: int) -> None:
    stream = Stream(Mask(set()), limit)
    text = "ab€é𝄞" * 9
    for byte in text.encode():
        stream.feed(bytes([byte]))
    head, missing, tail = stream.text().split("…")
    assert text.startswith(head[:-1])
    assert text.endswith(tail[1:])
    kept = len((head[:-1] + tail[1:]).encode())
    assert kept + int(missing.split()[0]) == len(text.encode())
    assert limit - 6 <= kept <= limit


def test_what_fits_is_whole() -> None:
    stream = Stream(Mask(set()), 10)
    stream.feed(b"01234")
    stream.feed(b"56789")
    assert stream.text() == "0123456789"


def test_control_characters_are_shown() -> None:
    assert shown(b"a\tb\r\nc\x1b[2J\x00\xff") == "a\tb\nc\\x1b[2J\\x00\\xff"


def test_lines_are_few_and_short() -> None:
    """If many lines wait, only the newest are kept; their numbers increase."""
    lines = Lines()
    lines.feed("stdout", b"".join(b"%d\n" % n for n in range(1000)) + b"beg")
    assert lines.taken() == [(n + 1, str(n)) for n in range(980, 1000)]
    lines.feed("stderr", b"other\n")
    lines.feed("stdout", b"un\n" + b"y" * 100_000 + b"\n")
    assert lines.taken() == [(1001, "other"), (1002, "begun"), (1003, "y" * 500)]
