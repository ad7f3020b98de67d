"""Chunks of bytes become whole lines, prefixed with the host."""

from __future__ import annotations

import pytest

from cli_host_fleet.lines import Lines


@pytest.mark.parametrize(
    ("chunks", "written"),
    [
        ([b"a\n"], b"h: a\n"),
        ([b"a\nb\n"], b"h: a\nh: b\n"),
        ([b"a", b"b\nc"], b"h: ab\nh: c\n"),
        ([b"a", b"\n", b"\n"], b"h: a\nh: \n"),
        ([b"a", b"b\nc\nd\ne"], b"h: ab\nh: c\nh: d\nh: e\n"),
        ([b"\r10%\r20%\n"], b"h: \r10%\r20%\n"),
        ([], b""),
        ([b""], b""),
        ([b"x" * 3_000_000, b"y\nz"], b"h: " + b"x" * 3_000_000 + b"y\nh: z\n"),
    ],
)
def test_lines(chunks: list[bytes], written: bytes) -> None:
    got: list[bytes] = []
    lines = Lines(b"h: ", got.append)
    for chunk in chunks:
        lines.feed(chunk)
    lines.close()
    assert b"".join(got) == written
