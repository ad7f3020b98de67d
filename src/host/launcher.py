"""The launcher `core/<name>`: an executable that starts this interpreter with the host."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import host

# A kernel splits a shebang at blanks and some cut it at 127 bytes; then a shell starts it.
_LONGEST_SHEBANG = 120

_PYTHON = """\
{head}
import sys

sys.path.append({packages!r})
from host.__main__ import main

sys.exit(main())
"""


def launcher_text(interpreter: str, packages: str) -> str:
    """Return the launcher's text for an interpreter and the directory of the packages.

    `-I` keeps the caller's PYTHON* variables out, `-S` saves the time of `site`,
    which only the slow side needs and does itself.
    """
    head = f"#!{interpreter} -IS"
    if len(os.fsencode(head)) > _LONGEST_SHEBANG or any(mark in interpreter for mark in " \t\n"):
        quoted = "'" + interpreter.replace("'", "'\"'\"'") + "'"
        return (
            "#!/bin/sh\n"
            "# The interpreter's path does not fit a shebang, so a shell starts it.\n"
            f'exec {quoted} -IS -c \'{_as_argument(packages)}\' "$0" "$@"\n'
        )
    return _PYTHON.format(head=head, packages=packages)


def _as_argument(packages: str) -> str:
    """Return the program for `-c`, without a single quote in it."""
    path = "".join(f"\\x{byte:02x}" for byte in os.fsencode(packages))
    return (
        "import os, sys; sys.argv.pop(0); "
        f'sys.path.append(os.fsdecode(b"{path}")); '
        "from host.__main__ import main; sys.exit(main())"
    )


def write_launcher(path: Path, *, replace: bool = False) -> bool:
    """Make the executable `path` whole or not at all.

    Returns False when something is there already, unless it is to be replaced.
    Raises OSError.
    """
    if os.path.lexists(path) and not replace:
        return False
    packages = str(Path(host.__file__).parent.parent)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=".cli-", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(os.fsencode(launcher_text(sys.executable, packages)))
        os.chmod(temporary, 0o755)  # noqa: S103 - everybody may start it
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
    return True
