"""`self completion`: print or install the code that a shell needs."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from builtin_plugins.administration.templates import fill_template
from builtin_plugins.io.files.atomic import write_file
from host.cli.session import Session
from host.run.installation import home

# The line that loads completion from a start-up file; fish has one file per program.
_POSIX = 'command -v {0} >/dev/null && eval "$({0} self completion {1})" # completion of {0}'
_FISH = "command -v {0} >/dev/null; and {0} self completion {1} | source # completion of {0}"
_LINES = {"bash": _POSIX, "zsh": _POSIX, "fish": _FISH}
SHELLS = (*_LINES,)


def command(session: Session, shell: str, install: bool, uninstall: bool) -> None:
    """Print or install the code that lets SHELL complete this program's commands.

    Without an option, the code is printed; load it into the current shell with eval or
    source.
    """
    if not (install or uninstall):
        session.show(fill_template("completion", NAME=session.program)[shell])
        return
    path = start_up_file(shell, session.program, session.environ)
    complete_in(shell, session.program, session.environ, present=install)
    done = f"installed in {path}; open a new shell" if install else f"removed from {path}"
    session.show_lines(done)


def start_up_file(shell: str, program: str, environ: Mapping[str, str]) -> str:
    """Return the start-up file that loads completion; for fish, a file only for `program`."""
    if shell == "fish":
        config = environ.get("XDG_CONFIG_HOME", "")
        if not os.path.isabs(config):
            config = os.path.join(home(environ), ".config")
        return os.path.join(config, "fish", "completions", f"{program}.fish")
    if shell == "zsh":
        return os.path.join(environ.get("ZDOTDIR") or home(environ), ".zshrc")
    return os.path.join(home(environ), ".bashrc")


def completes(shell: str, program: str, environ: Mapping[str, str]) -> bool:
    """Return whether the shell's start-up file loads completion; False if it cannot be read."""
    with suppress(OSError):
        path = start_up_file(shell, program, environ)
        return _line(shell, program) in Path(path).read_bytes().splitlines()
    return False


def uncompleted_shell(program: str, environ: Mapping[str, str]) -> str:
    """Return the caller's shell if it can complete `program`, but does not yet; otherwise ""."""
    shell = os.path.basename(environ.get("SHELL", ""))
    return shell if shell in SHELLS and not completes(shell, program, environ) else ""


def complete_in(shell: str, program: str, environ: Mapping[str, str], *, present: bool) -> None:
    """Add completion for new shells if `present` is true, or remove it if not. Raises OSError."""
    path = start_up_file(shell, program, environ)
    line, lines = _line(shell, program) + b"\n", []
    with suppress(FileNotFoundError):
        lines = Path(path).read_bytes().splitlines(keepends=True)
    if present == (line in lines):
        return
    if shell == "fish" and lines == [line]:
        os.unlink(path)
    elif present:
        end = b"" if not lines or lines[-1].endswith(b"\n") else b"\n"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_file(os.path.realpath(path), b"".join([*lines, end, line]))
    else:
        write_file(os.path.realpath(path), b"".join(one for one in lines if one != line))


def _line(shell: str, program: str) -> bytes:
    return _LINES[shell].format(program, shell).encode()
