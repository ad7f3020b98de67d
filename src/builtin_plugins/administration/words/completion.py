"""`self completion`: print or install the code that a shell needs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from builtin_plugins.administration.templates import filled
from builtin_plugins.io.files.atomic import write_file
from builtin_plugins.io.files.undo import os_errors_explained
from host import UsageError
from host.cli.session import Session

# The line in a start-up file; fish has a file for each program.
_POSIX = 'command -v {0} >/dev/null && eval "$({0} self completion {1})" # completion of {0}'
_FISH = "command -v {0} >/dev/null; and {0} self completion {1} | source # completion of {0}"
_LINES = {"bash": _POSIX, "zsh": _POSIX, "fish": _FISH}
SHELLS = (*_LINES,)


def command(session: Session, shell: str | None, install: bool, uninstall: bool) -> None:
    """Show what makes SHELL complete this program's words, or install it.

    Without an option the code is printed, to be loaded by the shell that is running. Without
    SHELL it is the one that the variable SHELL names.
    """
    shell = shell or os.path.basename(session.environ.get("SHELL", ""))
    if shell not in SHELLS:
        raise UsageError("no shell is named", f"name one: {', '.join(SHELLS)}")
    if not (install or uninstall):
        session.show(stub(shell, session.program))
        return
    path = start_up_file(shell, session.program, session.environ)
    with os_errors_explained(path):
        done = complete_in(shell, session.program, session.environ, present=install)
    if install:
        session.show(f"{'installed in' if done else 'is already in'} {path}; open a new shell\n")
    else:
        session.show(f"{'removed from' if done else 'is not in'} {path}\n")


def stub(shell: str, program: str) -> str:
    """Return the code with which a shell asks the program for completions."""
    return filled("completion", NAME=program)[shell]


def start_up_file(shell: str, program: str, environ: Mapping[str, str]) -> str:
    """Return the file that a new shell reads; fish has one per program."""
    home = environ.get("HOME", "")
    if not home:
        raise UsageError("HOME is not set; completion goes into a file there")
    if shell == "fish":
        config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        return os.path.join(config, "fish", "completions", f"{program}.fish")
    if shell == "zsh":
        return os.path.join(environ.get("ZDOTDIR") or home, ".zshrc")
    return os.path.join(home, ".bashrc")


def completes(shell: str, program: str, environ: Mapping[str, str]) -> bool:
    """Return whether the start-up file has the line; False if it cannot be read."""
    with suppress(UsageError, OSError):
        lines = _read(start_up_file(shell, program, environ)).splitlines()
        return _line(shell, program) in lines
    return False


def uncompleted_shell(program: str, environ: Mapping[str, str]) -> str:
    """Return the caller's shell if it could complete the program's words but does not, else ""."""
    shell = os.path.basename(environ.get("SHELL", ""))
    could = shell in SHELLS and environ.get("HOME")
    return shell if could and not completes(shell, program, environ) else ""


def complete_in(shell: str, program: str, environ: Mapping[str, str], *, present: bool) -> bool:
    """Add or remove completion in new shells; return whether that changed anything.

    Raises UsageError without HOME, OSError.
    """
    path = start_up_file(shell, program, environ)
    line, text = _line(shell, program), _read(path)
    lines = text.splitlines(keepends=True)
    kept = [one for one in lines if one.rstrip(b"\n") != line]
    if present == (len(kept) < len(lines)):
        return False
    if shell == "fish" and not (kept or present):
        os.unlink(path)
        return True
    os.makedirs(os.path.dirname(path), exist_ok=True)
    end = b"" if not text or text.endswith(b"\n") else b"\n"
    added = text + end + line + b"\n"
    write_file(os.path.realpath(path), added if present else b"".join(kept))
    return True


def _line(shell: str, program: str) -> bytes:
    return _LINES[shell].format(program, shell).encode()


def _read(path: str) -> bytes:
    with suppress(FileNotFoundError):
        return Path(path).read_bytes()
    return b""
