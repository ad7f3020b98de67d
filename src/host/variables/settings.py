"""Source settings.conf in bash, and return only its variables (SPEC 2.2)."""

import _stat
import posix
from _codecs import escape_decode as _decode_escapes

from host.errors import MissingError, Problem, SourceError
from host.files.paths import basename, dirname, join, read_regular
from host.processes.bounds import (
    REPORT_DESCRIPTOR,
    SETTINGS_TIMEOUT,
    limit_from,
    read_report,
)
from host.processes.programs import find_bash
from host.text import BOM, decode, is_utf_16, quoted
from host.words import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# A variable that lists the settings files that are being read (device:inode). A run that one of
# them starts must not read the same file again.
READING = "__cli_reading"

# Variables that bash itself sets in every environment.
_OWN_NAMES = (
    *("_", "SHLVL", "PWD", "OLDPWD", "BASH", "UID", "EUID", "PPID"),
    *("SHELLOPTS", "BASHOPTS"),
)


def capture_settings(path: str, environ: "Mapping[str, str]") -> dict[str, str]:
    """Return the variables that the settings file at `path` sets, or {} if it is missing.

    bash sources the file with `environ` and `set -a`. Its stdin is empty, and its output goes to
    stderr. Then its process group is killed. The result does not contain functions, arrays or
    bash's own variables. Raises SourceError if the file is not valid text, every user can write to
    it, it calls this program, or bash does not finish it within CLI_SETTINGS_TIMEOUT seconds (by
    default 10). Raises MissingError if bash is missing.
    """
    try:
        content = read_regular(path, SourceError)
        status = posix.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}

    _check_text(path, content)
    if status.st_mode & _stat.S_IWOTH:
        remedy = f"run: chmod o-w {quoted(path)}"
        raise _error(path, "every user can write to it", remedy)
    bash = find_bash(environ)
    if bash is None:
        what = "cannot be read without bash, which is not on PATH"
        raise MissingError(Problem(path, what))

    files_being_read = environ.get(READING, "")
    mark = f"{status.st_dev}:{status.st_ino}"
    if mark in files_being_read.split():
        what = "calls this program, which would read the file again"
        raise _error(path, what, "remove the call")

    bash_environ = dict(environ)
    bash_environ.pop("POSIXLY_CORRECT", None)
    bash_environ[READING] = f"{files_being_read} {mark}"
    script_file = join(dirname(__file__), "capture_settings.sh")
    script = decode(read_regular(script_file, SourceError))
    argv = [bash, "-p", "-c", script, basename(path), path, str(REPORT_DESCRIPTOR)]
    output = _run_bash(path, argv, bash_environ, limit_from(environ))

    # bash counts the lines of the script before `eval`, too
    before, _, _ = script.partition('eval "')
    return _read_report(path, output, before.count("\n") + 1)


def _run_bash(
    path: str, argv: list[str], environ: dict[str, str], seconds: float
) -> bytes:
    """Return the report of a bash that reads the settings file. Raises SourceError."""
    try:
        return read_report(argv, environ, seconds)
    except TimeoutError:
        what = f"did not end within {seconds:g} s"
        longer = f"set {SETTINGS_TIMEOUT} to a larger number of seconds"
        raise _error(path, what, f"if it needs longer, {longer}") from None
    except OSError as failure:
        raise _error(path, f"bash cannot start: {failure.strerror}") from None


def _error(path: str, what: str, remedy: str = "", line: int = 0) -> SourceError:
    return SourceError(Problem(path, what, remedy, line=line))


def _check_text(path: str, content: bytes) -> None:
    """Raise SourceError for UTF-16, a BOM or CR LF, which bash would misread."""
    if is_utf_16(content) or content.startswith(BOM):
        what = "is UTF-16 or begins with a byte-order mark"
        raise _error(path, what, "save it as UTF-8 without a BOM")

    position = (content + b"\n").find(b"\r\n")
    if position >= 0:
        remedy = (
            f"save it with LF line endings, or run: sed -i 's/\\r$//' {quoted(path)}"
        )
        line = content.count(b"\n", 0, position) + 1
        raise _error(path, "this line ends with CR LF, as on Windows", remedy, line)


def _read_report(path: str, output: bytes, lines_before: int) -> dict[str, str]:
    """Return the variables in bash's report. Raises SourceError if bash did not finish the file.

    bash reads `lines_before` other lines before the file, so its line numbers include them.
    """
    parsing, _, rest = output.partition(b"\0")
    verdict, _, exports = rest.partition(b"\0")
    _check_verdict(path, decode(verdict), parsing, lines_before)

    variables = {}
    for name, value in parse_exports(exports):
        if name in _OWN_NAMES or name.startswith("__cli_"):
            continue
        if name == "POSIXLY_CORRECT" and value == "y":
            continue  # `set -o posix` sets this variable
        if is_name(name):  # bash also exports functions
            variables[name] = value
    return variables


def _check_verdict(path: str, verdict: str, parsing: bytes, lines_before: int) -> None:
    """Raise SourceError unless bash has parsed the file and reached its end.

    The verdict is `end LINE` or `exit LINE`, perhaps with ` return`; it is "" without a report.
    """
    word, line, *returned = f"{verdict} ".split(" ")
    is_parsed = parsing.endswith(b"parsed") or "return" in returned
    if word and not is_parsed:
        number = _error_line(decode(parsing)) - lines_before
        what = "syntax error"
        if line and number < 0:
            what = f"{what} after line {line}"
        raise _error(path, what, line=max(number, 0))

    if word != "end":
        what = "bash did not reach the end of the file (exit, exec, set -e, set -u or a signal)"
        raise _error(path, what, line=int(line or 0))


def _error_line(messages: str) -> int:
    """Return the line number in bash's first error message, or 0 if there is none."""
    _, _, rest = messages.partition(": line ")
    number, _, _ = rest.partition(": ")
    if not number.isdigit():
        return 0
    return int(number)


def parse_exports(printed: bytes) -> "Iterator[tuple[str, str]]":
    """Yield the name and value of each exported scalar variable in `export NAME="value"` lines.

    A value is in double quotes or, if it has control characters, in `$'…'`. Arrays and names
    without a value, which take one line each, are skipped.
    """
    lines = iter(printed.split(b"\n"))
    for line in lines:
        declared, _, value = line.partition(b"=")
        if value.startswith(b"$'"):
            ansi = True
            quote = b"'"
        elif value.startswith(b'"'):
            ansi = False
            quote = b'"'
        else:
            continue

        parts = [value.removeprefix(b"$")[1:]]
        while not _is_closed(parts[-1], quote):
            parts.append(next(lines, quote))
        text = b"\n".join(parts)[:-1]
        _, _, name = declared.rpartition(b" ")
        yield decode(name), decode(_unescaped(text, ansi=ansi))


def _is_closed(line: bytes, quote: bytes) -> bool:
    """Return whether `line` ends with a quote that no backslash escapes."""
    if not line.endswith(quote):
        return False
    text = line.removesuffix(quote)
    backslashes = len(text) - len(text.rstrip(b"\\"))
    return backslashes % 2 == 0


def _unescaped(value: bytes, *, ansi: bool) -> bytes:
    """Return a value without the escapes of `$'…'` (if `ansi` is true) or of double quotes."""
    if b"\\" not in value:
        return value

    parts = []
    for part in value.split(b"\\\\"):
        if ansi:
            text, _ = _decode_escapes(part.replace(b"\\E", b"\\033"))
        else:
            text = part.replace(b"\\", b"")
        parts.append(text)
    return b"\\".join(parts)
