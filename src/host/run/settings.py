"""settings.conf, sourced by bash as pure data capture (SPEC 2.2)."""

import _stat
import posix
import sys
from _codecs import escape_decode as _decode_escapes

from host.errors import CannotStartError, MissingError, SourceError
from host.run import basename, find_bash, is_file, read_regular
from host.run.child_process import (
    TIMEOUT_VARIABLE,
    report_descriptor,
    spawn_and_read,
    time_limit,
)
from host.run.expand import is_name
from host.run.process import largest_variables
from host.run.text import BOM, decode, is_utf_16

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Says in bash's environment which settings files are being read, by device and inode:
# a program called there that would read one of them again stops.
READING = "__cli_reading"

# Variables that bash itself sets in every environment.
_OWN_NAMES = frozenset(
    ["_", "SHLVL", "PWD", "OLDPWD", "SHELLOPTS", "BASHOPTS", "BASH", "UID", "EUID", "PPID"]
)

# Before the file can redefine anything, bash parses it as the body of a loop, which never runs.
# The `done` behind its last line is the marker that must be reached. Messages in the C locale
# give the line. `eval ')'` resets a parser that stopped inside `[[`.
# RETURN fires at depth 0 when bash has left the file, even under `set -e`; EXIT without it
# means that the shell has ended. If the file sets a RETURN trap of its own, bash comes back
# from `.` instead. DEBUG keeps the line, notes a top-level `return`, and keeps `set -a`: a
# file that loads others between `set -a` and `set +a` assigns more after them. Traps close
# stderr, as `set -x` would show their lines.
# A file may redefine any builtin. In POSIX mode no function replaces a special builtin, so the
# report uses these, and removes functions that stand for the other two.
# The report goes to descriptor $2: messages of the parser, "parsed", a NUL, "end LINE" or "exit
# LINE", perhaps " return", a NUL, the exported variables as `export -p` words them, two NULs.
# One builtin prints them all, as a loop over the names costs 2 ms more.
_CAPTURE = r"""
__cli_report() {
  [[ -o posix ]] || POSIXLY_CORRECT=y
  unset -f enable printf
  enable trap printf export exit
  trap - DEBUG RETURN EXIT
  {
    printf '\0%s %s\0' "$1" "$__cli_line"
    export -p
    printf '\0\0'
  } >&"$__cli_out"
  exit 0
}
__cli_step() {
  if [[ ${BASH_SOURCE[1]-} == "$__cli_file" && $BASH_COMMAND != ". \"\$__cli_file\"" ]]; then
    __cli_line=$1
    [[ ${FUNCNAME[1]}:$BASH_COMMAND != source:return?( *) ]] || __cli_line+=' return'
  fi
  [[ -o allexport ]] || builtin set -a
  [[ -o allexport ]] || set -a
}
command_not_found_handle() {
  builtin printf '%s: line %s: %s: command not found\n' "$0" "${BASH_LINENO[0]}" "$1"
  if [[ ${2-} == =* && $1 != *[!A-Za-z0-9_]* ]]; then
    builtin printf '%s: line %s: an assignment has no blanks around its =\n' \
      "$0" "${BASH_LINENO[0]}"
  fi
  builtin return 127
} >&2
__cli_file=$1 __cli_out=$2 __cli_line=
trap '{ __cli_report exit; } 2>&-' EXIT
{
  IFS= read -rd '' __cli_text <"$1"
  shopt -s extglob
  LC_ALL=C eval "__cli_text() while :; do :
${__cli_text%$'\n'}
done" && printf parsed || eval ')' 2>&-
  shopt -u extglob
} >&"$2" 2>&1
trap '{ ((${#BASH_SOURCE[@]})) || __cli_report end; } 2>&-' RETURN
trap '{ __cli_step "$LINENO"; } 2>&-' DEBUG
set -aT --
{
  . "$__cli_file"
  { __cli_report end; } 2>&-
}
"""
_LINES_BEFORE = _CAPTURE.partition("eval ")[0].count("\n") + 1


def capture_settings(path: str, environ: "Mapping[str, str]") -> dict[str, str]:
    """Return the variables that the settings file at `path` leaves exported or assigned.

    bash sources it with `environ`, with `set -a`, empty stdin and stdout on stderr.
    Nothing else of it has an effect; its process group is ended.
    Functions, arrays and bash's own variables are left out. An absent file gives {}.
    Raises SourceError when the file cannot be read as text, is open to everybody, calls
    this program or does not reach its end within CLI_SETTINGS_TIMEOUT seconds (10),
    MissingError without bash.
    """
    try:
        content = read_regular(path, sys.maxsize, SourceError)
        status = posix.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except SourceError:
        if is_file(path) and not posix.access(path, posix.R_OK):
            raise SourceError(f"{path}: cannot be read", "check its permissions") from None
        raise
    _check_text(path, content)
    if status.st_mode & _stat.S_IWOTH:
        raise SourceError(f"{path}: everybody may write to it", f"run: chmod o-w {path}")
    bash = find_bash(environ)
    if bash is None:
        raise MissingError(f"{path}: bash is needed to read it and is not on PATH")
    within, mark = environ.get(READING, ""), f"{status.st_dev}:{status.st_ino}"
    if mark in within.split():
        raise SourceError(
            f"{path}: calls this program while it is being read, and that would read it again",
            "take the call out of it",
        )
    timeout = time_limit(environ)
    env = {name: value for name, value in environ.items() if name != "POSIXLY_CORRECT"}
    env[READING] = f"{within} {mark}"
    output = _run(bash, path, env, timeout)
    if output is None:
        raise SourceError(
            f"{path}: did not end within {timeout:g} s",
            f"set {TIMEOUT_VARIABLE} to more seconds if it needs them",
        )
    return _read_records(path, output)


def _check_text(path: str, content: bytes) -> None:
    """Raise SourceError for what bash would read otherwise than its author meant it."""
    if is_utf_16(content):
        raise SourceError(f"{path}: is UTF-16", "save it as UTF-8")
    if content.startswith(BOM):
        raise SourceError(f"{path}: begins with a byte-order mark", "save it as UTF-8 without BOM")
    at = content.find(b"\0")
    if at >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise SourceError(f"{path}:{line}: holds a NUL", "take it out")
    if b"\r" not in content:
        return
    at = content.find(b"\r\n")
    if at < 0 and (b"\n" not in content or content.endswith(b"\r")):
        at = content.rfind(b"\r")
    if at >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise SourceError(
            f"{path}:{line}: ends with CR LF, as on Windows",
            f"save it with LF line ends, or run: sed -i 's/\\r$//' {path}",
        )


def _run(bash: str, path: str, environ: "Mapping[str, str]", timeout: float) -> bytes | None:
    """Return what the capture wrote, or None when time ran out."""
    own = (basename(path), path, str(report_descriptor()))
    try:
        return spawn_and_read([bash, "-p", "-c", _CAPTURE, *own], environ, timeout)
    except OSError as failure:
        import errno

        if failure.errno == errno.E2BIG:
            raise CannotStartError(
                f"{path}: the environment is too large for this system",
                largest_variables(environ),
            ) from None
        raise SourceError(f"{path}: bash cannot start: {failure.strerror}") from None


def _read_records(path: str, output: bytes) -> dict[str, str]:
    parsing, _, rest = output.partition(b"\0")
    verdict, _, exports = rest.partition(b"\0")
    word, line, *returned = [*decode(verdict).split(" "), ""]
    if word and not parsing.endswith(b"parsed") and "return" not in returned:
        where = _error_line(decode(parsing))
        after = f" after line {line}" if line and not where else ""
        raise SourceError(f"{path}{where}: syntax error{after}")
    if word != "end":
        where = f"{path}:{line}" if line else path
        raise SourceError(
            f"{where}: ended before its last line (exit, exec, set -e, set -u or a signal)"
        )
    return {
        name: value
        for name, value in parse_exports(exports)
        if is_name(name)
        and name not in _OWN_NAMES
        and not name.startswith("__cli_")
        and (name, value) != ("POSIXLY_CORRECT", "y")  # set by `set -o posix`
    }


def _error_line(said: str) -> str:
    """Return ":N" for the first line of the file that bash reports an error in, "" for none."""
    for line in said.splitlines():
        _, found, rest = line.partition(": line ")
        number = rest.partition(": ")[0]
        if found and number.isdigit():
            return f":{int(number) - _LINES_BEFORE}"
    return ""


def parse_exports(printed: bytes) -> "Iterator[tuple[str, str]]":
    """Yield each exported scalar variable of `declare -x NAME="value"` lines.

    Values stand in double quotes or, with control characters, in `$'…'`. Arrays
    and names without a value are passed over.
    """
    position = 0
    while position < len(printed):
        line_end = printed.find(b"\n", position)
        line_end = len(printed) if line_end < 0 else line_end
        equals = printed.find(b"=", position, line_end)
        if equals < 0:
            position = line_end + 1
            continue
        name = printed[position:equals].rpartition(b" ")[2]
        value, position = _value(printed, equals + 1)
        position += 1  # the newline
        if value is not None:
            yield decode(name), decode(value)


def _value(printed: bytes, position: int) -> tuple[bytes | None, int]:
    """Return the value that starts at `position`, None for an array, and its end."""
    if printed.startswith((b'"', b"$'"), position):
        ansi = printed.startswith(b"$", position)
        start = position + 1 + ansi
        end = _closing(printed, start, b"'" if ansi else b'"')
        return _unescaped(printed[start:end], ansi=ansi), end + 1
    while position < len(printed) and not printed.startswith(b")", position):
        if printed.startswith((b'"', b"$'"), position):  # a key or a value
            _, position = _value(printed, position)
        else:
            position += 1
    return None, position + 1


def _closing(printed: bytes, position: int, quote: bytes) -> int:
    """Return where the quote stands that ends what begins at `position`."""
    end = printed.find(quote, position)
    if printed.find(b"\\", position, end) < 0:
        return end if end >= 0 else len(printed)
    while position < len(printed) and not printed.startswith(quote, position):
        position += 2 if printed.startswith(b"\\", position) else 1
    return position


def _unescaped(value: bytes, *, ansi: bool) -> bytes:
    """Return a quoted value as it is: what stands between escaped backslashes, and these."""
    if b"\\" not in value:
        return value
    parts = value.split(b"\\\\")
    if ansi:
        parts = [_decode_escapes(one.replace(b"\\E", b"\\033"))[0] for one in parts]
    else:
        parts = [one.replace(b"\\", b"") for one in parts]
    return b"\\".join(parts)
