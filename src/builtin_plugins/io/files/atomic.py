"""Files, links and directories: whole or not at all, and still so after a crash.

`write_file` and `write_link` are how everything here writes what others read. One writer
at a time: who calls holds the lock that serializes changes of that file (`files.locks`).
"""

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from host import OperationError

_AT_FDCWD = -100
_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS


def write_file(path: str, content: bytes | str, mode: int | None = None) -> None:
    """Put `content` at `path` so that a reader, or a power cut, finds the old file or the new.

    Without `mode` a file that is replaced keeps its own mode and owner, and a new one is
    for whom its directory is; never does the umask count. Raises OSError naming `path`; nothing
    is left behind then. What a kill leaves (`temporary`) goes with the next write.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with _successor(path) as beside:
        with open(os.open(beside, flags, 0o600), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            _set_mode(path, file.fileno(), mode)
            os.fsync(file.fileno())
        os.rename(beside, path)
    sync_directory(os.path.dirname(path))


def _set_mode(path: str, descriptor: int, mode: int | None) -> None:
    """Give the new file `mode`, else that of the old one, else what its directory is for."""
    if mode is None:
        try:
            former = os.stat(path)
        except FileNotFoundError:
            mode = stat.S_IMODE(os.stat(os.path.dirname(path) or ".").st_mode) & 0o666
        else:
            mode = stat.S_IMODE(former.st_mode)
            if os.geteuid() == 0:
                os.fchown(descriptor, former.st_uid, former.st_gid)
    os.fchmod(descriptor, mode)


def make_directory(path: str, mode: int | None = None, undo: ExitStack | None = None) -> None:
    """Make `path` and what is missing above it; raises OSError.

    Without `mode` they are for whom the first one there is. `undo` removes those still empty.
    """
    above = os.path.dirname(path)
    if os.path.isdir(path):
        return
    make_directory(above, mode, undo)
    with suppress(FileExistsError):
        os.mkdir(path)
        if undo is not None:
            undo.callback(_remove_empty, path)
        os.chmod(path, mode_below(above) if mode is None else mode)


def _remove_empty(path: str) -> None:
    with suppress(OSError):
        os.rmdir(path)


def mode_below(directory: str) -> int:
    """Return the mode that a new directory in `directory` has for the same people."""
    return stat.S_IMODE(os.stat(directory).st_mode) & 0o2777


def write_link(path: str, target: str) -> None:
    """Point the link `path` to `target`, or make it, in one step; raises OSError."""
    with _successor(path) as beside:
        with suppress(FileExistsError):  # a new one is there at once, and a kill leaves nothing
            os.symlink(target, path)
            return
        os.symlink(target, beside)
        os.rename(beside, path)


@contextmanager
def _successor(path: str) -> Iterator[str]:
    """Give the name under which the successor of `path` is made; errors name `path` itself."""
    beside = temporary(path)
    discard(beside)
    try:
        yield beside
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, path) from None
    finally:
        discard(beside)


def temporary(path: str) -> str:
    """Return the hidden name beside `path` under which its successor is made."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.tmp")


def discard(path: str) -> None:
    """Remove a file or link that may be gone already, or may have to stay."""
    with suppress(OSError):
        os.unlink(path)


def remove_tree(path: str) -> None:
    """Remove a file, a link, or a directory with all in it; raises OSError, OperationError."""
    if not is_tree(path):
        os.unlink(path)
        return
    import shutil  # here, as for `_call`

    try:
        shutil.rmtree(path)
    except RecursionError:
        raise OperationError(f"{path} is too deep to be removed here", f"rm -r {path}") from None


def is_tree(path: str) -> bool:
    """Tell whether `path` is a directory itself, no link to one."""
    return os.path.isdir(path) and not os.path.islink(path)


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
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _call("syncfs", descriptor, path=path)
    except OSError as failure:
        if failure.errno != errno.ENOSYS:
            raise
        os.sync()
    finally:
        os.close(descriptor)


def exchange(one: str, other: str) -> None:
    """Let two directories change places in one step; raises OSError where that cannot be done."""
    first, second = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        _call("renamex_np", first, second, _EXCHANGE, path=other)
    else:
        _call("renameat2", _AT_FDCWD, first, _AT_FDCWD, second, _EXCHANGE, path=other)


def _call(name: str, *arguments: int | bytes, path: str) -> None:
    """Call a function of the system that Python does not have; raises OSError naming `path`."""
    import ctypes  # here, as listings of plugins load this module and need none

    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None or function(*arguments):
        code = ctypes.get_errno() if function else errno.ENOSYS
        raise OSError(code, os.strerror(code), path)
