"""Two directories change places in one system call, so that neither is ever missing."""

import ctypes
import os
import sys

_AT_FDCWD = -100
_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS


def exchange(one: str, other: str) -> bool:
    """Let two directories change places; False where that cannot be done."""
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(library.renamex_np(first, second, ctypes.c_uint(_EXCHANGE)) == 0)
        call = library.renameat2
    except (OSError, AttributeError):
        return False
    status = call(_AT_FDCWD, first, _AT_FDCWD, second, ctypes.c_uint(_EXCHANGE))
    return bool(status == 0)


def exchange_or_raise(one: str, other: str) -> None:
    """Let two directories change places; raises OSError where that cannot be done."""
    if not exchange(one, other):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), other)
