"""The bytes that a host sends, split at every position."""

from __future__ import annotations

import pytest

from cli_host_fleet.from_host import MARK, Facts, Greeting, Reports

_NONCE = "0123456789abcdef"
_HELLO = b"\x1ecli-fleet\x1eLinux\0web01\0/root\0root\0/root\0/tmp\0/bin/bash\0"
_FACTS = Facts("linux", "web01", "/root", "root", "/root", "/tmp", "/bin/bash")


@pytest.mark.parametrize(
    "noise", [b"", b"hello\n", b"\x1e", b"\x1ecli-fleet\x1d\0", b"\0" * 9]
)
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


@pytest.mark.parametrize(
    ("told", "system"),
    [("Linux", "linux"), ("Darwin", "mac"), ("FreeBSD", "freebsd")],
)
def test_systems_are_named_as_in_definitions(told: str, system: str) -> None:
    facts, _ = Greeting().feed(_HELLO.replace(b"Linux", told.encode()))
    assert facts is not None
    assert facts.system == system


def test_noise_is_not_kept_without_end() -> None:
    greeting = Greeting()
    for _ in range(100):
        assert greeting.feed(b"x" * 10000) == (None, b"")
    assert len(greeting.noise) < 10000
    assert greeting.feed(_HELLO)[0] == _FACTS


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
def test_reports_are_found_in_text_wherever_they_are_cut(
    text: bytes, kept: bytes
) -> None:
    whole = b"banner\n" + MARK + text + _STATUS
    for cut in range(len(whole)):
        reports = Reports(_NONCE, 1)
        first, early = reports.feed(whole[:cut])
        second, late = reports.feed(whole[cut:])
        assert (first + second + reports.rest(), early + late) == (kept, ["status 3"])
        assert reports.noise == b"banner\n"


def test_a_flood_of_separators_takes_linear_time() -> None:
    reports = Reports(_NONCE, 1)
    reports.feed(MARK)
    text, found = reports.feed(b"\x1e" * 1_000_000 + b"x")
    assert (len(text), found) == (1_000_001, [])


def test_a_report_is_taken_before_the_greeting_too() -> None:
    assert Reports(_NONCE, 2).feed(b"x" + _STATUS) == (b"", ["status 3"])
