"""Install, upgrade and uninstall on Linux: the order of the steps, and who does them."""

import os
import tarfile
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from builtin_plugins.archives.extract import Rules, extract
from builtin_plugins.fetch.addresses import fetchable, shown
from builtin_plugins.fetch.download import Limits, fetch
from builtin_plugins.fetch.progress import Reporter, readable_size
from builtin_plugins.setup.endings import explained
from builtin_plugins.setup.linux.prepare import prepare
from builtin_plugins.setup.linux.stage import clear_stage, hold_stage, new_directories
from builtin_plugins.setup.linux.state import (
    MARK_DIRECTORY,
    Owner,
    Places,
    directory_owner,
    is_installed,
    link_owner,
    menu_owner,
    refuse_foreign,
    variable,
    was_interrupted,
)
from builtin_plugins.setup.linux.sudo import find_elevation, run_elevated
from builtin_plugins.setup.linux.swap import NEW, heal, left_behind, put_in_place, remove_all
from builtin_plugins.setup.settings import Settings, check_places
from host import OperationError

_RULES = Rules(links=True, reserved=frozenset([MARK_DIRECTORY]))


def install(
    settings: Settings, environ: Mapping[str, str], reporter: Reporter, upgrade: bool = False
) -> None:
    """Bring the latest version in; raises OperationError, and nothing has changed then.

    Rights, places and foreign files are looked at first, so that nothing is fetched in
    vain. Everything up to the swap runs with the caller's own rights.
    """
    check_places(settings, environ)
    places = settings.places
    with explained():
        there = is_installed(places) or was_interrupted(places)
        if there and not upgrade:
            _tidy(places)
            reporter.info(
                f"{settings.name} is installed already ({places.link}); "
                "--upgrade brings the latest version"
            )
            return
        if upgrade and not there:
            raise OperationError(f"{settings.name} is not installed")
        _check_address(settings)
        refuse_foreign(places)
        sudo = find_elevation(places, environ)
        if sudo is None:
            _install_directly(settings, reporter)
        else:
            _install_with(sudo, settings, environ, reporter)
    _say_done(settings, environ, reporter, "upgraded" if upgrade else "installed")


def uninstall(settings: Settings, environ: Mapping[str, str], reporter: Reporter) -> None:
    """Remove application, link and menu entry that setup made, and nothing else."""
    check_places(settings, environ)
    places = settings.places
    with explained():
        owners = (directory_owner(places), link_owner(places), menu_owner(places))
        there = Owner.SETUP in owners
        if there or os.path.isdir(places.stage) or left_behind(places):
            sudo = find_elevation(places, environ)
            if sudo is None:
                remove_all(places)
            else:
                run_elevated(sudo, "remove", places, environ, reporter)
    for owner, path in zip(
        owners, (places.install_dir, places.link, places.desktop_file), strict=True
    ):
        if owner is Owner.FOREIGN:
            reporter.warn(f"{path} stays: setup did not make it")
    if is_installed(places):
        raise OperationError(f"{settings.name} stays: setup did not install it")
    state = "is uninstalled; your own data stays" if there else "is not installed"
    reporter.info(f"{settings.name} {state}")


def _check_address(settings: Settings) -> None:
    try:
        fetchable(settings.address)
    except OperationError as refusal:
        name = variable(settings.places.tool, "DOWNLOAD_URL")
        raise OperationError(f"{name}: {refusal}") from None


def _install_directly(settings: Settings, reporter: Reporter) -> None:
    places = settings.places
    with new_directories() as make:
        make(os.path.dirname(places.install_dir))
        with hold_stage(places.stage, lambda: was_interrupted(places)) as stage:
            heal(places)
            bring(settings, stage, reporter)
            put_in_place(places, make)


def _install_with(
    sudo: str, settings: Settings, environ: Mapping[str, str], reporter: Reporter
) -> None:
    """Prepare everything in a place of the caller's own, then let root put it in place."""
    places = settings.places
    own = os.path.join(_temporary(environ), f"cli-setup-{os.geteuid()}-{places.tool}")
    with hold_stage(own, lambda: False) as stage:
        clear_stage(stage)
        bring(settings, stage, reporter)
        run_elevated(sudo, "put", places, environ, reporter, pack(stage))


def pack(stage: str) -> str:
    """Make an archive of the prepared `<stage>/new` and return its path."""
    archive = os.path.join(stage, "prepared.tar")
    with tarfile.open(archive, "w") as packed:
        packed.add(os.path.join(stage, NEW), arcname=".")
    return archive


def bring(settings: Settings, stage: str, reporter: Reporter) -> None:
    """Fetch, check, unpack and prepare the application in `<stage>/new`."""
    deadline = time.monotonic() + settings.seconds
    archive = Path(stage, "archive")
    reporter.info(f"Downloading {shown(settings.address)}")
    with reporter.progress(settings.name) as progress:
        fetched = fetch(
            settings.address,
            archive,
            limits=Limits(seconds=settings.seconds),
            sha256=settings.sha256 or None,
            progress=progress,
        )
    reporter.info(f"Unpacking {readable_size(fetched.size)}")
    new = Path(stage, NEW)
    left = deadline - time.monotonic()
    extracted = extract(archive, new, _RULES, called=shown(settings.address), seconds=left)
    archive.unlink()
    if extracted.privileged:
        reporter.warn(
            f"setuid, setgid or sticky bits left out of the archive: {extracted.privileged}"
        )
    reporter.detail(f"{readable_size(extracted.size)} unpacked in {new}")
    prepare(str(new), settings, reporter)


def _tidy(places: Places) -> None:
    """Clear what a killed run left, where that can be done without more rights."""
    if os.path.isdir(places.stage) or left_behind(places):
        with (
            suppress(OSError, OperationError),
            hold_stage(places.stage, lambda: was_interrupted(places)),
        ):
            heal(places)


def _say_done(
    settings: Settings, environ: Mapping[str, str], reporter: Reporter, what: str
) -> None:
    places = settings.places
    reporter.info(f"{settings.name} is {what}: {places.link}")
    if places.bin_dir not in environ.get("PATH", places.bin_dir).split(":"):
        reporter.warn(f"{places.bin_dir} is not on your PATH")


def _temporary(environ: Mapping[str, str]) -> str:
    """Return a directory for large temporary files, which /tmp often has no room for."""
    chosen = environ.get("TMPDIR", "")
    return next(
        path
        for path in (chosen, "/var/tmp", tempfile.gettempdir())  # noqa: S108  # the name in it is ours alone
        if path.startswith("/") and os.access(path, os.W_OK | os.X_OK)
    )
