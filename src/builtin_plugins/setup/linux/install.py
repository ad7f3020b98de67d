"""Install, upgrade and uninstall on Linux: the order of the steps, and who does them."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from builtin_plugins.archives.extract import Rules, extract
from builtin_plugins.fetch.addresses import fetchable, shown
from builtin_plugins.fetch.download import Limits, fetch
from builtin_plugins.fetch.progress import Reporter, readable_size
from builtin_plugins.setup.linux.elevated import run_elevated
from builtin_plugins.setup.linux.prepare import prepare
from builtin_plugins.setup.linux.rights import find_elevation, refuse_foreign
from builtin_plugins.setup.linux.stage import clear_stage, hold_stage, make_directory
from builtin_plugins.setup.linux.state import (
    MARK_DIRECTORY,
    Owner,
    Places,
    directory_owner,
    is_installed,
    link_owner,
    menu_owner,
    variable,
    was_interrupted,
)
from builtin_plugins.setup.linux.swap import NEW, heal, left_behind, put_in_place, remove_all
from builtin_plugins.setup.settings import Settings, check_places
from host.errors import OperationError
from host.run.text import printable

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
    with _explained():
        there = is_installed(places) or was_interrupted(places)
        if there and not upgrade:
            _tidy(places)
            reporter.info(
                f"{printable(settings.name)} is installed already ({printable(places.link)}); "
                "--upgrade brings the latest version"
            )
            return
        if upgrade and not there:
            raise OperationError(f"{printable(settings.name)} is not installed")
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
    with _explained():
        there = is_installed(places) or was_interrupted(places)
        owners = (directory_owner(places), link_owner(places), menu_owner(places))
        if Owner.SETUP in owners or os.path.isdir(places.stage) or left_behind(places):
            sudo = find_elevation(places, environ)
            if sudo is None:
                remove_all(places)
            else:
                _announce(places, reporter)
                run_elevated(sudo, "remove", places, environ)
    for owner, path in zip(
        owners, (places.install_dir, places.link, places.desktop_file), strict=True
    ):
        if owner is Owner.FOREIGN:
            reporter.warn(f"{printable(path)} stays: setup did not make it")
    if is_installed(places):
        raise OperationError(f"{printable(settings.name)} stays: setup did not install it")
    state = "is uninstalled; your own data stays" if there else "is not installed"
    reporter.info(f"{printable(settings.name)} {state}")


def _check_address(settings: Settings) -> None:
    try:
        fetchable(settings.address)
    except OperationError as refusal:
        name = variable(settings.places.tool, "DOWNLOAD_URL")
        raise OperationError(f"{name}: {refusal}") from None


def _install_directly(settings: Settings, reporter: Reporter) -> None:
    places = settings.places
    make_directory(os.path.dirname(places.install_dir))
    with hold_stage(places.stage, lambda: was_interrupted(places)) as stage:
        heal(places)
        bring(settings, stage, reporter)
        put_in_place(places)


def _install_with(
    sudo: str, settings: Settings, environ: Mapping[str, str], reporter: Reporter
) -> None:
    """Prepare everything in a place of the caller's own, then let root put it in place."""
    places = settings.places
    _announce(places, reporter)
    own = os.path.join(_temporary(environ), f"cli-setup-{os.geteuid()}-{places.tool}")
    with hold_stage(own, lambda: False) as stage:
        clear_stage(stage)
        size = bring(settings, stage, reporter)
        free = shutil.disk_usage(_existing(places.install_dir)).free
        if size > free:
            raise OperationError(
                f"{printable(places.install_dir)}: {size} bytes needed, {free} free"
            )
        run_elevated(sudo, "put", places, environ, os.path.join(stage, NEW))


def bring(settings: Settings, stage: str, reporter: Reporter) -> int:
    """Fetch, check and unpack the archive into `<stage>/new`; return its size in bytes."""
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
    reporter.detail(f"{readable_size(extracted.size)} unpacked in {printable(str(new))}")
    prepare(str(new), settings, reporter)
    return extracted.size


def _tidy(places: Places) -> None:
    """Clear what a killed run left, where that can be done without more rights."""
    if os.path.isdir(places.stage) or left_behind(places):
        with (
            suppress(OSError, OperationError),
            hold_stage(places.stage, lambda: was_interrupted(places)),
        ):
            heal(places)


def _announce(places: Places, reporter: Reporter) -> None:
    reporter.info(
        f"sudo will be asked to change {printable(places.install_dir)}, "
        f"{printable(places.link)} and {printable(places.desktop_file)}"
    )


def _say_done(
    settings: Settings, environ: Mapping[str, str], reporter: Reporter, what: str
) -> None:
    places = settings.places
    reporter.info(f"{printable(settings.name)} is {what}: {printable(places.link)}")
    if places.bin_dir not in environ.get("PATH", places.bin_dir).split(":"):
        reporter.warn(f"{printable(places.bin_dir)} is not on your PATH")


def _temporary(environ: Mapping[str, str]) -> str:
    """Return a directory for large temporary files, which /tmp often has no room for."""
    chosen = environ.get("TMPDIR", "")
    return next(
        path
        for path in (chosen, "/var/tmp", tempfile.gettempdir())  # noqa: S108  # the name in it is ours alone
        if path.startswith("/") and os.access(path, os.W_OK | os.X_OK)
    )


def _existing(path: str) -> str:
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


@contextmanager
def _explained() -> Iterator[None]:
    """Turn a failed system call into one line that names the file."""
    try:
        yield
    except OSError as failure:
        named = failure.filename2 or failure.filename
        where = f"{printable(os.fsdecode(named))}: " if named else ""
        raise OperationError(f"{where}{failure.strerror or failure}") from None
