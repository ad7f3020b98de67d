"""Find programs on PATH, and decide how to start the file of a command."""

import _stat
import posix

from host.errors import CannotStartError, MissingError, Problem
from host.run.files import basename, dirname, is_file, join
from host.run.process import Exec
from host.run.record import Record
from host.run.text import decode, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


# The path that bash searches if PATH is unset.
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NOT_PLAIN = frozenset("$\\'\"#")  # special characters of `env -S`
_HEAD = 256  # bytes; Linux reads this many to find a script's interpreter


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


class Start(Record):
    """How to start a file: `program` with `argv`; `interpreter` is "" for a binary."""

    program: str
    argv: "Sequence[str]"
    interpreter: str = ""
    loads_library: bool = False


def start_of(file: str, environ: "Mapping[str, str]") -> Start:
    """Return how to start `file` with the environment `environ`.

    A binary, or a script with a shebang, is started directly if it is executable. Without the
    execute bit, a script is started with its shebang's interpreter. A text file without a shebang
    is started with bash. Raises MissingError (127) if the file or its interpreter is missing, and
    CannotStartError (126) if the file exists but cannot run.
    """
    head, executable = _read_head(file)
    if not head.startswith(b"#!"):
        if b"\0" in head:
            if not executable:
                remedy = f"run: chmod +x {quoted(file)}"
                raise CannotStartError(Problem(file, "not executable", remedy))
            return Start(file, [file])
        bash = find_bash(environ)
        if bash is None:
            raise MissingError(
                Problem(file, "cannot run without bash, which is not on PATH")
            )
        return Start(bash, ["bash", file], bash, _reads_bash_env(environ))
    shebang = decode(head[2:].partition(b"\n")[0])
    if shebang.endswith("\r"):
        what = "its first line ends with CR LF"
        raise MissingError(Problem(file, what, "save it with LF line endings", line=1))
    program, _, argument = shebang.strip(" \t").replace("\t", " ").partition(" ")
    argument = argument.strip(" ")
    words = [program, *argument.split()]
    interpreter = program if is_file(program) else None
    if (
        interpreter
        and basename(program) == "env"
        and (of_env := _words_of_env(argument))
    ):
        words = of_env
        interpreter = find_program(words[0], environ)
    if interpreter is None:
        raise MissingError(
            Problem(file, f'its interpreter "{words[0]}" is missing', line=1)
        )
    loads_library = basename(words[0]) == "bash" and _reads_bash_env(environ, words[1:])
    if executable:
        return Start(file, [file], interpreter, loads_library)
    argv = [program, argument, file] if argument else [program, file]
    return Start(program, argv, interpreter, loads_library)


def exec_of(
    file: str, args: "Sequence[str]", environ: "Mapping[str, str]", program: str
) -> Exec:
    """Return the process to execute for a script or binary. Raises the errors of `start_of`.

    bash reads the shell library through BASH_ENV. The library's messages begin with `program`.
    """
    start = start_of(file, environ)
    env = dict(environ)
    library = shell_library(env["LIB_DIR"]) if start.loads_library else ""
    if library:
        kept = f"s{env['BASH_ENV']}" if "BASH_ENV" in env else "u"
        env["BASH_ENV"] = _escaped(library)
        env["CLI_HOST_INIT"] = f"{posix.getpid()}:{program.replace(':', '')}:{kept}"
    return Exec(start.program, [*start.argv, *args], env)


def shell_library(lib_dir: str) -> str:
    """Return the path of init.sh in the installation, else in the wheel or checkout, else ""."""
    package = dirname(dirname(__file__))
    shipped = [f"{package}/skeleton/core/lib", f"{dirname(dirname(package))}/core/lib"]
    paths = [join(place, "init.sh") for place in (lib_dir, *shipped)]
    return next(filter(is_file, paths), "")


def _escaped(path: str) -> str:
    """Return a path for BASH_ENV, whose value bash expands."""
    for character in '\\$`"':  # the backslash first, because it escapes the others
        path = path.replace(character, f"\\{character}")
    return path


def _read_head(file: str) -> tuple[bytes, bool]:
    """Return the first bytes of a file, and whether it has an execute bit."""
    try:
        descriptor = posix.open(
            file, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC
        )
    except (FileNotFoundError, NotADirectoryError):
        remedy = 'create it, or correct "entrypoint"'
        raise MissingError(Problem(file, "the entrypoint is missing", remedy)) from None
    except OSError as failure:
        if posix.access(file, posix.X_OK) and is_file(file):
            return b"\0", True  # an executable without read permission
        what = f"cannot be read: {failure.strerror}"
        raise CannotStartError(Problem(file, what, "check its permissions")) from None
    try:
        mode = posix.fstat(descriptor).st_mode
        if not _stat.S_ISREG(mode):
            raise CannotStartError(
                Problem(file, "the entrypoint is not a regular file")
            )
        return posix.read(descriptor, _HEAD), bool(mode & 0o111)
    finally:
        posix.close(descriptor)


def _words_of_env(argument: str) -> list[str]:
    """Return the command in `#!/usr/bin/env …`, or [] if only env itself can parse it."""
    words = (
        argument.removeprefix("-S").split() if argument.startswith("-S") else [argument]
    )
    while "=" in words[0] and len(words) > 1:
        del words[0]
    return words if words[0][:1] != "-" and _NOT_PLAIN.isdisjoint(argument) else []


def _reads_bash_env(
    environ: "Mapping[str, str]", options: "Iterable[str]" = ()
) -> bool:
    """Return whether bash with `options` reads BASH_ENV; it does not in posix mode, for example."""
    words = {*environ.get("SHELLOPTS", "").split(":"), *options}
    letters: set[str] = set()  # of the short options
    for option in options:
        if option.startswith("-") and not option.startswith("--"):
            letters.update(option)
    is_special = words & {"posix", "privileged", "--posix"} or {"p", "i"} & letters
    return "POSIXLY_CORRECT" not in environ and not is_special
