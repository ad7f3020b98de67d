"""What comes from data is shown escaped, on one line, in any locale."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.text import decode, encode, printable

TABLE = {
    "plain text": "plain text",
    "é✓🎉 漢字": "é✓🎉 漢字",
    "a\nb\tc\rd": "a\\nb\\tc\\rd",
    "\x1b[31m\x07\x7f\x9b": "\\x1b[31m\\x07\\x7f\\x9b",
    "\u202e\u2066\u200b\u2028\ufeff\u061c": "\\u202e\\u2066\\u200b\\u2028\\ufeff\\u061c",
    "👩\u200d💻 क\u200cष": "👩\u200d💻 क\u200cष",  # joiners belong to their words
    "\u200e\u200f": "\\u200e\\u200f",
    "\udcff\udc80": "\\xff\\x80",
    "\ud800 \udfff": "\\ud800 \\udfff",
    "\U000e0041": "\\U000e0041",
    "": "",
}


@pytest.mark.parametrize(("text", "shown"), TABLE.items(), ids=map(repr, TABLE))
def test_table(text, shown):
    assert printable(text) == shown


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_nothing_that_moves_the_cursor_is_left(text):
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert not [one for one in shown if ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0]
    shown.encode()


@given(st.binary())
def test_bytes_come_back(raw):
    assert encode(decode(raw)) == raw
