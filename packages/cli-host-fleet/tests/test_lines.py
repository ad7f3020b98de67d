"""Chunks of bytes become whole lines, prefixed with the host."""

from __future__ import annotations

import contextlib
import os
import pty
import tty

import pytest

from cli_host_fleet.lines import Lines, without_controls
from cli_host_fleet.problem import show
from cli_host_fleet.text_view import TextView
from host import OperationError


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


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (b"\t\x1b[1;31mred\x1b[m \xc3\xa9\r\n", b"\t\x1b[1;31mred\x1b[m \xc3\xa9\r\n"),
        (b"\x1b[1A\x1b[2K\rweb99: ", rb"\x1b[1A\x1b[2K\x0dweb99: "),
        (b"a\x08\x7f\x0b\x0c\x00", rb"a\x08\x7f\x0b\x0c\x00"),
        (b"\xc2\x9b2K \x1b]0;title\x07 \xc2", rb"\xc2\x9b2K \x1b]0;title\x07 \xc2"),
        (b"\xc2\xa0 \xff", b"\xc2\xa0 \xff"),
    ],
)
def test_no_host_changes_the_lines_of_another_on_a_terminal(
    printed: bytes, shown: bytes
) -> None:
    assert without_controls(printed) == shown


def test_a_stdout_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its close fails, too.
    with contextlib.suppress(OSError), open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        with pytest.raises(OperationError, match="cannot write the output: No space"):
            show("x")


def test_only_a_terminal_gets_other_bytes() -> None:
    controller, terminal = pty.openpty()
    tty.setraw(terminal)
    reader, writer = os.pipe()
    view = TextView(writer, terminal, {"TERM": "dumb"})
    for stream in ("stdout", "stderr"):
        view.output("h").write(stream, b"\rx\n")
    assert os.read(reader, 99) == b"h: \rx\n"
    assert os.read(controller, 99) == rb"h: \x0dx" + b"\n"
    for descriptor in (controller, terminal, reader, writer):
        os.close(descriptor)
