"""Whose rights a change takes, and sudo for the one step that may need root's."""

import os
import subprocess
import sys
from collections.abc import Mapping

from builtin_plugins.fetch.progress import Reporter
from builtin_plugins.setup.places import Places, variable
from builtin_plugins.setup.tool_settings import Settings
from host import OperationError
from host.run.paths import find_program

ISOLATION = ("-I",)  # no PYTHON* variable, no current directory


def find_elevation(places: Places, environ: Mapping[str, str]) -> str | None:
    """Return the path of sudo when a change needs it, None when the caller may do it all.

    Raises OperationError naming the directories when neither is the case.
    """
    missing = _unwritable(places)
    if not missing:
        return None
    for path in missing:
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            raise OperationError(f"{path} is on a read-only file system")
    names = ", ".join(missing)
    if os.geteuid() == 0:
        raise OperationError(f"root may not write to {names}")
    sudo = find_program("sudo", environ)
    if sudo is None:
        tool = places.tool
        raise OperationError(
            f"no right to write to {names}, and there is no sudo",
            "run it as root, or set "
            f"{variable(tool, 'INSTALL_DIR')}, {variable(tool, 'BIN_DIR')} and "
            f"{variable(tool, 'DESKTOP_FILE')} to places of your own",
        )
    return sudo


def _unwritable(places: Places) -> list[str]:
    """Return the existing directories that a change writes to and the caller may not."""
    wanted = [os.path.dirname(places.install_dir), places.bin_dir]
    wanted.append(os.path.dirname(places.desktop_file))
    if os.path.isdir(places.install_dir):
        wanted.append(places.install_dir)  # moving a directory rewrites its own ".."
    found = list(dict.fromkeys(map(_nearest_there, wanted)))
    for path in found:
        if not os.path.isdir(path):
            raise OperationError(f"{path} is not a directory")
    return [path for path in found if not os.access(path, os.W_OK | os.X_OK)]


def _nearest_there(path: str) -> str:
    """Return `path`, or the nearest one above it that exists."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path


def run_elevated(
    sudo: str, action: str, settings: Settings, reporter: Reporter, archive: str = ""
) -> None:
    """Let root do `action`; raises OperationError with all that was said."""
    places = settings.places
    reporter.info(
        f"sudo will be asked to change {places.install_dir}, {places.link} and "
        f"{places.desktop_file}"
    )
    command = [
        *(sudo, sys.executable, *ISOLATION, "-m", "builtin_plugins.setup.linux.elevated", action),
        *("--tool", places.tool, "--install-dir", places.install_dir),
        *("--bin-dir", places.bin_dir, "--desktop-file", places.desktop_file),
        *(("--archive", archive) if archive else ()),
    ]
    interrupted = False
    with subprocess.Popen(command, env=dict(settings.environ), stderr=subprocess.PIPE) as process:
        while True:
            try:
                _, said = process.communicate()
                break
            except KeyboardInterrupt:  # the terminal told sudo too; wait for what it does
                interrupted = True
    if process.returncode and interrupted:
        raise KeyboardInterrupt
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    if process.returncode:
        raise OperationError(f"with sudo: {'; '.join(lines) or 'no reason given'}")
    for line in lines:
        reporter.warn(line)
