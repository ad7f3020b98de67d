"""The modules that a run of a command loads, which must import fast.

The stages of a command: a plugin yields a `CommandTree` or `CommandDeclaration`, the lock stores it
as `Tree` or `Declared`, a catalog opens it as `FolderNode` or `DeclaredNode`, and resolving words
gives a `Match` with the `Definition`. Listings show it as a `Command`.

The stages of an installation: `Layout` has its paths, `OpenInstallation` adds the content of
cli.json, and `Session` (`host.cli`) adds the lock, the catalog and the terminal for everything
that runs in this process. `Program` is the public view of a session.

This module has `Record`, the base of all records, and functions for paths, files and programs on
PATH. They use `posix`, because importing `os` takes a tenth of the time of a run.
"""

import _stat
import posix

from host.errors import HostError, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, Self, dataclass_transform

else:

    def dataclass_transform():  # noqa: ANN201 - only a type checker uses it
        return lambda kind: kind


EFFECTS = ("read", "change", "destroy")  # values of the key "effects", the mildest first

# The path that bash searches if PATH is unset.
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_MOST_LINKS = 40  # symbolic links in one path, like the kernel's limit
_LARGEST = 16 << 20  # bytes; larger files are refused
_CHUNK = 64 << 10  # bytes per read; for larger buffers, malloc asks the kernel for memory


@dataclass_transform()
class Record:
    """Named values, set by position or keyword; records of one class with equal values are equal.

    A class attribute is the default for the value with its name. `values()` returns all values by
    name, and `replaced(name=value)` returns a copy with other values.
    """

    # Importing `dataclasses` would take as long as a whole run. Classes with many instances, such
    # as `Assignment`, have slots instead, which makes creating them three times as fast.

    _fields: "ClassVar[tuple[str, ...]]" = ()
    _known: "ClassVar[frozenset[str]]" = frozenset()
    _needed: "ClassVar[frozenset[str]]" = frozenset()

    def __init_subclass__(cls) -> None:
        cls._fields += tuple(cls.__annotations__)
        cls._known = frozenset(cls._fields)
        cls._needed = frozenset([one for one in cls._fields if not hasattr(cls, one)])
        if "__init__" not in vars(cls):  # the constructor of the base may lack values of this class
            cls.__init__ = Record.__init__  # type: ignore[method-assign]

    def __init__(self, *values: "Any", **named: "Any") -> None:
        given = len(values) + len(named)
        if values:
            named.update(zip(self._fields, values))  # noqa: B905 - the count is checked
        if len(named) < given or not self._needed <= named.keys() <= self._known:
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}, each once")
        self.__dict__.update(named)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(tuple(self.row()))

    def __repr__(self) -> str:
        values = ", ".join([f"{name}={value!r}" for name, value in self.values().items()])
        return f"{type(self).__name__}({values})"

    def values(self) -> "dict[str, Any]":
        """Return the values by name."""
        return {name: getattr(self, name) for name in self._fields}

    def replaced(self, **changes: "Any") -> "Self":
        """Return a copy of the record with `changes` applied."""
        return type(self)(**self.values() | changes)

    def row(self) -> "list[Any]":
        """Return the values as a list, in the order in which the class declares them."""
        return [getattr(self, name) for name in self._fields]

    @classmethod
    def of_row(cls, row: "Iterable[Any]") -> "Self":
        """Return a record with these values. Raises ValueError if there are too many or too few."""
        found = cls.__new__(cls)
        found.__dict__ = dict(zip(cls._fields, row, strict=True))
        return found


def join(directory: str, path: str) -> str:
    """Return `path` joined to `directory`; an absolute path is returned unchanged."""
    if path.startswith("/") or not directory:
        return path
    return f"{directory}{path}" if directory.endswith("/") else f"{directory}/{path}"


def dirname(path: str) -> str:
    directory = path[: path.rfind("/") + 1]
    return directory.rstrip("/") or directory


def basename(path: str) -> str:
    return path.rpartition("/")[2]


def realpath(path: str) -> str:
    """Return the absolute path without symbolic links; missing parts are kept as they are.

    Raises OSError for a relative path in a deleted current directory.
    """
    pending = (path if path.startswith("/") else f"{posix.getcwd()}/{path}").split("/")[::-1]
    real, links = "", 0
    while pending:
        name = pending.pop()
        if name in ("", "."):
            continue
        if name == "..":
            real = dirname(real).rstrip("/")
            continue
        try:
            target = posix.readlink(f"{real}/{name}")
        except OSError:
            real = f"{real}/{name}"
            continue
        links += 1
        if links > _MOST_LINKS:
            return path
        real = "" if target.startswith("/") else real
        pending += reversed(target.split("/"))
    return real or "/"


def why_outside(directory: str, path: str) -> str:
    """Return why `path`, with links followed, is outside `directory`, or "" if it is inside."""
    target = realpath(join(directory, path))
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


def read_regular(path: str, error: "type[HostError]", limit: int = _LARGEST) -> bytes:
    """Return the content of a regular file; never block on a FIFO or device.

    Raises FileNotFoundError (also for a dangling link), or `error` if the file is not regular, is
    larger than `limit` bytes or cannot be read.
    """
    try:
        descriptor = posix.open(
            path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC | posix.O_NOCTTY
        )
        try:
            status = posix.fstat(descriptor)
            if not _stat.S_ISREG(status.st_mode):
                raise error(Problem(path, "not a regular file"))
            content = posix.read(descriptor, min(status.st_size, limit) + 1)
            if len(content) != status.st_size:  # the file changed, or has no size, as in /proc
                while len(content) <= limit and (chunk := posix.read(descriptor, _CHUNK)):
                    content += chunk
        finally:
            posix.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as failure:
        raise error(Problem(path, failure.strerror or str(failure))) from None
    if len(content) > limit:
        raise error(Problem(path, f"larger than {limit} bytes"))
    return content


def own_content(path: str) -> bytes:
    """Return the bytes of a cache file. Raises OSError if another user may have written it."""
    status = posix.stat(path)
    if status.st_uid not in (0, posix.geteuid()) or status.st_mode & 0o022:
        raise PermissionError(path)
    return read_regular(path, HostError, 1 << 28)  # an index of 100,000 commands has 27 MB


def find_program(name: str, environ: "Mapping[str, str]") -> str | None:
    """Return the path of the executable `name` on PATH, or None.

    If PATH is unset, a default path is searched. A `name` with a slash is used as a path.
    Example::

        node = find_program("node", os.environ)
    """
    if "/" in name:
        return name if _is_executable(name) else None
    for directory in environ.get("PATH", DEFAULT_PATH).split(":"):
        candidate = join(directory or ".", name)
        if _is_executable(candidate):
            return candidate
    return None


def _is_executable(path: str) -> bool:
    return posix.access(path, posix.X_OK) and is_file(path)


def find_bash(environ: "Mapping[str, str]") -> str | None:
    """Return the path of bash for settings.conf and scripts: from PATH, or /bin/bash, or None."""
    return find_program("bash", environ) or find_program("/bin/bash", environ)


def working_directory(pwd: str) -> str:
    """Return the current directory: `pwd`, if it names that, or else its real path.

    POSIX shells follow this rule, too: programs such as `env -C`, `make -C` and `find -execdir`
    change the directory, but not PWD. In a deleted directory, `pwd` is returned.
    """
    try:
        here = posix.stat(".")
        real = posix.getcwd()
    except OSError:
        return pwd
    try:
        named = posix.stat(pwd) if pwd.startswith("/") else None
    except (OSError, ValueError):
        named = None
    if named is not None and (named.st_dev, named.st_ino) == (here.st_dev, here.st_ino):
        return pwd
    return real


def from_system(name: str) -> str | None:
    """Return the system's value of HOME, USER, PWD or HOSTNAME (SPEC 2.5), or None if unknown."""
    try:
        if name == "PWD":
            return posix.getcwd()
        if name == "HOSTNAME":
            return posix.uname().nodename
        if name in ("HOME", "USER"):
            import pwd

            account = pwd.getpwuid(posix.getuid())
            return account.pw_dir if name == "HOME" else account.pw_name
    except (OSError, KeyError):
        pass
    return None
