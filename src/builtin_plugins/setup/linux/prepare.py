"""Bring an application and make it ready: archive, launcher, picture, menu entry."""

import json
import os
import time
from pathlib import Path

from builtin_plugins.io.addresses import shown
from builtin_plugins.io.archive import extract
from builtin_plugins.io.download import Limits, download
from builtin_plugins.io.files.atomic import write_file
from builtin_plugins.io.progress import Reporter, readable_size
from builtin_plugins.setup.linux import state
from builtin_plugins.setup.linux.stage import NEW
from builtin_plugins.setup.tool_settings import Settings
from host import OperationError

_ICON_LIMITS = Limits(seconds=20, stall=10, attempts=2, size=4 << 20)
_PICTURES = {b"\x89PNG\r\n\x1a\n": ".png", b"<svg": ".svg", b"<?xml": ".svg", b"/* XPM */": ".xpm"}
_STRING_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def bring(settings: Settings, stage: str, reporter: Reporter) -> None:
    """Fetch, check, unpack and prepare the application in `<stage>/new`."""
    deadline = time.monotonic() + settings.seconds
    archive = Path(stage, "archive")
    reporter.info(f"Downloading {shown(settings.address)}")
    limits, sha256 = Limits(seconds=settings.seconds), settings.sha256
    with reporter.progress(settings.name) as progress:
        fetched = download(
            settings.address, archive, limits=limits, sha256=sha256, progress=progress
        )
    reporter.info(f"Unpacking {readable_size(fetched.size)}")
    new = Path(stage, NEW)
    left = deadline - time.monotonic()
    privileged = extract(archive, new, called=shown(settings.address), seconds=left)
    archive.unlink()
    if privileged:
        reporter.warn(f"setuid, setgid or sticky bits left out of the archive: {privileged}")
    _note(str(new), settings, reporter)


def _note(tree: str, settings: Settings, reporter: Reporter) -> None:
    """Find launcher and picture of the application in `tree` and note them there.

    Raises OperationError when it has no launcher; a missing picture is a warning.
    """
    launcher = _find_launcher(tree, settings)
    notes = os.path.join(tree, state.MARK_DIRECTORY)
    if os.path.lexists(notes):
        raise OperationError(f"the archive has {state.MARK_DIRECTORY}, a name that is reserved")
    os.mkdir(notes)
    os.chmod(notes, 0o755)  # noqa: S103  # whatever the umask
    icon = _find_icon(tree, settings, reporter)
    menu = _menu_entry(settings, icon)
    noted = {"tool": settings.places.tool, "launcher": launcher, "menu": menu}
    write_file(os.path.join(notes, state.MARK_FILE), json.dumps(noted, indent=2) + "\n", 0o644)
    reporter.debug(f"launcher {launcher}, icon {icon or 'none'}")


def _find_launcher(tree: str, settings: Settings) -> str:
    name, tool = settings.name, settings.places.tool
    usual = (name, tool, name.replace(" ", ""), name.lower(), f"bin/{tool}")
    candidates = [settings.launcher] if settings.launcher else usual
    for candidate in candidates:
        if state.is_program(tree, candidate):
            return candidate
    tried = ", ".join(dict.fromkeys(candidates))
    raise OperationError(f"the archive has no program to start (looked for {tried})")


def _find_icon(tree: str, settings: Settings, reporter: Reporter) -> str:
    """Return the picture's path inside `tree`: the one fetched, else the archive's own."""
    bundled = settings.icon if state.inner_file(tree, settings.icon) else ""
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
    fetched = Path(tree, state.MARK_DIRECTORY, "icon")
    download(address, fetched, limits=_ICON_LIMITS)
    with fetched.open("rb") as file:
        start = file.read(512).lstrip(b"\xef\xbb\xbf \r\n\t")
    for beginning, suffix in _PICTURES.items():
        if start.startswith(beginning):
            fetched.chmod(0o644)
            fetched.rename(fetched.with_suffix(suffix))
            return f"{state.MARK_DIRECTORY}/icon{suffix}"
    fetched.unlink()
    raise OperationError("what came is not a picture")


def _menu_entry(settings: Settings, icon: str) -> str:
    """Return the menu entry (Desktop Entry Specification 1.5); `icon` is inside the tree, or ""."""
    places, categories = settings.places, settings.categories
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        f"Name={_string(settings.name)}",
        f"Exec={_string(_command(places.link))} %U",
        f"Icon={_string(os.path.join(places.install_dir, icon))}" if icon else "",
        "Terminal=false",
        f"Categories={categories.rstrip(';')};" if categories else "",
        state.menu_mark(places.tool),
    ]
    return "".join(f"{line}\n" for line in lines if line)


def _command(program: str) -> str:
    """Quote `program` for Exec, whose first word can hold neither `=` nor, for GLib, `%`."""
    if "=" in program or "%" in program:
        script = _quoted('exec "$0" "$@"')
        return f"/bin/sh -c {script} {_quoted(program)}"
    return _quoted(program)


def _quoted(argument: str) -> str:
    if argument.isascii() and argument.replace("/", "").replace("-", "").isalnum():
        return argument
    for special in '\\"`$':
        argument = argument.replace(special, "\\" + special)
    return '"' + argument.replace("%", "%%") + '"'


def _string(text: str) -> str:
    """Escape a value of type string; a blank at its start would be lost."""
    escaped = "".join(_STRING_ESCAPES.get(character, character) for character in text)
    return "\\s" + escaped[1:] if escaped.startswith(" ") else escaped
