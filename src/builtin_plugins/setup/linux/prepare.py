"""Bring an application and make it ready to be installed: archive, launcher, picture, notes."""

import json
import os
import time
from pathlib import Path

from builtin_plugins.archives.extract import extract
from builtin_plugins.archives.judge import Rules
from builtin_plugins.fetch.addresses import shown
from builtin_plugins.fetch.download import download
from builtin_plugins.fetch.progress import Reporter, readable_size
from builtin_plugins.fetch.transfer import Limits
from builtin_plugins.files.atomic import write_file
from builtin_plugins.setup.linux.menu_entry import menu_entry
from builtin_plugins.setup.linux.stage import NEW
from builtin_plugins.setup.linux.state import MARK_DIRECTORY, MARK_FILE, read_mark
from builtin_plugins.setup.tool_settings import Settings
from host import OperationError

_RULES = Rules(reserved=frozenset([MARK_DIRECTORY]))
_ICON_LIMITS = Limits(seconds=20, stall=10, attempts=2, size=4 << 20)
_PICTURES = {
    b"\x89PNG\r\n\x1a\n": ".png",
    b"<svg": ".svg",
    b"<?xml": ".svg",
    b"/* XPM */": ".xpm",
}


def bring(settings: Settings, stage: str, reporter: Reporter) -> None:
    """Fetch, check, unpack and prepare the application in `<stage>/new`."""
    deadline = time.monotonic() + settings.seconds
    archive = Path(stage, "archive")
    reporter.info(f"Downloading {shown(settings.address)}")
    with reporter.progress(settings.name) as progress:
        fetched = download(
            settings.address,
            archive,
            limits=Limits(seconds=settings.seconds),
            sha256=settings.sha256,
            progress=progress,
        )
    reporter.info(f"Unpacking {readable_size(fetched.size)}")
    new = Path(stage, NEW)
    left = deadline - time.monotonic()
    privileged = extract(archive, new, _RULES, called=shown(settings.address), seconds=left)
    archive.unlink()
    if privileged:
        reporter.warn(f"setuid, setgid or sticky bits left out of the archive: {privileged}")
    _note(str(new), settings, reporter)


def _note(tree: str, settings: Settings, reporter: Reporter) -> None:
    """Find launcher and picture of the application in `tree` and note them there.

    Raises OperationError when it has no launcher; a missing picture is a warning.
    """
    launcher = _find_launcher(tree, settings)
    notes = os.path.join(tree, MARK_DIRECTORY)
    os.mkdir(notes)
    os.chmod(notes, 0o755)  # noqa: S103  # whatever the umask
    icon = _find_icon(tree, settings, reporter)
    places = settings.places
    menu = menu_entry(
        places.tool,
        settings.name,
        places.link,
        os.path.join(places.install_dir, icon) if icon else "",
        settings.categories,
    )
    noted = {"tool": places.tool, "launcher": launcher, "menu": menu}
    write_file(os.path.join(notes, MARK_FILE), json.dumps(noted, indent=2) + "\n", 0o644)
    reporter.debug(f"launcher {launcher}, icon {icon or 'none'}")


def _find_launcher(tree: str, settings: Settings) -> str:
    name, tool = settings.name, settings.places.tool
    candidates = [settings.launcher]
    if not settings.launcher:
        plain = (name, tool, name.replace(" ", ""), name.lower())
        candidates = [one for one in plain if "/" not in one and one not in (".", "..")]
        candidates.append(f"bin/{tool}")
    for candidate in candidates:
        if is_program(tree, candidate):
            return candidate
    tried = ", ".join(dict.fromkeys(candidates))
    raise OperationError(f"the archive has no program to start (looked for {tried})")


def _find_icon(tree: str, settings: Settings, reporter: Reporter) -> str:
    """Return the picture's path inside `tree`: the one fetched, else the archive's own."""
    bundled = settings.icon if inner_file(tree, settings.icon) else ""
    instead = "the archive's own is used" if bundled else "the menu entry has none"
    if settings.icon_address:
        try:
            return _fetch_icon(tree, settings.icon_address)
        except OperationError as failure:
            reporter.warn(f"icon: {failure}; {instead}")
    elif settings.icon and not bundled:
        reporter.warn(f"icon: the archive has no {settings.icon}; {instead}")
    return bundled


def _fetch_icon(tree: str, address: str) -> str:
    fetched = Path(tree, MARK_DIRECTORY, "icon")
    download(address, fetched, limits=_ICON_LIMITS)
    with fetched.open("rb") as file:
        start = file.read(512).lstrip(b"\xef\xbb\xbf \r\n\t")
    for beginning, suffix in _PICTURES.items():
        if start.startswith(beginning):
            fetched.chmod(0o644)
            fetched.rename(fetched.with_suffix(suffix))
            return f"{MARK_DIRECTORY}/icon{suffix}"
    fetched.unlink()
    raise OperationError("what came is not a picture")


def read_prepared(tree: str) -> dict[str, str]:
    """Return the notes of `tree`: launcher, menu; raises OperationError without usable ones."""
    noted = read_mark(tree)
    if not noted.get("menu") or not is_program(tree, noted.get("launcher", "")):
        raise OperationError(f"{tree}: not a prepared application")
    return noted


def is_program(tree: str, inside: str) -> bool:
    """Tell whether `inside` ends at an executable file that lies in `tree`."""
    real = inner_file(tree, inside)
    return bool(real) and os.access(real, os.X_OK)


def inner_file(tree: str, inside: str) -> str:
    """Return the real path of the file at `inside`, or "" when it is none in `tree`."""
    real = os.path.realpath(os.path.join(tree, inside))
    if inside and real.startswith(os.path.realpath(tree) + "/") and os.path.isfile(real):
        return real
    return ""
