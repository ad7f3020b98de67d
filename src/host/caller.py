"""The environment as the caller gave it, without what Python adds."""

import os


def caller_environment() -> dict[bytes, bytes]:
    """Return the environment as the caller gave it.

    In the C locale Python sets LC_CTYPE in its own; the kernel knows better.
    """
    environ = dict(os.environb)
    environ.pop(b"", None)  # "=value": Python reads it and refuses to hand it on
    if environ.get(b"LC_CTYPE") in (b"C.UTF-8", b"C.utf8", b"UTF-8"):
        given = _given_lc_ctype()
        if given is None:
            del environ[b"LC_CTYPE"]
        else:
            environ[b"LC_CTYPE"] = given
    return environ


def _given_lc_ctype() -> bytes | None:
    try:
        with open("/proc/self/environ", "rb") as file:
            _, given, rest = (b"\0" + file.read()).partition(b"\0LC_CTYPE=")
    except OSError:
        return None
    return rest.partition(b"\0")[0] if given else None
