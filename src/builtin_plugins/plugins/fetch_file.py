"""Copy or download a file, and check it against a SHA-256."""

import hashlib
import os
import shutil
import stat
from pathlib import Path

from builtin_plugins.library.addresses import bare_address
from builtin_plugins.library.archive import MOST_BYTES
from builtin_plugins.library.progress import progress_bar
from builtin_plugins.plugins.change import Change
from host import OperationError


def fetch_file(address: str, sha256: str, target: Path, change: Change) -> str:
    """Copy or download a file; return its SHA-256. `sha256` is the expected one, or "" for any."""
    if "://" in address:
        # Imported here: importing requests takes 0.1 seconds, and most changes do not need it.
        from builtin_plugins.library.download import download

        with progress_bar(change.messages, bare_address(address)) as bar:
            return download(
                address,
                target,
                seconds=change.seconds,
                size=MOST_BYTES,
                sha256=sha256,
                progress=bar,
            )

    try:
        # The address may be from somebody's registry; a device may have no end.
        if not stat.S_ISREG(os.stat(address).st_mode):
            raise OperationError(f"{address}: not a regular file")
        if os.path.getsize(address) > MOST_BYTES:
            raise OperationError(f"{address}: larger than {MOST_BYTES} bytes")
        shutil.copyfile(address, target)
    except FileNotFoundError:
        raise OperationError(f"{address}: no such file") from None
    return verified_sha256(target, sha256, address)


def verified_sha256(path: str | Path, expected: str, called: str = "") -> str:
    """Return the SHA-256 of a file. `expected` is the right one, or "" for any.

    Raises OperationError for another SHA-256; the error uses the name `called`, if it is not "".
    """
    with open(path, "rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if expected in ("", sha256):
        return sha256

    if not called:
        called = os.path.basename(path)
    raise OperationError(f"{called}: the SHA-256 is {sha256}, expected {expected}")
