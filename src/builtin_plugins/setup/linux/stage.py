"""The hidden directory in which a change is prepared, held by one run at a time."""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from host.errors import OperationError
from host.run.text import printable

_TRIES = 20


@contextmanager
def hold_stage(path: str, in_use: Callable[[], bool]) -> Iterator[str]:
    """Make the directory `path`, or take over what a killed run left, and hold its lock.

    Yields `path`. At the end it is removed with all that is in it, unless `in_use` says
    that the command starts from there. Raises OperationError when another run holds it
    or it is not ours, OSError when it cannot be made.
    """
    descriptor = _acquire(path)
    try:
        yield path
    finally:
        if not in_use():
            with suppress(OSError):
                remove_tree(path)
        os.close(descriptor)


def _acquire(path: str) -> int:
    """Return a locked descriptor of the directory that is at `path` now."""
    for _ in range(_TRIES):
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # its holder removed it just now
        except OSError as failure:
            if failure.errno in (errno.ELOOP, errno.ENOTDIR):
                raise OperationError(f"{printable(path)} is in the way; remove it") from None
            raise
        try:
            if _lock(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise OperationError(f"{printable(path)} keeps changing; try again")


def _lock(descriptor: int, path: str) -> bool:
    """Lock the directory; False when it is not the one at `path` any more."""
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid():
        raise OperationError(f"{printable(path)} belongs to another user; remove it")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OperationError(f"another setup is at work in {printable(path)}") from None
    try:
        now = os.lstat(path)
    except FileNotFoundError:
        return False
    return (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino)


def make_directory(path: str) -> None:
    """Make `path` and what is missing above it, for all to read whatever the umask."""
    if not os.path.isdir(path):
        make_directory(os.path.dirname(path))
        os.mkdir(path)
        os.chmod(path, 0o755)  # noqa: S103  # whatever the umask


def clear_stage(path: str) -> None:
    """Remove what is in the stage, and keep the stage and its lock."""
    for name in os.listdir(path):
        remove_tree(os.path.join(path, name))


def remove_tree(path: str) -> None:
    """Remove a file or a whole directory, never following a link, however deep it is.

    Directories below the top are first moved up into it, so neither recursion nor the
    length of a path has a limit to run into. Raises OSError.
    """
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
    except FileNotFoundError:
        return
    top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fchmod(top, 0o700)
        while names := os.listdir(top):
            for name in names:
                _remove_or_lift(top, name)
    finally:
        os.close(top)
    os.rmdir(path)


def _remove_or_lift(top: int, name: str) -> None:
    """Remove entry `name` of directory `top`; move directories inside it into `top`."""
    if not stat.S_ISDIR(os.lstat(name, dir_fd=top).st_mode):
        os.unlink(name, dir_fd=top)
        return
    inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
    try:
        os.fchmod(inner, 0o700)
        for number, child in enumerate(os.listdir(inner)):
            if stat.S_ISDIR(os.lstat(child, dir_fd=inner).st_mode):
                _lift(inner, child, top, number)
            else:
                os.unlink(child, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)


def _lift(inner: int, child: str, top: int, number: int) -> None:
    """Move directory `child` up under a name that is free."""
    while True:
        free = f".{number}.{os.urandom(6).hex()}"
        try:
            os.lstat(free, dir_fd=top)
        except FileNotFoundError:
            os.rename(child, free, src_dir_fd=inner, dst_dir_fd=top)
            return
