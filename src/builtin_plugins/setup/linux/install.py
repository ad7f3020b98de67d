"""Install, upgrade and uninstall on Linux: the order of the steps, and who does them."""

import os
import tarfile
import tempfile
from collections.abc import Mapping
from contextlib import suppress

from builtin_plugins.fetch.progress import Reporter
from builtin_plugins.files.refusals import explained
from builtin_plugins.setup.linux.prepare import bring
from builtin_plugins.setup.linux.stage import NEW, clear_stage, hold_stage
from builtin_plugins.setup.linux.state import (
    Owner,
    is_installed,
    owned,
    refuse_foreign,
    starts_from_stage,
)
from builtin_plugins.setup.linux.sudo import find_elevation, run_elevated
from builtin_plugins.setup.linux.swap import left_behind, recovered_stage, remove_all, swap_in
from builtin_plugins.setup.places import Places
from builtin_plugins.setup.tool_settings import Settings, check_address, check_places
from host import OperationError


def install(settings: Settings, reporter: Reporter, *, upgrade: bool) -> None:
    """Bring the latest version in; raises OperationError, and nothing has changed then.

    Rights, places and foreign files are looked at first, so that nothing is fetched in
    vain. Everything up to the swap runs with the caller's own rights.
    """
    check_places(settings)
    places = settings.places
    with explained():
        there = is_installed(places) or starts_from_stage(places)
        if there and not upgrade:
            _tidy(places)
            reporter.info(
                f"{settings.name} is installed already ({places.link}); "
                "--upgrade brings the latest version"
            )
            return
        if upgrade and not there:
            raise OperationError(f"{settings.name} is not installed")
        check_address(settings)
        refuse_foreign(places)
        sudo = find_elevation(places, settings.environ)
        if sudo is None:
            swap_in(places, lambda stage: bring(settings, stage, reporter))
        else:
            _install_with(sudo, settings, reporter)
    reporter.info(f"{settings.name} is {'upgraded' if upgrade else 'installed'}: {places.link}")
    if places.bin_dir not in settings.environ.get("PATH", places.bin_dir).split(":"):
        reporter.warn(f"{places.bin_dir} is not on your PATH")


def uninstall(settings: Settings, reporter: Reporter) -> None:
    """Remove application, link and menu entry that setup made, and nothing else."""
    check_places(settings)
    places = settings.places
    with explained():
        things = owned(places)
        there = any(owner is Owner.SETUP for _, _, owner in things)
        if there or os.path.isdir(places.stage) or left_behind(places):
            sudo = find_elevation(places, settings.environ)
            if sudo is None:
                remove_all(places)
            else:
                run_elevated(sudo, "remove", settings, reporter)
    for path, _, owner in things:
        if owner is Owner.FOREIGN:
            reporter.warn(f"{path} stays: setup did not make it")
    if is_installed(places):
        raise OperationError(f"{settings.name} stays: setup did not install it")
    state = "is uninstalled; your own data stays" if there else "is not installed"
    reporter.info(f"{settings.name} {state}")


def _install_with(sudo: str, settings: Settings, reporter: Reporter) -> None:
    """Prepare everything in a place of the caller's own, then let root put it in place."""
    places = settings.places
    own = os.path.join(_temporary(settings.environ), f"cli-setup-{os.geteuid()}-{places.tool}")
    with hold_stage(own, lambda: False) as stage:
        clear_stage(stage)
        bring(settings, stage, reporter)
        run_elevated(sudo, "put", settings, reporter, pack(stage))


def pack(stage: str) -> str:
    """Make an archive of the prepared `<stage>/new` and return its path."""
    archive = os.path.join(stage, "prepared.tar")
    with tarfile.open(archive, "w") as packed:
        packed.add(os.path.join(stage, NEW), arcname=".")
    return archive


def _tidy(places: Places) -> None:
    """Clear what a killed run left, where that can be done without more rights."""
    if os.path.isdir(places.stage) or left_behind(places):
        with suppress(OSError, OperationError), recovered_stage(places):
            pass


def _temporary(environ: Mapping[str, str]) -> str:
    """Return a directory for large temporary files, which /tmp often has no room for."""
    chosen = environ.get("TMPDIR", "")
    return next(
        path
        for path in (chosen, "/var/tmp", tempfile.gettempdir())  # noqa: S108  # the name in it is ours alone
        if path.startswith("/") and os.access(path, os.W_OK | os.X_OK)
    )
