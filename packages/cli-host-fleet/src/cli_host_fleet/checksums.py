"""The output of `sha256sum`."""

from __future__ import annotations

import os


def read_sums(printed: bytes) -> dict[str, str]:
    """Return the checksums in the output of `sha256sum`, by file name."""
    sums: dict[str, str] = {}
    for line in printed.splitlines():
        # GNU's sha256sum begins a line with a backslash if the name has escapes.
        is_escaped = line.startswith(b"\\")
        digest, space, name = line.removeprefix(b"\\").partition(b" ")
        if not space:
            continue

        # A second space or an asterisk stands for text or binary; `find .` begins names with ./
        if name.startswith((b" ", b"*")):
            name = name[1:].removeprefix(b"./")
        if is_escaped:
            name = name.replace(b"\\n", b"\n").replace(b"\\\\", b"\\")
        sums[os.fsdecode(name)] = digest.decode("ascii", "replace")
    return sums
