"""Install, upgrade and uninstall on Linux: the order of the steps, and whose rights they take."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from contextlib import suppress

from builtin_plugins.io.addresses import fetchable
from builtin_plugins.io.progress import Reporter
from builtin_plugins.setup.linux import state
from builtin_plugins.setup.linux.prepare import bring
from builtin_plugins.setup.linux.stage import NEW, clear_stage, hold_stage
from builtin_plugins.setup.linux.swap import left_behind, recovered_stage, remove_all, swap_in
from builtin_plugins.setup.tool_settings import PATHS, Places, Settings, check_places, variable
from host import OperationError, find_program

ISOLATION = ("-I",)  # no PYTHON* variable, no current directory


def installed_as(settings: Settings) -> str:
    """Return the command that is installed, "" for none; raises OperationError for wrong places.

    What a killed run left is cleared, where that can be done without more rights.
    """
    check_places(settings)
    places = settings.places
    if left_behind(places):
        with suppress(OSError, OperationError), recovered_stage(places):
            pass
    return places.link if state.is_installed(places) or state.starts_from_stage(places) else ""


def put_in_place(settings: Settings, reporter: Reporter) -> str:
    """Bring the latest version in and return its command.

    Raises OSError, OperationError, and nothing has changed then. Rights, places and foreign
    files are looked at first, so that nothing is fetched in vain. Everything up to the swap
    runs with the caller's own rights.
    """
    places = settings.places
    try:
        fetchable(settings.address)
    except OperationError as refusal:
        name = variable(places.tool, "DOWNLOAD_URL")
        raise OperationError(f"{name}: {refusal}") from None
    state.refuse_foreign(places)
    sudo = _find_elevation(places, settings.environ)
    if sudo is None:
        swap_in(places, lambda stage: bring(settings, stage, reporter))
    else:
        own = os.path.join(_temporary(settings.environ), f"cli-setup-{os.geteuid()}-{places.tool}")
        with hold_stage(own, lambda: False) as stage:
            clear_stage(stage)
            bring(settings, stage, reporter)
            _run_elevated(sudo, "put", settings, reporter, "--archive", pack(stage))
    if places.bin_dir not in settings.environ.get("PATH", places.bin_dir).split(":"):
        reporter.warn(f"{places.bin_dir} is not on your PATH")
    return places.link


def take_away(settings: Settings, reporter: Reporter) -> bool:
    """Remove application, link and menu entry that setup made; tell whether there was one."""
    check_places(settings)
    places = settings.places
    things = state.owned(places)
    there = any(owner is state.Owner.SETUP for _, _, owner in things)
    if there or left_behind(places):
        sudo = _find_elevation(places, settings.environ)
        if sudo is None:
            remove_all(places)
        else:
            _run_elevated(sudo, "remove", settings, reporter)
    for path, _, owner in things:
        if owner is state.Owner.FOREIGN:
            reporter.warn(f"{path} stays: setup did not make it")
    if state.is_installed(places):
        raise OperationError(f"{settings.name} stays: setup did not install it")
    return there


def pack(stage: str) -> str:
    """Make an archive of the prepared `<stage>/new` and return its path."""
    archive = os.path.join(stage, "prepared.tar")
    with tarfile.open(archive, "w") as packed:
        packed.add(os.path.join(stage, NEW), arcname=".")
    return archive


def _temporary(environ: Mapping[str, str]) -> str:
    """Return a directory for large temporary files, which /tmp often has no room for."""
    chosen = environ.get("TMPDIR", "")
    usable = chosen.startswith("/") and os.access(chosen, os.W_OK | os.X_OK)
    return chosen if usable else "/var/tmp"  # noqa: S108  # the name in it is ours alone


def _find_elevation(places: Places, environ: Mapping[str, str]) -> str | None:
    """Return the path of sudo when a change needs it, None when the caller may do it all.

    Raises OperationError naming the directories when neither is the case.
    """
    missing = _unwritable(places)
    if not missing:
        return None
    for path in missing:
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            raise OperationError(f"{path} is on a read-only file system")
    sudo = find_program("sudo", environ)
    if sudo is None:
        one, two, three = (variable(places.tool, suffix) for suffix in PATHS)
        raise OperationError(
            f"no right to write to {', '.join(missing)}, and there is no sudo",
            f"run it as root, or set {one}, {two} and {three} to places of your own",
        )
    return sudo


def _unwritable(places: Places) -> list[str]:
    """Return the existing directories that a change writes to and the caller may not."""
    things = (places.install_dir, places.link, places.desktop_file)
    paths = [os.path.dirname(one) for one in things]
    if os.path.isdir(places.install_dir):
        paths.append(places.install_dir)  # moving a directory rewrites its own ".."
    unwritable: list[str] = []
    for path in paths:
        while not os.path.lexists(path):
            path = os.path.dirname(path)  # noqa: PLW2901  # the nearest one above that exists
        if not os.path.isdir(path):
            raise OperationError(f"{path} is not a directory")
        if not os.access(path, os.W_OK | os.X_OK) and path not in unwritable:
            unwritable.append(path)
    return unwritable


def _run_elevated(
    sudo: str, action: str, settings: Settings, reporter: Reporter, *more: str
) -> None:
    """Let root do `action` (see `elevated`); raises OperationError with all that was said."""
    places = settings.places
    things = f"{places.install_dir}, {places.link} and {places.desktop_file}"
    reporter.info(f"sudo will be asked to change {things}")
    command = [
        *(sudo, sys.executable, *ISOLATION, "-m", "builtin_plugins.setup.linux.elevated", action),
        *("--tool", places.tool, "--install-dir", places.install_dir),
        *("--bin-dir", places.bin_dir, "--desktop-file", places.desktop_file),
        *more,
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
