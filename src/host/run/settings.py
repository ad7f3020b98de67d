"""settings.conf, sourced by bash as pure data capture (SPEC 2.2)."""

import os
import stat

from host.errors import CannotStartError, MissingError, SourceError
from host.run.expand import is_name
from host.run.exports import parse_exports
from host.run.launch import find_program
from host.run.text import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

DEFAULT_TIMEOUT = 10.0  # seconds
TIMEOUT_VARIABLE = "CLI_SETTINGS_TIMEOUT"

# What bash sets by itself in every environment that it makes.
_OWN_NAMES = frozenset(
    ["_", "SHLVL", "PWD", "OLDPWD", "SHELLOPTS", "BASHOPTS", "BASH", "UID", "EUID", "PPID"]
)

# The status that bash's `.` ends with on a syntax error, unless it stands in a test or
# an array: then the file is parsed once more, without running it.
_BAD_SYNTAX = "257"
_ARRAY, _TEST = b"=(", b"[["
_HIGHEST = 1023  # the capture's own descriptor at most: above those that a file may use

_SLICE = 50  # milliseconds between two looks at whether bash is still there

# RETURN fires at depth 0 exactly when the file was read to its end, whatever its
# last status and even under `set -e`; EXIT without it means that the file ended
# the shell. A file with a RETURN trap of its own comes back from `.` instead. DEBUG
# keeps the line for that message (in the EXIT trap the command is the `.` itself),
# and `set -a` on: a file that loads others between `set -a` and `set +a` assigns more
# after them. Everything the capture itself
# says goes to descriptor $2: "end STATUS" or "exit LINE", a NUL, what a parse without
# running says ($3 asks for one, and so does a status above 0), a NUL, the exported
# variables as `export -p` words them, two NULs. One builtin prints them all, as a loop
# over the names costs 2 ms more.
_CAPTURE = r"""
__cli_dump() {
  builtin set +aefuvxT +o posix
  builtin trap - DEBUG RETURN EXIT
  {
    builtin printf 'end %s\0-' "$__cli_status"
    if [[ $__cli_status != 0 || -n $__cli_check ]]; then
      "$BASH" -O extglob -n "$__cli_file" 2>&1
    fi
    builtin printf '\0'
    builtin export -p
    builtin printf '\0\0'
  } >&"$__cli_out"
  builtin exit 0
}
__cli_step() {
  if [[ ${BASH_SOURCE[1]-} == "$__cli_file" && $BASH_COMMAND != ". \"\$__cli_file\"" ]]; then
    __cli_line=$1
  fi
  builtin set -a
}
__cli_file=$1 __cli_out=$2 __cli_check=$3 __cli_line=
builtin trap 'builtin printf "exit %s\0\0\0" "$__cli_line" >&"$__cli_out"' EXIT
builtin trap '__cli_status=$?; ((${#BASH_SOURCE[@]})) || __cli_dump' RETURN
builtin trap '__cli_step "$LINENO"' DEBUG
builtin set -aT --
. "$__cli_file"
__cli_status=$?
__cli_dump
"""


def capture_settings(path: str, environ: "Mapping[str, str]") -> dict[str, str]:
    """Return the variables that the settings file at `path` leaves exported or assigned.

    bash sources it with `environ`, with `set -a`, empty stdin and stdout on stderr;
    nothing else of it has an effect. Functions, arrays and bash's own variables are
    left out. An absent file gives {}. Raises SourceError when the file does not
    reach its end within CLI_SETTINGS_TIMEOUT seconds (10), MissingError without bash.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as failure:
        raise SourceError(f"{path}: {failure.strerror}") from None
    if not stat.S_ISREG(mode):
        raise SourceError(f"{path}: not a regular file")
    if not os.access(path, os.R_OK):
        raise SourceError(f"{path}: cannot be read; check its permissions")
    bash = find_program("bash", environ) or find_program("/bin/bash", environ)
    if bash is None:
        raise MissingError(f"{path}: bash is needed to read it and is not on PATH")
    timeout = _timeout(environ)
    import _signal

    # A caller may ignore SIGCHLD; then nobody could wait for bash.
    disposition = _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    try:
        output = _run(bash, path, environ, timeout)
        if output is None:
            raise SourceError(
                f"{path}: did not end within {timeout:g} s; "
                f"set {TIMEOUT_VARIABLE} to more seconds if it needs them"
            )
        return _read_records(path, output)
    finally:
        _signal.signal(_signal.SIGCHLD, disposition)


def _timeout(environ: "Mapping[str, str]") -> float:
    text = environ.get(TIMEOUT_VARIABLE)
    if not text:
        return DEFAULT_TIMEOUT
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise SourceError(f"{TIMEOUT_VARIABLE}: expected a number of seconds above 0")
    return seconds


def _run(bash: str, path: str, environ: "Mapping[str, str]", timeout: float) -> bytes | None:
    """Return what the capture wrote, or None when time ran out; the process group is gone."""
    import _signal

    reading, writing = os.pipe()
    pid = 0
    # Held back until `pid` is known: Ctrl-C must not leave bash behind.
    endings = [_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP]
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, endings)
    try:
        try:
            pid = _spawn(bash, path, environ, writing, mask)
            restore = _pass_on(endings[1:], pid)
        finally:
            os.close(writing)
            _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
        try:
            return _read_until_end(reading, pid, timeout)
        finally:
            restore()
    except OSError as failure:
        import errno

        if failure.errno == errno.E2BIG:
            raise CannotStartError(
                f"{path}: the environment is too large for this system; unset large variables"
            ) from None
        raise SourceError(f"{path}: bash cannot start: {failure.strerror}") from None
    finally:
        os.close(reading)
        if pid:  # its background jobs too: nothing of the file outlives the capture
            _kill_group(pid, _signal.SIGKILL)


def _pass_on(numbers: "Iterable[int]", pid: int) -> "Callable[[], None]":
    """Let signals that end this process end the process group `pid` first; return the undo."""
    import _signal

    def end(number: int, _: object) -> None:
        _kill_group(pid, _signal.SIGKILL)
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)

    changed = [one for one in numbers if _signal.getsignal(one) == _signal.SIG_DFL]
    for number in changed:
        _signal.signal(number, end)

    def restore() -> None:
        for number in changed:
            _signal.signal(number, _signal.SIG_DFL)

    return restore


def _spawn(
    bash: str, path: str, environ: "Mapping[str, str]", writing: int, mask: "Iterable[int]"
) -> int:
    import _signal

    output = _output_descriptor()
    actions: list[Any] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, output),
    ]
    try:
        os.write(2, b"")
        actions.append((os.POSIX_SPAWN_DUP2, 2, 1))
    except OSError:  # stderr is closed
        actions.append((os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0))
    # -p: the caller's BASH_ENV, SHELLOPTS and functions have no say.
    name = os.path.basename(path)
    argv = (bash, "-p", "-c", _CAPTURE, name, path, str(output), _wants_parse(path))
    env = {name: value for name, value in environ.items() if name != "POSIXLY_CORRECT"}
    return os.posix_spawn(
        bash,
        [encode(word) for word in argv],
        {encode(name): encode(value) for name, value in env.items()},
        file_actions=actions,
        setsid=True,  # a group of its own, which no terminal can stop
        setsigmask=mask,
        setsigdef=[_signal.SIGPIPE, _signal.SIGXFSZ],
    )


def _output_descriptor() -> int:
    """Return the highest descriptor that is allowed here, within reason."""
    allowed = os.sysconf("SC_OPEN_MAX")
    return min(allowed - 1, _HIGHEST) if allowed > 0 else _HIGHEST


def _wants_parse(path: str) -> str:
    """Return "yes" when the file has an array or a test: bash goes on after an error in one."""
    with open(path, "rb") as file:
        content = file.read()
    return "yes" if _ARRAY in content or _TEST in content else ""


def _read_until_end(reading: int, pid: int, timeout: float) -> bytes | None:
    import select
    import time

    poll = select.poll()
    poll.register(reading, select.POLLIN)
    deadline = time.monotonic() + timeout
    output = b""
    while not output.endswith(b"\0\0"):
        if poll.poll(_SLICE):
            chunk = os.read(reading, 1 << 16)
            if not chunk:
                break
            output += chunk
        elif time.monotonic() > deadline:
            return None
        elif os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) and not poll.poll(0):
            break  # bash is gone; a background job still holds the pipe
    return output


def _kill_group(pid: int, signal: int) -> None:
    try:
        os.killpg(pid, signal)
    except (ProcessLookupError, PermissionError):
        pass
    os.waitpid(pid, 0)


def _read_records(path: str, output: bytes) -> dict[str, str]:
    verdict, _, rest = output.partition(b"\0")
    said, _, exports = rest.partition(b"\0")
    word, _, detail = decode(verdict).partition(" ")
    if not output.endswith(b"\0\0") or word != "end":
        where = f"{path}:{detail}" if word == "exit" and detail else path
        raise SourceError(f"{where}: ended before its last line (exit, exec, set -e or a signal)")
    line = _error_line(decode(said))
    if line or detail == _BAD_SYNTAX:
        raise SourceError(f"{path}:{line}: syntax error" if line else f"{path}: syntax error")
    return {
        name: value
        for name, value in parse_exports(exports.rstrip(b"\0"))
        if is_name(name) and name not in _OWN_NAMES and not name.startswith("__cli_")
    }


def _error_line(said: str) -> str:
    """Return the number of the first line of which bash said an error, "" when there is none."""
    for line in said.splitlines():
        _, found, rest = line.partition(": line ")
        number, _, what = rest.partition(": ")
        if found and number.isdigit() and not what.startswith("warning"):
            return number
    return ""
