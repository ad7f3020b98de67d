"""Install, upgrade and uninstall on Linux: the order of the steps, and whose rights they take."""

import os
import subprocess
import sys
import tarfile
from contextlib import suppress

from builtin_plugins.io.addresses import fetchable
from builtin_plugins.io.progress import Reporter
from builtin_plugins.setup.linux import state
from builtin_plugins.setup.linux.prepare import Application, bring
from builtin_plugins.setup.linux.swap import clear, remove_all, swap_in
from builtin_plugins.setup.tool_settings import PATHS, Places, Settings, check_places, variable
from builtin_plugins.store import Store, staging
from host import OperationError, find_program

BUSY = "another setup is running"
ISOLATION = ("-I",)  # no PYTHON* variable, no current directory


def installed_as(settings: Settings) -> str:
    """Return the command that is installed, "" for none; raises OperationError for wrong places.

    Removes what a killed run left, if that takes no more rights.
    """
    check_places(settings)
    places = settings.places
    with suppress(OSError, OperationError):
        if state.directory_owner(places) is state.Owner.SETUP:
            with state.store_of(places).locked(BUSY):
                clear(places)
    return places.link if state.is_installed(places) else ""


def install(settings: Settings, reporter: Reporter) -> str:
    """Install the latest version and return its command.

    Raises OSError or OperationError; nothing has changed then. Address, rights and foreign files
    are checked before the download. Everything up to the swap runs with the caller's own rights.
    """
    places = settings.places
    try:
        fetchable(settings.address)
    except OperationError as refusal:
        name = variable(places.tool, "DOWNLOAD_URL")
        raise OperationError(f"{name}: {refusal}") from None
    state.refuse_foreign(places)
    sudo = _find_elevation(settings)
    if sudo is None:
        with state.store_of(places).locked(BUSY, mode=0o755):
            clear(places)
            with staging(places.install_dir) as (stage, _):
                problems = swap_in(places, *bring(settings, stage, reporter))
        for problem in problems:
            reporter.warn(str(problem))
    else:
        _install_elevated(sudo, settings, reporter)
    if places.bin_dir not in settings.environ.get("PATH", places.bin_dir).split(":"):
        reporter.warn(f"{places.bin_dir} is not on your PATH")
    return places.link


def _install_elevated(sudo: str, settings: Settings, reporter: Reporter) -> None:
    """Prepare the application in a directory of the caller's own, then let root swap it in."""
    # /tmp often has no room for an application.
    chosen = settings.environ.get("TMPDIR", "")
    usable = chosen.startswith("/") and os.access(chosen, os.W_OK | os.X_OK)
    above = chosen if usable else "/var/tmp"  # noqa: S108  # the name in it is ours alone
    own = os.path.join(above, f"cli-setup-{os.geteuid()}-{settings.places.tool}")
    store = Store(own, os.path.join(own, "current"), lambda _: False)
    with store.locked(BUSY, mode=0o700):
        if os.stat(own).st_uid != os.geteuid():
            raise OperationError(f"{own} belongs to another user", "remove it")
        store.collect()
        with staging(own) as (stage, _):
            application, staged = bring(settings, stage, reporter)
            archive = ("--archive", pack(staged)) if staged else ()
            _run_elevated(sudo, settings, reporter, "put", *arguments_of(application), *archive)


def pack(staged: str) -> str:
    """Make an archive of a prepared version, beside it, and return its path."""
    archive = f"{staged}.tar"
    with tarfile.open(archive, "w") as packed:
        packed.add(staged, arcname=".")
    return archive


def arguments_of(application: Application) -> tuple[str, ...]:
    """Return the arguments of the elevated step that name a version."""
    version, launcher, menu = application
    return (f"--version={version}", f"--launcher={launcher}", f"--menu={menu}")


def uninstall(settings: Settings, reporter: Reporter) -> bool:
    """Remove application, link and menu entry that setup made; return whether there was one."""
    check_places(settings)
    places = settings.places
    found = state.owners(places)
    present = any(owner is state.Owner.SETUP for _, _, owner in found)
    problems: list[OperationError] = []
    if present:
        sudo = _find_elevation(settings)
        if sudo is None:
            with state.store_of(places).locked(BUSY, mode=0o755):
                problems = remove_all(places)
        else:
            _run_elevated(sudo, settings, reporter, "remove")
    for path, _, owner in found:
        if owner is state.Owner.FOREIGN:
            reporter.warn(f"{path} stays: setup did not make it")
    for problem in problems:
        raise problem
    if state.is_installed(places):
        raise OperationError(f"{settings.name} stays: setup did not install it")
    return present


def _find_elevation(settings: Settings) -> str | None:
    """Return the path of sudo if a change needs it, None if the caller may make it.

    Raises OperationError naming the directories if neither is the case.
    """
    places = settings.places
    missing = _unwritable(places)
    if not missing:
        return None
    for path in missing:
        if os.statvfs(path).f_flag & os.ST_RDONLY:
            raise OperationError(f"{path} is on a read-only file system")
    sudo = find_program("sudo", settings.callers_path())
    if sudo is None:
        one, two, three = (variable(places.tool, suffix) for suffix in PATHS)
        raise OperationError(
            f"no right to write to {', '.join(missing)}, and there is no sudo",
            f"run it as root, or set {one}, {two} and {three} to places of your own",
        )
    return sudo


def _unwritable(places: Places) -> list[str]:
    """Return the existing directories that a change writes to and the caller may not."""
    unwritable: list[str] = []
    parents = map(os.path.dirname, (places.link, places.desktop_file))
    for path in (places.install_dir, *parents):
        while not os.path.lexists(path):
            path = os.path.dirname(path)  # noqa: PLW2901  # the nearest one above that exists
        if not os.path.isdir(path):
            raise OperationError(f"{path} is not a directory")
        if not os.access(path, os.W_OK | os.X_OK) and path not in unwritable:
            unwritable.append(path)
    return unwritable


def _run_elevated(
    sudo: str, settings: Settings, reporter: Reporter, action: str, *more: str
) -> None:
    """Let root do `action` (see `elevated`); raises OperationError with all that sudo printed."""
    places = settings.places
    changed = f"{places.install_dir}, {places.link} and {places.desktop_file}"
    reporter.info(f"sudo will be asked to change {changed}")
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
                _, printed = process.communicate()
                break
            except KeyboardInterrupt:  # sudo got the signal, too; wait for its end
                interrupted = True
    if process.returncode and interrupted:
        raise KeyboardInterrupt
    lines = [line for line in printed.decode("utf-8", "replace").splitlines() if line.strip()]
    if process.returncode:
        raise OperationError(f"with sudo: {'; '.join(lines) or 'no reason given'}")
    for line in lines:
        reporter.warn(line)
