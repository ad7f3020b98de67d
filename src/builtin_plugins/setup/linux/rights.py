"""Which directories a change must write to, and whose rights that takes."""

import os
from collections.abc import Mapping

from builtin_plugins.setup.linux.state import (
    Owner,
    Places,
    directory_owner,
    link_owner,
    menu_owner,
    variable,
)
from host.errors import OperationError
from host.run.launch import find_program
from host.run.text import printable


def refuse_foreign(places: Places) -> None:
    """Raise OperationError when something that setup did not make is in the way."""
    for owner, path, suffix in (
        (directory_owner(places), places.install_dir, "INSTALL_DIR"),
        (link_owner(places), places.link, "BIN_DIR"),
        (menu_owner(places), places.desktop_file, "DESKTOP_FILE"),
    ):
        if owner is Owner.FOREIGN:
            raise OperationError(
                f"{printable(path)} is there and setup did not make it; "
                f"move it away or set {variable(places.tool, suffix)}"
            )


def find_elevation(places: Places, environ: Mapping[str, str]) -> str | None:
    """Return the path of sudo when a change needs it, None when the caller may do it all.

    Raises OperationError naming the directories when neither is the case.
    """
    missing = _unwritable(places)
    if not missing:
        return None
    names = ", ".join(printable(path) for path in missing)
    for path in missing:
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            raise OperationError(f"{printable(path)} is on a read-only file system")
    if os.geteuid() == 0:
        raise OperationError(f"root may not write to {names}")
    sudo = find_program("sudo", environ)
    if sudo is None:
        tool = places.tool
        raise OperationError(
            f"no right to write to {names}, and there is no sudo; run it as root, or set "
            f"{variable(tool, 'INSTALL_DIR')}, {variable(tool, 'BIN_DIR')} and "
            f"{variable(tool, 'DESKTOP_FILE')} to places of your own"
        )
    return sudo


def _unwritable(places: Places) -> list[str]:
    """Return the existing directories that a change writes to and the caller may not."""
    wanted = [
        os.path.dirname(places.install_dir),
        places.bin_dir,
        os.path.dirname(places.desktop_file),
    ]
    if os.path.isdir(places.install_dir):
        wanted.append(places.install_dir)  # moving a directory rewrites its own ".."
    found = [_nearest(path) for path in wanted]
    return [path for path in dict.fromkeys(found) if not os.access(path, os.W_OK | os.X_OK)]


def _nearest(path: str) -> str:
    """Return `path`, or the nearest directory above it that exists."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    if not os.path.isdir(path):
        raise OperationError(f"{printable(path)} is not a directory")
    return path
