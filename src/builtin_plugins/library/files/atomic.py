"""Change files, links and directories atomically, even if the system crashes.

Every file or link that other processes read is written by `write_file` or `write_link`. The caller
holds the file lock for that file (`file_lock`), so there is one writer at a time.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from host import OperationError


def write_file(path: str, content: bytes | str, mode: int | None = None) -> None:
    """Write `content` to `path` in one step: after a crash, it has the old content or the new.

    Without `mode`, a replaced file keeps its mode and owner. A new file gets the read and write
    permissions of its directory, regardless of the umask. Raises OSError, which names `path`. A
    killed process leaves the file `temporary(path)`, which the next write removes.
    """
    with staged_files({path: content}, mode) as replace:
        replace(path)


@contextmanager
def staged_files(
    contents: Mapping[str, bytes | str], mode: int | None = None, area: str = ""
) -> Iterator[Callable[[str], None]]:
    """Store the new contents of files beside them; yield a function that replaces one of the files.

    With `area`, a directory on the same file system, they are stored there. The function takes a
    path and replaces that file in one step, as `write_file` does. The block therefore only renames:
    a full disk or a slow one has shown itself before the first file is replaced. Raises OSError,
    which names the file's path.
    """
    stored = {path: temporary(path) for path in contents}
    if area:
        stored = {path: os.path.join(area, os.path.basename(path)) for path in contents}

    with ExitStack() as cleanup:
        for path, content in contents.items():
            beside = stored[path]
            discard(beside)
            cleanup.callback(discard, beside)
            with _errors_name(path):
                _store(path, beside, content, mode)

        def replace(path: str) -> None:
            with _errors_name(path):
                os.rename(stored[path], path)

        yield replace

        # Without this, the new names could be lost in a crash.
        for path in contents:
            sync_directory(os.path.dirname(path))


def _store(path: str, beside: str, content: bytes | str, mode: int | None) -> None:
    """Write the file that will replace `path` to `beside`, and flush it to the disk."""
    if isinstance(content, str):
        content = content.encode()

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(beside, flags, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        _set_mode(path, descriptor, mode)
        os.fsync(descriptor)


def _set_mode(path: str, descriptor: int, mode: int | None) -> None:
    """Set the mode of the open file that will replace `path`.

    Without `mode`, it gets the mode of the old file or, if there is none, the read and write
    permissions of the directory. If the process runs as root, the old file's owner is kept too.
    """
    if mode is not None:
        os.fchmod(descriptor, mode)
        return

    try:
        former = os.stat(path)
    except FileNotFoundError:
        above = os.path.dirname(path) or "."
        directory = os.stat(above)
        permissions = stat.S_IMODE(directory.st_mode)
        os.fchmod(descriptor, permissions & 0o666)
        return

    # The owner comes first, because a change of the owner may clear bits of the mode.
    if os.geteuid() == 0:
        os.fchown(descriptor, former.st_uid, former.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(former.st_mode))


def make_directory(
    path: str, mode: int | None = None, undo: ExitStack | None = None
) -> None:
    """Make the directory `path` and its missing parents. Raises OSError.

    Without `mode`, they get the mode of the nearest existing parent. `undo` gets steps that
    remove the new directories if they are empty.
    """
    if os.path.isdir(path):
        return

    above = os.path.dirname(path)
    make_directory(above, mode, undo)

    # Another process may make the same directory at this moment.
    with suppress(FileExistsError):
        os.mkdir(path)
        if undo is not None:
            undo.callback(_remove_empty, path)
        if mode is None:
            mode = mode_below(above)
        os.chmod(path, mode)  # regardless of the umask


def _remove_empty(path: str) -> None:
    with suppress(OSError):
        os.rmdir(path)


def mode_below(directory: str) -> int:
    """Return the permission and setgid bits of `directory`, for a new directory in it."""
    return stat.S_IMODE(os.stat(directory).st_mode) & 0o2777


def write_link(path: str, target: str) -> None:
    """Create or replace the link at `path` in one step; it points to `target`. Raises OSError."""
    beside = temporary(path)
    discard(beside)
    try:
        with _errors_name(path):
            os.symlink(target, beside)
            os.rename(beside, path)
    finally:
        discard(beside)


@contextmanager
def _errors_name(path: str) -> Iterator[None]:
    """Make each OSError of the block name `path`, not its temporary path."""
    try:
        yield
    except OSError as failure:
        raise OSError(failure.errno, failure.strerror, path) from None


def temporary(path: str) -> str:
    """Return the hidden path, in the same directory, where the replacement of `path` is written."""
    directory, name = os.path.split(path)
    return os.path.join(directory, f".{name}.tmp")


def discard(path: str) -> None:
    """Remove a file or link, and ignore errors, such as a missing file."""
    with suppress(OSError):
        os.unlink(path)


def remove_path(path: str) -> None:
    """Remove a file, a link or a whole directory. Raises OSError."""
    import shutil  # imported here to keep `self plugin list` fast

    if is_real_dir(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def copy_directory(source: str, target: str, **how: Any) -> None:
    """Copy a directory with `shutil.copytree`; links stay links.

    Raises OSError or OperationError.
    """
    import shutil  # imported here to keep `self plugin list` fast

    try:
        shutil.copytree(source, target, symlinks=True, **how)
    except shutil.Error as error:
        # Its argument lists all failures, each with the source, the target and the reason.
        _source, _target, reason = error.args[0][0]
        raise OperationError(reason) from None


def is_real_file(path: str) -> bool:
    """Return whether `path` is a regular file and not a link to one."""
    if os.path.islink(path):
        return False
    return os.path.isfile(path)


def is_real_dir(path: str) -> bool:
    """Return whether `path` is a directory and not a link to a directory."""
    if os.path.islink(path):
        return False
    return os.path.isdir(path)


def sync_directory(path: str) -> None:
    """Flush the entries of the directory `path` to the disk, if the file system supports it."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sync_file_system(path: str) -> None:
    """Flush the whole file system of `path` to the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _call("syncfs", descriptor, path=path)
    except OSError as failure:
        if failure.errno != errno.ENOSYS:
            raise
        os.sync()
    finally:
        os.close(descriptor)


def _call(name: str, *arguments: int | bytes, path: str) -> None:
    """Call a C library function that Python does not offer. Raises OSError, which names `path`."""
    import ctypes  # imported here to keep `self plugin list` fast

    library = ctypes.CDLL(None, use_errno=True)
    function = getattr(library, name, None)
    if function is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), path)

    failed = function(*arguments)
    if failed:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), path)
