"""The installations that run by this environment, recorded in it: one path a line.

install.sh reads the record, too.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from glob import escape, glob

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


def other_installations(root: str) -> list[str]:
    """Return the recorded installations that still start with this environment, but `root`."""
    try:
        with open(os.path.join(sys.prefix, _RECORD), "rb") as file:
            recorded = os.fsdecode(file.read()).split("\n")[:-1]
    except OSError:
        return []
    own = os.path.realpath(root)
    found = dict.fromkeys(map(os.path.realpath, recorded))
    return [one for one in found if one != own and launchers_in(os.path.join(one, "core"))]


def is_launcher(path: str, *, anywhere: bool = False) -> bool:
    """Tell whether the file at `path` is a launcher: of this environment, or of any."""
    try:
        with open(path, "rb") as file:
            head = file.read(_LARGEST)
    except OSError:
        return False
    ours = anywhere or os.fsencode(sys.prefix) in head
    return ours and b"from host.__main__ import main\n" in head


def launchers_in(core_dir: str, *, anywhere: bool = False) -> list[str]:
    """Return the paths of the launchers in a directory, sorted; otherwise as `is_launcher`."""
    paths = sorted(glob(os.path.join(escape(core_dir), "*")))
    return [path for path in paths if is_launcher(path, anywhere=anywhere)]
