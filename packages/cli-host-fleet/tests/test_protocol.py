"""The bytes of a connection, cut at every place."""

from __future__ import annotations

import pytest

from cli_host_fleet.protocol import Facts, Greeting, Reports, items, last_line, script

_NONCE = "0123456789abcdef"
_HELLO = b"\x1ecli-fleet\x1eLinux web01\0/root\0root\0/root\0/bin/bash\0"
_FACTS = Facts("linux", "web01", "/root", "root", "/root", "/bin/bash")


@pytest.mark.parametrize("noise", [b"", b"hello\n", b"\x1e", b"\x1ecli-fleet\x1d\0", b"\0" * 9])
def test_a_greeting_is_found_wherever_it_is_cut(noise: bytes) -> None:
    whole = noise + _HELLO + b"rest"
    for cut in range(len(whole)):
        greeting = Greeting()
        facts, rest = greeting.feed(whole[:cut])
        if facts is None:
            facts, rest = greeting.feed(whole[cut:])
        else:
            rest += whole[cut:]
        assert (facts, rest) == (_FACTS, b"rest")
        assert greeting.noise == noise


def test_noise_is_not_kept_without_end() -> None:
    greeting = Greeting()
    for _ in range(100):
        assert greeting.feed(b"x" * 10000) == (None, b"")
    assert len(greeting.noise) < 10000
    assert greeting.feed(_HELLO)[0] == _FACTS


_MARK = b"\x1ecli-fleet\x1e"
_STATUS = b"\x1e0123456789abcdef status 3\n"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (b"oh\n", b"oh\n"),
        (b"no end", b"no end"),
        (b"\x1e\x1e0123\n\x1ecli-fleet\x1e", b"\x1e\x1e0123\n\x1ecli-fleet\x1e"),
        (b"\x1efedcba9876543210 status 0\n", b"\x1efedcba9876543210 status 0\n"),
        (b"", b""),
    ],
)
def test_reports_are_told_from_text_wherever_they_are_cut(text: bytes, kept: bytes) -> None:
    whole = b"banner\n" + _MARK + text + _STATUS
    for cut in range(len(whole)):
        reports = Reports(_NONCE, 1)
        first, one = reports.feed(whole[:cut])
        second, other = reports.feed(whole[cut:])
        assert (first + second + reports.rest(), one + other) == (kept, ["status 3"])
        assert reports.noise == b"banner\n"


def test_a_flood_of_separators_takes_linear_time() -> None:
    reports = Reports(_NONCE, 1)
    reports.feed(_MARK)
    text, found = reports.feed(b"\x1e" * 1_000_000 + b"x")
    assert (len(text), found) == (1_000_001, [])


def test_a_report_is_taken_before_the_greeting_too() -> None:
    assert Reports(_NONCE, 2).feed(b"x" + _STATUS) == (b"", ["status 3"])


def test_items_keep_bytes() -> None:
    assert items(["a", "", "\udcff\n"]) == b"a\0\0\xff\n\0"


@pytest.mark.parametrize(
    ("noise", "line"), [(b"", ""), (b"a\r\n\n b \n\n", "b"), (b"\xff\n", "\ufffd")]
)
def test_last_line(noise: bytes, line: str) -> None:
    assert last_line(noise) == line


def test_what_argv_shows_is_constant_and_safe_in_any_shell() -> None:
    greeting = script("greeting.sh")
    assert "\n" not in greeting
    assert "!" not in greeting
    assert "\\\\" not in greeting
    assert len(greeting) < 400
