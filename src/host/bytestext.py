"""Bytes of the system ↔ text, the same whatever the caller's locale is.

Arguments and environment are bytes. Inside the program they are UTF-8 text in
which each byte that is not UTF-8 stands as a surrogate, so both ways are exact.
"""


def decode(raw: bytes) -> str:
    """Return `raw` as text that `encode` turns back into exactly `raw`."""
    return raw.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text made by `decode` or read from a UTF-8 file."""
    return text.encode("utf-8", "surrogateescape")
