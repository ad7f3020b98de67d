"""The installations that use this environment, and the record of them in it.

The record has one path per line; install.sh also reads it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from glob import escape, glob

from host import OperationError
from host.run import read_regular
from host.run.installation import xdg_home

_RECORD = "cli-host-installations"
_LARGEST = 1 << 14  # bytes of a launcher


def remember(root: str) -> None:
    """Record that the installation at `root` needs this environment."""
    if sys.prefix == sys.base_prefix or "\n" in root:
        return
    line = os.fsencode(f"{root}\n")
    with suppress(OSError), open(os.path.join(sys.prefix, _RECORD), "a+b") as file:
        file.seek(0)
        if line not in file.readlines():
            file.write(line)


def other_installations(root: str, environ: Mapping[str, str]) -> list[str]:
    """Return the other installations of this environment: recorded ones and `usual_launchers`.

    A tool that recreates the environment loses the record.
    """
    recorded: list[str] = []
    with suppress(OSError), open(os.path.join(sys.prefix, _RECORD), "rb") as file:
        recorded = os.fsdecode(file.read()).split("\n")[:-1]
    usual = [os.path.dirname(os.path.dirname(one)) for one in usual_launchers(root, environ)]
    found = sorted({*map(os.path.realpath, recorded), *usual} - {os.path.realpath(root)})
    return [one for one in found if launchers_in(os.path.join(one, "core"))]


def usual_launchers(root: str, environ: Mapping[str, str]) -> list[str]:
    """Return other launchers of this environment: on PATH, and in the default data directory."""
    usual = glob(os.path.join(escape(xdg_home(environ, "DATA")), "*", "core", "*"))
    found = {*map(os.path.realpath, usual), *links_on_path(environ).values()}
    own = os.path.realpath(root) + os.sep
    return sorted(path for path in found if not path.startswith(own) and is_launcher(path))


def is_launcher(path: str, *, anywhere: bool = False) -> bool:
    """Return whether the file at `path` is a launcher: of this environment, or of any."""
    try:
        content = read_regular(path, _LARGEST, OperationError)
    except (OSError, OperationError):
        return False
    ours = anywhere or os.fsencode(sys.prefix) in content
    return ours and b"from host.__main__ import main\n" in content


def launchers_in(core_dir: str, *, anywhere: bool = False) -> list[str]:
    """Return the sorted paths of the launchers in a directory; see `is_launcher`."""
    paths = sorted(glob(os.path.join(escape(core_dir), "*")))
    return [path for path in paths if is_launcher(path, anywhere=anywhere)]


def links_on_path(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the links in directories of PATH, each with its resolved target."""
    directories = filter(os.path.isabs, environ.get("PATH", "").split(":"))
    there = (path for one in directories for path in sorted(glob(os.path.join(escape(one), "*"))))
    return {path: os.path.realpath(path) for path in there if os.path.islink(path)}
