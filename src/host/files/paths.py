"""Paths, and the files at them: what a run needs of `os.path` and `open`.

The functions use `posix`, because importing `os` takes a tenth of the time of a run.
"""

import _stat
import posix

from host.errors import HostError, Problem

_MOST_LINKS = 40  # symbolic links in one path, like the kernel's limit
_LARGEST = 16 << 20  # bytes; larger files are refused
_LARGEST_CACHE = 1 << 28  # an index of 100,000 commands has 27 MB
_WRITABLE_BY_OTHERS = 0o022
# bytes per read; for larger buffers, malloc asks the kernel for memory
_CHUNK = 64 << 10


def join(directory: str, path: str) -> str:
    """Return `path` joined to `directory`; an absolute path is returned unchanged."""
    if path.startswith("/") or not directory:
        return path
    if directory.endswith("/"):
        return f"{directory}{path}"
    return f"{directory}/{path}"


def dirname(path: str) -> str:
    directory = path[: path.rfind("/") + 1]
    return directory.rstrip("/") or directory


def basename(path: str) -> str:
    return path.rpartition("/")[2]


def realpath(path: str) -> str:
    """Return the absolute path without symbolic links; missing parts are kept as they are.

    Raises OSError for a relative path in a deleted current directory.
    """
    absolute = path if path.startswith("/") else f"{posix.getcwd()}/{path}"
    pending = absolute.split("/")  # the parts that are left, the next one last
    pending.reverse()
    real = ""
    links = 0
    while pending:
        name = pending.pop()
        if name in ("", "."):
            continue
        if name == "..":
            real = dirname(real).rstrip("/")
            continue

        try:
            target = posix.readlink(f"{real}/{name}")
        except OSError:  # it is no link, or it is missing
            real = f"{real}/{name}"
            continue

        links += 1
        if links > _MOST_LINKS:
            return path
        if target.startswith("/"):
            real = ""
        pending += reversed(target.split("/"))
    return real or "/"


def why_outside(directory: str, path: str) -> str:
    """Return why `path`, with links followed, is outside `directory`, or "" if it is inside."""
    joined = join(directory, path)
    is_plain_name = "/" not in path and path not in ("", ".", "..")
    if is_plain_name and not is_link(joined):
        # as for most entrypoints; saves a system call for each part of the path
        return ""

    target = realpath(joined)
    if target.startswith(realpath(directory) + "/"):
        return ""
    return f"{path} leads to {target}, which is outside the command's folder"


def is_inside(path: str, directory: str) -> bool:
    """Return whether the real path `path` is the real path `directory` or below it."""
    return f"{path}/".startswith(f"{directory.rstrip('/')}/")


def is_file(path: str) -> bool:
    return _stat.S_ISREG(_mode(path))


def is_directory(path: str) -> bool:
    return _stat.S_ISDIR(_mode(path))


def is_link(path: str) -> bool:
    return _stat.S_ISLNK(_mode(path, follow=False))


def is_there(path: str) -> bool:
    """Return whether `path` exists, even as a dangling link."""
    return _mode(path, follow=False) != 0


def _mode(path: str, *, follow: bool = True) -> int:
    try:
        return posix.stat(path, follow_symlinks=follow).st_mode
    except (OSError, ValueError):  # ValueError: an invalid path, for example with a NUL
        return 0


def shipped(path: str) -> str:
    """Return where the program has a file or folder that it ships, such as "core/lib".

    A wheel has it in `host/skeleton`, and a checkout at its root.
    """
    package = dirname(dirname(__file__))
    skeleton = join(package, "skeleton")
    if is_directory(skeleton):
        return join(skeleton, path)
    return join(dirname(dirname(package)), path)


def read_regular(path: str, error: "type[HostError]", limit: int = _LARGEST) -> bytes:
    """Return the content of a regular file; never block on a FIFO or device.

    Raises FileNotFoundError (also for a dangling link), or `error` if the file is not regular, is
    larger than `limit` bytes or cannot be read.
    """
    try:
        # O_NONBLOCK, because opening a FIFO would wait for its writer
        flags = posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC | posix.O_NOCTTY
        descriptor = posix.open(path, flags)
        try:
            status = posix.fstat(descriptor)
            if not _stat.S_ISREG(status.st_mode):
                raise error(Problem(path, "not a regular file"))
            content = _read(descriptor, status.st_size, limit)
        finally:
            posix.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as failure:
        raise error(Problem(path, failure.strerror or str(failure))) from None

    if len(content) > limit:
        raise error(Problem(path, f"larger than {limit} bytes"))
    return content


def _read(descriptor: int, size: int, limit: int) -> bytes:
    """Return the content of a file that has `size` bytes, or a part longer than `limit`."""
    content = posix.read(descriptor, min(size, limit) + 1)
    if len(content) == size:
        return content

    # The file has changed meanwhile, or it has no size, as in /proc.
    while len(content) <= limit:
        chunk = posix.read(descriptor, _CHUNK)
        if not chunk:
            break
        content += chunk
    return content


def own_content(path: str) -> bytes:
    """Return the bytes of a cache file. Raises OSError if another user may have written it."""
    status = posix.stat(path)
    is_trusted_owner = status.st_uid in (0, posix.geteuid())
    if not is_trusted_owner or status.st_mode & _WRITABLE_BY_OTHERS:
        raise PermissionError(path)
    return read_regular(path, HostError, _LARGEST_CACHE)
