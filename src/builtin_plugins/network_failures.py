"""What went wrong on the network, in a few words."""

import requests

_CUT_SHORT = ("IncompleteRead", "InvalidChunkLength", "ended prematurely")


def worded(failure: BaseException) -> str:
    """Word a network failure in a few words; never with the address, which may hold secrets."""
    text = repr(failure)
    if isinstance(failure, requests.Timeout) or "Timeout" in text or "timed out" in text:
        return "no answer in time"
    seen: BaseException | None = failure
    while seen is not None:
        for inner in (seen, *seen.args):
            if isinstance(inner, OSError) and inner.strerror:
                return inner.strerror.lower()
        reason = getattr(seen, "reason", None)
        seen = reason if isinstance(reason, BaseException) else _first_inner(seen)
    if "NameResolution" in text:
        return "no such host"
    if any(sign in text for sign in _CUT_SHORT):
        return "the body was cut short"
    if isinstance(failure, requests.exceptions.ProxyError):
        return "the proxy did not answer"
    return (
        "the connection failed"
        if isinstance(failure, requests.ConnectionError)
        else ("not a usable answer")
    )


def _first_inner(failure: BaseException) -> BaseException | None:
    """Return the exception that `failure` was made from, when it keeps one."""
    for argument in failure.args:
        if isinstance(argument, BaseException):
            return argument
    return failure.__cause__ or failure.__context__
