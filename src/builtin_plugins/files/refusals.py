"""What the system refuses, told in one line."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from host import OperationError


@contextmanager
def explained(otherwise: object = "") -> Iterator[None]:
    """Turn a failed system call into an OperationError that names its file, else `otherwise`."""
    try:
        yield
    except OSError as failure:
        named = failure.filename2 or failure.filename or str(otherwise)
        where = f"{os.fsdecode(named)}: " if named else ""
        raise OperationError(f"{where}{failure.strerror or failure}") from None
