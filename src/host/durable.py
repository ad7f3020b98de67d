"""Files that survive a crash: written whole, flushed to the disk, then renamed into place."""

import os


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
    try:
        sync_directory(directory)
    except OSError:
        pass  # it is in place: whoever asks sees the new file


def discard(path: str) -> None:
    """Remove a file or link that may be gone already, or may have to stay."""
    try:
        os.unlink(path)
    except OSError:
        pass


def sync_directory(path: str) -> None:
    """Make the names in a directory survive a power cut; raises OSError."""
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
