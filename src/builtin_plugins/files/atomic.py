"""Files that survive a crash: written whole, flushed to the disk, then renamed into place."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


def write_durably(path: str, content: bytes, mode: int = 0o644) -> None:
    """Put `content` at `path` so that a reader, or a power cut, finds the old file or the new.

    The mode of a file that is replaced is kept; `mode` less the umask is a new one's.
    Raises OSError; nothing is left behind then.
    """
    directory, name = os.path.split(path)
    temporary = os.path.join(directory, f".{name}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, mode)
    try:
        try:
            _keep_mode(path, descriptor)
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, path)
    except BaseException:
        discard(temporary)
        raise
    sync_directory(directory)


def discard(path: str) -> None:
    """Remove a file or link that may be gone already, or may have to stay."""
    try:
        os.unlink(path)
    except OSError:
        pass


def sync_directory(path: str) -> None:
    """Make the names in `path` survive a power cut; a file system that cannot is no error."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sync_file_system(path: str) -> None:
    """Write everything on the file system of `path` through to the disk; raises OSError."""
    import ctypes

    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        call = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if call is None:
            os.sync()
        elif call(descriptor):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), path)
    finally:
        os.close(descriptor)


def _keep_mode(path: str, descriptor: int) -> None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return
    os.fchmod(descriptor, status.st_mode & 0o7777)
    if os.geteuid() == 0:
        os.fchown(descriptor, status.st_uid, status.st_gid)


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
