"""Find programs on PATH, and decide how to start the file of a command."""

import _stat
import posix

from host.errors import CannotStartError, MissingError, Problem
from host.files.paths import basename, dirname, is_file, join, shipped
from host.processes.process import Exec
from host.record_base import Record
from host.text import decode, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


# The path that bash searches if PATH is unset.
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NOT_PLAIN = frozenset("$\\'\"#")  # special characters of `env -S`
_MOST_READ = 16 * 1024  # bytes that may have the block of PEP 723
_BLOCK = b"# /// script"
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
        # POSIX: an empty part is the current directory
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
    is started with bash, or with uv if it is in Python and declares what it needs. Raises
    MissingError (127) if the file or its interpreter is missing, and CannotStartError (126) if the
    file exists but cannot run.
    """
    head, executable = _read_head(file)
    if head.startswith(b"#!"):
        return _start_of_script(file, head, executable, environ)
    if b"\0" in head:
        if not executable:
            remedy = f"run: chmod +x {quoted(file)}"
            raise CannotStartError(Problem(file, "not executable", remedy))
        return Start(file, [file])

    if file.endswith(".py") and has_script_block(file):
        return _start_with_uv(file, environ)

    bash = find_bash(environ)
    if bash is None:
        what = "cannot run without bash, which is not on PATH"
        raise MissingError(Problem(file, what))
    return Start(bash, ["bash", file], bash, _reads_bash_env(environ))


def has_script_block(file: str) -> bool:
    """Return whether a script in Python has a block `# /// script` with what it needs (PEP 723).

    Only the first 16 KiB are read.
    """
    try:
        with open(file, "rb", buffering=0) as script:
            lines = script.read(_MOST_READ).splitlines()
    except OSError:
        return False
    if _BLOCK not in lines:
        return False
    begin = lines.index(_BLOCK)
    return b"# ///" in lines[begin + 1 :]


def _start_with_uv(file: str, environ: "Mapping[str, str]") -> Start:
    """Return how uv starts a script with the packages that it declares. Raises MissingError."""
    uv = find_program("uv", environ)
    if uv is None:
        what = "needs uv for its block # /// script, and uv is not on PATH"
        remedy = "install uv: https://docs.astral.sh/uv/"
        raise MissingError(Problem(file, what, remedy))
    # Before version 0.12, uv would take the settings of the project in the caller's directory.
    project = dirname(file)
    return Start(uv, ["uv", "run", "--project", project, "--script", file], uv)


def _start_of_script(
    file: str, head: bytes, executable: bool, environ: "Mapping[str, str]"
) -> Start:
    """Return how to start a script with a shebang. Raises MissingError."""
    shebang = decode(head[2:].partition(b"\n")[0])
    if shebang.endswith("\r"):
        what = "its first line ends with CR LF"
        raise MissingError(Problem(file, what, "save it with LF line endings", line=1))

    # Like Linux, which passes everything after the program as one argument.
    shebang = shebang.replace("\t", " ").strip(" ")
    program, _, argument = shebang.partition(" ")
    argument = argument.strip(" ")

    name, *options = _interpreter_words(program, argument)
    if name == program:
        interpreter = program if is_file(program) else None
    else:  # env looks for it
        interpreter = find_program(name, environ)

    # Without this check, the system would report that the script itself is missing.
    if interpreter is None:
        what = f'its interpreter "{name}" is missing'
        raise MissingError(Problem(file, what, line=1))

    is_bash = basename(name) == "bash"
    loads_library = is_bash and _reads_bash_env(environ, options)
    if executable:
        return Start(file, [file], interpreter, loads_library)

    argv = [program]
    if argument:
        argv.append(argument)
    argv.append(file)
    return Start(program, argv, interpreter, loads_library)


def _interpreter_words(program: str, argument: str) -> list[str]:
    """Return the interpreter in a shebang and its options; `env` is not an interpreter."""
    if basename(program) == "env" and is_file(program):
        words = _words_of_env(argument)
        if words:
            return words
    return [program, *argument.split()]


def exec_of(
    file: str,
    args: "Sequence[str]",
    environ: "Mapping[str, str]",
    program: str,
    *,
    with_library: bool,
) -> Exec:
    """Return the process to execute for a script or binary. Raises the errors of `start_of`.

    With `with_library`, bash reads the shell library through BASH_ENV. The library's messages begin
    with `program`.
    """
    start = start_of(file, environ)
    argv = [*start.argv, *args]
    library = ""
    if with_library and start.loads_library:
        library = shell_library(environ["LIB_DIR"])
    if not library:
        return Exec(start.program, argv, environ)

    # init.sh restores the caller's BASH_ENV: "s" and its value, or "u" if it was unset
    callers = "u"
    if "BASH_ENV" in environ:
        callers = f"s{environ['BASH_ENV']}"
    name = program.replace(":", "")
    env = {**environ, "BASH_ENV": _escaped(library)}
    return Exec(start.program, argv, env, library=f"{name}:{callers}")


def shell_library(lib_dir: str) -> str:
    """Return the path of init.sh in the installation, else of the program, else ""."""
    for folder in (lib_dir, shipped("core/lib")):
        path = join(folder, "init.sh")
        if is_file(path):
            return path
    return ""


def _escaped(path: str) -> str:
    """Return a path for BASH_ENV, whose value bash expands."""
    for character in '\\$`"':  # the backslash first, because it escapes the others
        path = path.replace(character, f"\\{character}")
    return path


def _read_head(file: str) -> tuple[bytes, bool]:
    """Return the first bytes of a file, and whether it has an execute bit."""
    flags = posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC
    try:
        descriptor = posix.open(file, flags)
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
            what = "the entrypoint is not a regular file"
            raise CannotStartError(Problem(file, what))
        return posix.read(descriptor, _HEAD), bool(mode & 0o111)
    finally:
        posix.close(descriptor)


def _words_of_env(argument: str) -> list[str]:
    """Return the command in `#!/usr/bin/env …`, or [] if only env itself can parse it."""
    if not _NOT_PLAIN.isdisjoint(argument):
        return []
    words = [argument]
    if argument.startswith("-S"):
        words = argument.removeprefix("-S").split() or [""]

    # skip the variables that env sets
    while len(words) > 1 and "=" in words[0]:
        del words[0]
    if words[0].startswith("-"):
        return []
    return words


def _reads_bash_env(
    environ: "Mapping[str, str]", options: "Iterable[str]" = ()
) -> bool:
    """Return whether bash with `options` reads BASH_ENV; it does not in posix mode, for example."""
    if "POSIXLY_CORRECT" in environ:
        return False
    words = {*environ.get("SHELLOPTS", "").split(":"), *options}
    if not words.isdisjoint(("posix", "privileged", "--posix")):
        return False

    for option in options:
        if option.startswith("--") or not option.startswith("-"):
            continue
        # -p is privileged mode, and an interactive shell reads its rc file instead
        if not {"p", "i"}.isdisjoint(option):
            return False
    return True
