"""The hidden directory in which a change is prepared, held by one run at a time."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from builtin_plugins.io.files.atomic import remove_tree
from builtin_plugins.io.files.flock import take_lock
from host import OperationError

NEW, OLD = "new", "old"  # the versions that may be in it

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def hold_stage(path: str, in_use: Callable[[], bool]) -> Iterator[str]:
    """Make the directory `path`, or take over what a killed run left, and hold its lock.

    Yields `path`. At the end it is removed with all that is in it, unless `in_use` says
    that the command starts from there. Raises OperationError when another run holds it
    or it is not ours, OSError when it cannot be made.
    """
    with ExitStack() as held:
        held.callback(os.close, _acquire(path))
        try:
            yield path
        finally:
            if not in_use():
                with suppress(OSError):
                    remove_tree(path)


def _acquire(path: str) -> int:
    """Return a locked descriptor of the directory that is at `path` now."""
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    with ExitStack() as undo, suppress(FileNotFoundError):
        try:
            descriptor = os.open(path, _DIRECTORY)
        except NotADirectoryError:  # a link is none, either
            raise OperationError(f"{path} is in the way", "remove it") from None
        undo.callback(os.close, descriptor)
        held = os.fstat(descriptor)
        if held.st_uid != os.geteuid():
            raise OperationError(f"{path} belongs to another user", "remove it")
        if not take_lock(descriptor):
            raise OperationError(f"another setup is at work in {path}")
        if os.path.samestat(os.lstat(path), held):
            undo.pop_all()
            return descriptor
    return _acquire(path)  # its holder removed it just now


def clear_stage(path: str) -> None:
    """Remove what is in the stage, and keep the stage and its lock."""
    for name in os.listdir(path):
        remove_tree(os.path.join(path, name))
