"""The process itself: what its caller gave it, and how it becomes another one."""

import os

from host.errors import CannotStartError, HostError, MissingError
from host.run.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_NAMED = 3  # variables, where an environment is too large


class Exec:
    """What `execve` gets: `path` to start, `argv` and the whole environment, as text."""

    __slots__ = ("argv", "env", "path")

    def __init__(self, path: str, argv: "Sequence[str]", env: "Mapping[str, str]") -> None:
        self.path = path
        self.argv = list(argv)
        self.env = dict(env)


def caller_environment() -> dict[bytes, bytes]:
    """Return the environment as the caller gave it.

    In the C locale Python sets LC_CTYPE in its own; the kernel knows better.
    """
    environ = dict(os.environb)
    environ.pop(b"", None)  # "=value": Python reads it and refuses to hand it on
    if environ.get(b"LC_CTYPE") in (b"C.UTF-8", b"C.utf8", b"UTF-8"):
        given = _given_lc_ctype()
        if given is None:
            del environ[b"LC_CTYPE"]
        else:
            environ[b"LC_CTYPE"] = given
    return environ


def _given_lc_ctype() -> bytes | None:
    try:
        with open("/proc/self/environ", "rb") as file:
            _, given, rest = (b"\0" + file.read()).partition(b"\0LC_CTYPE=")
    except OSError:
        return None
    return rest.partition(b"\0")[0] if given else None


def reserve_standard_descriptors() -> None:
    """Keep files from getting the numbers of streams that the caller closed.

    What fills the gaps takes no output and is gone again when a command starts.
    """
    while (descriptor := os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)) <= 2:
        pass
    os.close(descriptor)


def restore_signals() -> None:
    """Undo what Python changed: scripts expect to die of a closed pipe."""
    import _signal  # `signal` costs a module of enums

    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    if hasattr(_signal, "SIGXFSZ"):
        _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)


def die_of_interrupt() -> int:
    """End as a shell expects of a program that Ctrl-C stopped: killed by SIGINT."""
    import _signal

    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    os.kill(os.getpid(), _signal.SIGINT)
    return 128 + int(_signal.SIGINT)


def execute(plan: Exec) -> HostError:
    """Become the planned process; returns only the error that kept it from starting."""
    environment = {encode(name): encode(value) for name, value in plan.env.items()}
    try:
        os.execve(encode(plan.path), [encode(word) for word in plan.argv], environment)
    except OSError as failure:
        import errno

        if failure.errno == errno.E2BIG:
            size = sum(len(encode(word)) + 1 for word in plan.argv)
            return CannotStartError(
                f"{plan.path}: arguments ({size:,} bytes) and environment are too large for this "
                f"system; {largest_variables(plan.env)}"
            )
        if failure.errno == errno.ENOENT:
            return MissingError(f"{plan.path}: it or its interpreter is missing")
        return CannotStartError(f"{plan.path}: cannot be started: {failure.strerror}")
    raise AssertionError("execve returned")  # pragma: no cover - it cannot


def largest_variables(environ: "Mapping[str, str]") -> str:
    """Name the variables that take most of an environment, with their sizes."""
    sizes = {name: len(encode(name)) + len(encode(text)) + 2 for name, text in environ.items()}
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:_MOST_NAMED]
    named = ", ".join(f"{name} ({sizes[name]:,} bytes)" for name in largest)
    return f"of {sum(sizes.values()):,} bytes of variables the largest are {named}"
