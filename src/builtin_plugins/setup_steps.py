"""The single steps of a change: each is one system call on the disk, or whole or nothing."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


def copy_linked(source: str, target: str) -> None:
    """Make a second tree of the same files, open to all; takes no space for their content."""
    pending = [""]
    while pending:
        inside = pending.pop()
        os.mkdir(os.path.join(target, inside))
        os.chmod(os.path.join(target, inside), 0o755)  # noqa: S103  # whatever the umask
        with os.scandir(os.path.join(source, inside)) as entries:
            for entry in entries:
                place = os.path.join(inside, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    pending.append(place)
                elif entry.is_symlink():
                    os.symlink(os.readlink(entry.path), os.path.join(target, place))
                else:
                    os.link(entry.path, os.path.join(target, place))


def replace_file(path: str, text: str) -> None:
    """Write a file that others can read; whole or not at all."""
    beside = temporary(path)
    with suppress(FileNotFoundError):
        os.unlink(beside)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(beside, flags, 0o644), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        os.rename(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def replace_link(path: str, target: str) -> None:
    """Point the link `path` to `target`, or make it, in one step; raises OSError."""
    beside = temporary(path)
    with suppress(FileNotFoundError):
        os.unlink(beside)
    os.symlink(target, beside)
    try:
        os.rename(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def temporary(path: str) -> str:
    """Return the hidden name beside `path` under which its successor is made."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.setup")


@contextmanager
def undoing() -> Iterator[list[Callable[[], None]]]:
    """Collect undo steps and run them backwards when the block fails.

    An undo that fails too ends the chain: the next run heals from there.
    """
    steps: list[Callable[[], None]] = []
    try:
        yield steps
    except BaseException:
        with suppress(OSError):
            for step in reversed(steps):
                step()
        raise


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C and polite kills back for the few milliseconds of a change."""
    held = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    former = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def sync_directory(path: str) -> None:
    """Make renames in `path` durable; a file system that cannot is no error."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
