"""The span that the command of a traced run gets as TRACEPARENT."""

from __future__ import annotations

import re

import pytest

from host.launch.trace import new_span
from host.plugin_functions import AfterRun

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLS = [AfterRun("a", "a:b"), AfterRun("t", "t:b", traced_if=("ALSO", "COLLECTOR"))]


@pytest.mark.parametrize(
    ("callers", "trace", "flags"),
    [
        ("", "", "01"),
        (f"00-{TRACE}-b7ad6b7169203331-01", TRACE, "01"),
        (f"00-{TRACE}-b7ad6b7169203331-00", TRACE, "00"),
        (f" \t01-{TRACE}-b7ad6b7169203331-03-later ", TRACE, "03"),
        (f"00-{TRACE}-b7ad6b7169203331-00-later", "", "01"),
        (f"ff-{TRACE}-b7ad6b7169203331-00", "", "01"),
        (f"00-{TRACE.upper()}-b7ad6b7169203331-00", "", "01"),
        (f"00-{TRACE}-{'0' * 16}-00", "", "01"),
        (f"00-{'0' * 32}-b7ad6b7169203331-00", "", "01"),
        (f"00-{TRACE}-b7ad6b7169203331", "", "01"),
        (f"00-{TRACE[:-1]}-b7ad6b7169203331-00", "", "01"),
        ("00", "", "01"),
    ],
)
def test_the_trace_is_that_of_the_caller(callers: str, trace: str, flags: str) -> None:
    spans = {new_span(CALLS, {"COLLECTOR": "x", "TRACEPARENT": callers}) for _ in "12"}
    assert len(spans) == 2
    for span in spans:
        assert re.fullmatch(
            f"00-{trace or '[0-9a-f]{32}'}-[0-9a-f]{{16}}-{flags}", span
        )
        assert trace or TRACE not in span.lower()


def test_no_span_without_its_variables() -> None:
    assert not CALLS[1].serves(("a",), {"COLLECTOR": ""})
    assert CALLS[1].serves(("a",), {"COLLECTOR": "x"})
    assert new_span(CALLS[:1], {"COLLECTOR": "x"}) == ""
