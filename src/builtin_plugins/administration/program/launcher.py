"""The launcher `core/<name>`: an executable that starts the host with this interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import host
from builtin_plugins.administration.program.environment.installations import is_launcher, remember
from builtin_plugins.administration.program.shipped_files import renew
from builtin_plugins.administration.templates import filled
from builtin_plugins.io.files.atomic import write_file
from builtin_plugins.io.files.undo import os_errors_explained
from host import OperationError
from host.cli.session import Session
from host.run.installation import Layout

# Linux splits a shebang at its first blank and reads only 255 bytes of it.
_LONGEST_SHEBANG = 250


def launcher_text(interpreter: str, packages: str) -> str:
    """Return the launcher's text for an interpreter and the directory of the packages.

    `-I` keeps the caller's PYTHON* variables from changing how this program starts. `-S` skips
    the slow `site` module; the code that needs it loads it later. The shebang names no shell,
    because shells change the environment. Raises OperationError if the interpreter's path is too
    long for a shebang.
    """
    head = f"#!{interpreter} -IS"
    if any(mark in interpreter for mark in " \t\\'\""):
        quoted = interpreter.replace("\\", "\\\\").replace("'", "\\'")
        head = f"#!/usr/bin/env -S '{quoted}' -IS"
    if len(os.fsencode(head)) > _LONGEST_SHEBANG or "\n" in head:
        raise OperationError(f"{interpreter}: too long a path to start a program with", "move it")
    values = {"HEAD": head, "PACKAGES": repr(packages), "PREFIX": repr(sys.prefix)}
    return filled("launcher", **values)["launcher"]


def is_of_other_version(path: str) -> bool:
    """Return whether `path` is a launcher of this environment written by another version."""
    if not is_launcher(path):
        return False
    text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    body = launcher_text(sys.executable, _packages()).partition("\n")[2]
    return text.partition("\n")[2] != body  # python and python3 start the same


def _packages() -> str:
    return str(Path(host.__file__).parent.parent)


def launcher_of(layout: Layout) -> str:
    """Return the path of an installation's launcher."""
    return os.path.join(layout.core_dir, layout.program)


def write_launcher(path: str) -> None:
    """Write the launcher `path` atomically; raises OSError, OperationError."""
    text = launcher_text(sys.executable, _packages())
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_file(path, os.fsencode(text), 0o755)


def write_man_page(name: str) -> None:
    """Write the man page of a program with another name, made from the package's man page.

    `release/share.py` prints the name in bold everywhere. Raises OSError.
    """
    pages = Path(sys.prefix, "share", "man", "man1")
    shipped = pages / "cli.1"
    if name == "cli" or not shipped.is_file():
        return
    text = shipped.read_text("utf-8").replace("\n.TH CLI ", f"\n.TH {name.upper()} ", 1)
    escaped = name.replace("-", "\\-")
    text = text.replace("\\fBcli\\fR", f"\\fB{escaped}\\fR")
    write_file(str(pages / f"{name}.1"), text.encode())


def renew_own_files(launcher: str, warn: Callable[[str], object]) -> None:
    """Update a launcher, its man page and the library beside it to this version.

    Raises OSError if the launcher cannot be written; the library can be updated later.
    """
    root = os.path.dirname(os.path.dirname(launcher))
    write_launcher(launcher)
    write_man_page(os.path.basename(launcher))
    remember(root)
    try:
        with os_errors_explained():
            renew(root, warn)
    except OperationError as failure:
        warn(f"{failure}; run self update again")


def command(session: Session, path: str) -> None:
    """Bring the launcher PATH, its man page and the library beside it to this version.

    install.sh and `self update` call this in the environment that they made. Prints warnings.
    """
    with os_errors_explained(path):
        renew_own_files(os.path.abspath(path), session.show_lines)
