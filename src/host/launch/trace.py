"""The span of a run that a plugin traces: W3C Trace Context, in the variable TRACEPARENT."""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from host.plugin_functions import AfterRun

TRACEPARENT = (
    "TRACEPARENT"  # VERSION-TRACE-SPAN-FLAGS, in lower-case hexadecimal digits
)

_LENGTHS = [2, 32, 16, 2]
_DIGITS = frozenset("0123456789abcdef")
_SAMPLED = "01"


def new_span(calls: "Sequence[AfterRun]", environ: "Mapping[str, str]") -> str:
    """Return a new span for a run, or "" if none of `calls` traces it.

    It belongs to the trace of its caller, whose environment is `environ`, or else to a new one.
    """
    if not any(call.traced_if for call in calls):
        return ""

    trace, flags = posix.urandom(16).hex(), _SAMPLED
    parts = environ.get(TRACEPARENT, "").strip(" \t").split("-")
    if _is_valid(parts):
        _, trace, _, flags = parts[:4]
    return f"00-{trace}-{posix.urandom(8).hex()}-{flags}"


def _is_valid(parts: "Sequence[str]") -> bool:
    """Return whether these are the parts of a TRACEPARENT; a later version may have more."""
    version, *ids = parts
    if version == "ff" or (version == "00" and len(parts) > len(_LENGTHS)):
        return False
    if list(map(len, parts[:4])) != _LENGTHS or not _DIGITS.issuperset(
        "".join(parts[:4])
    ):
        return False
    return all(any(digit != "0" for digit in part) for part in ids[:2])
