"""Read the caller's environment, decide how to start an entrypoint, and call `execve`."""

import _signal  # not `signal`, which would import `enum`
import _stat
import posix
import sys

from host.errors import CannotStartError, HostError, MissingError, Problem
from host.run import Record, basename, dirname, find_bash, find_program, is_file, join
from host.run.text import decode, encode, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import NoReturn

RUN = "CLI_RUN"  # exported by each run for the runs inside it: see `host.run.nested`
ASSUME_YES = "assume_yes"  # a switch of `python_exec`: the user agreed, with --yes or CLI_YES
NO_INPUT = "no_input"  # --no-input or CLI_NO_INPUT forbids questions
INNER_RUN = "inner_run"  # the run is inside another run
RECORD = "CLI_RECORD"  # if the caller sets it to 1, any run is recorded
RECORDED = (
    "CLI_RECORDED"  # ID:ORIGIN:CLIENT, if the caller records this run: see `recorded_variable`
)
SHELL_FILE = "CLI_SHELL_FILE"  # the file for lines that the calling shell evaluates
FRAMEWORK_NAMES = (  # variables that describe a run: see `OpenInstallation.run_variables`
    *("CLI_DIR", "CORE_DIR", "LIB_DIR", "PLUGINS_DIR", "GLOBAL_CONFIG_FILE"),
    *("COMMAND_NAME", "COMMAND_CATEGORY"),
)

# The code that starts a command in Python; -m would import `runpy` first. The plugin's folders take
# the place of the braces.
PYTHON_COMMAND = (
    "import sys; from host.run.python_entrypoint import main; sys.exit(main(sys.argv[1:], {}))"
)
_NOT_PLAIN = frozenset("$\\'\"#")  # special characters of `env -S`
_HEAD = 256  # bytes; Linux reads this many to find a script's interpreter
_REMEDIES = {  # error names, because importing `errno` takes half a percent of a run's time
    "E2BIG": "unset large variables, or give fewer arguments",
    "EACCES": "check its permissions, and that its file system is not mounted noexec",
    "ENOENT": "check that its interpreter exists",
}


class Exec(Record):
    """The arguments of `execve`: `path`, `argv` and the complete environment, as text.

    With `holds_interrupt`, SIGINT is blocked until the new process unblocks it.
    """

    path: str
    argv: "Sequence[str]"
    env: "Mapping[str, str]"
    holds_interrupt: bool = False


def caller_environment() -> dict[bytes, bytes]:
    """Return the caller's environment, unchanged by Python.

    PEP 538: in the C locale Python adds LC_CTYPE to its environment. /proc/self/environ has the
    original.
    """
    environ = dict(posix.environ)
    environ.pop(b"", None)  # an entry "=value" has an empty name, which execve refuses
    if environ.get(b"LC_CTYPE") in (b"C.UTF-8", b"C.utf8", b"UTF-8"):
        del environ[b"LC_CTYPE"]
        environ.update(_given_lc_ctype())
    return environ


def caller_words() -> list[str]:
    """Return `sys.argv`, decoded as UTF-8 and not with the locale's encoding."""
    encoding, errors = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
    return [decode(word.encode(encoding, errors)) for word in sys.argv]


def _given_lc_ctype() -> dict[bytes, bytes]:
    try:
        with open("/proc/self/environ", "rb") as file:
            _, given, rest = (b"\0" + file.read()).partition(b"\0LC_CTYPE=")
    except OSError:
        return {}
    return {b"LC_CTYPE": rest.partition(b"\0")[0]} if given else {}


def reserve_standard_descriptors() -> None:
    """Open /dev/null in place of each standard descriptor that the caller closed.

    Otherwise, the next file to be opened would become stdin, stdout or stderr. /dev/null is opened
    read-only, and is closed on exec. If it is missing, as in a bare chroot, the root directory
    takes its place, which can be neither read nor written.
    """
    flags = posix.O_RDONLY | posix.O_CLOEXEC
    descriptor = -1
    while descriptor <= 2:
        try:
            descriptor = posix.open("/dev/null", flags)
        except OSError:
            descriptor = posix.open("/", flags)
    posix.close(descriptor)


def restore_signals() -> None:
    """Reset SIGPIPE and SIGXFSZ, which Python ignores, so that a closed pipe ends a script.

    Python does not record whether the caller ignored them.
    """
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)


def execute(replacement: Exec) -> HostError:
    """Replace this process with `replacement`; return the error if that fails."""
    try:
        exec_now(replacement)
    except OSError as failure:
        return start_error(replacement.path, failure)


def exec_now(replacement: Exec) -> "NoReturn":
    """Replace this process with `replacement`. Raises OSError if the system refuses."""
    argv = [encode(word) for word in replacement.argv]
    environment = {encode(name): encode(value) for name, value in replacement.env.items()}
    if replacement.holds_interrupt:
        _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGINT])
    posix.execve(encode(replacement.path), argv, environment)


def start_error(path: str, failure: OSError) -> HostError:
    """Return the error for a program at `path` that the system refused to start."""
    from errno import errorcode

    is_missing = isinstance(failure, FileNotFoundError)
    error = MissingError if is_missing else CannotStartError
    remedy = _REMEDIES.get(errorcode.get(failure.errno or 0, ""), "")
    return error(Problem(path, f"cannot be started: {failure.strerror}", remedy))


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
            raise MissingError(Problem(file, "cannot run without bash, which is not on PATH"))
        return Start(bash, ["bash", file], bash, _reads_bash_env(environ))
    shebang = decode(head[2:].partition(b"\n")[0])
    if shebang.endswith("\r"):
        what = "its first line ends with CR LF"
        raise MissingError(Problem(file, what, "save it with LF line endings", line=1))
    program, _, argument = shebang.strip(" \t").replace("\t", " ").partition(" ")
    argument = argument.strip(" ")
    words = [program, *argument.split()]
    interpreter = program if is_file(program) else None
    if interpreter and basename(program) == "env" and (of_env := _words_of_env(argument)):
        words = of_env
        interpreter = find_program(words[0], environ)
    if interpreter is None:
        raise MissingError(Problem(file, f'its interpreter "{words[0]}" is missing', line=1))
    loads_library = basename(words[0]) == "bash" and _reads_bash_env(environ, words[1:])
    if executable:
        return Start(file, [file], interpreter, loads_library)
    argv = [program, argument, file] if argument else [program, file]
    return Start(program, argv, interpreter, loads_library)


def exec_of(file: str, args: "Sequence[str]", environ: "Mapping[str, str]", program: str) -> Exec:
    """Return the process to execute for a script or binary. Raises the errors of `start_of`.

    bash reads the shell library through BASH_ENV. The library's messages begin with `program`.
    """
    start, env = start_of(file, environ), dict(environ)
    if start.loads_library and (library := shell_library(env["LIB_DIR"])):
        kept = f"s{env['BASH_ENV']}" if "BASH_ENV" in env else "u"
        # escaped, because bash expands the value of BASH_ENV
        env["BASH_ENV"] = "".join(f"\\{one}" if one in '\\$`"' else one for one in library)
        env["CLI_HOST_INIT"] = f"{posix.getpid()}:{program.replace(':', '')}:{kept}"
    return Exec(start.program, [*start.argv, *args], env)


def python_exec(
    argv: "Sequence[str]",
    environment: "Mapping[str, str]",
    folders: "Sequence[str]" = (),
    switches: "Sequence[str]" = (),
) -> Exec:
    """Return the process that calls a Python reference; `argv` is for `python_entrypoint.main`.

    `folders` has the packages of the command's plugin: see `importing.enter_plugin`. SIGINT is
    blocked while Python starts, unless the caller has blocked it already. `switches` are facts
    about the run for `Program`. They are options of Python, because the environment of a command is
    its caller's, and its argv is its own.
    """
    is_blocked = _signal.SIGINT in _signal.pthread_sigmask(_signal.SIG_BLOCK, [])
    options = "-I" if is_blocked else "-IXunblock_interrupt"
    told = [f"-X{name}" for name in switches]
    code = PYTHON_COMMAND.format([*folders])
    command = [sys.executable, options, *told, "-c", code, *argv]
    return Exec(sys.executable, command, environment, holds_interrupt=not is_blocked)


def is_told(switch: str) -> bool:
    """Return whether `python_exec` passed a switch to this process."""
    return switch in sys._xoptions  # noqa: SLF001 - has no public equivalent


def shell_library(lib_dir: str) -> str:
    """Return the path of init.sh in the installation, else in the wheel or checkout, else ""."""
    package = dirname(dirname(__file__))
    shipped = [f"{package}/skeleton/core/lib", f"{dirname(dirname(package))}/core/lib"]
    paths = [join(place, "init.sh") for place in (lib_dir, *shipped)]
    return next(filter(is_file, paths), "")


def _read_head(file: str) -> tuple[bytes, bool]:
    """Return the first bytes of a file, and whether it has an execute bit."""
    try:
        descriptor = posix.open(file, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
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
            raise CannotStartError(Problem(file, "the entrypoint is not a regular file"))
        return posix.read(descriptor, _HEAD), bool(mode & 0o111)
    finally:
        posix.close(descriptor)


def _words_of_env(argument: str) -> list[str]:
    """Return the command in `#!/usr/bin/env …`, or [] if only env itself can parse it."""
    words = argument.removeprefix("-S").split() if argument.startswith("-S") else [argument]
    while "=" in words[0] and len(words) > 1:
        del words[0]
    return words if words[0][:1] != "-" and _NOT_PLAIN.isdisjoint(argument) else []


def _reads_bash_env(environ: "Mapping[str, str]", options: "Iterable[str]" = ()) -> bool:
    """Return whether bash with `options` reads BASH_ENV; it does not in posix mode, for example."""
    words = {*environ.get("SHELLOPTS", "").split(":"), *options}
    short = "".join(one for one in options if one[:1] == "-" and one[:2] != "--")
    is_special = words & {"posix", "privileged", "--posix"} or {"p", "i"} & {*short}
    return "POSIXLY_CORRECT" not in environ and not is_special
