"""Two directories change places in one system call, so that neither is ever missing."""

import ctypes
import errno
import os
import sys

_AT_FDCWD = -100
_EXCHANGE = ctypes.c_uint(2)  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS


def exchange(one: str, other: str) -> None:
    """Let two directories change places; raises OSError where that cannot be done."""
    first, second = os.fsencode(one), os.fsencode(other)
    library = ctypes.CDLL(None, use_errno=True)
    try:
        if sys.platform == "darwin":
            status = library.renamex_np(first, second, _EXCHANGE)
        else:
            status = library.renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _EXCHANGE)
    except AttributeError:
        ctypes.set_errno(errno.ENOSYS)
        status = -1
    if status:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), other)
