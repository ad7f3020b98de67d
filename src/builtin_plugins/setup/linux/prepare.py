"""Fetch an application and prepare it: archive, launcher, picture, menu entry."""

import json
import os
import time
from pathlib import Path
from typing import NamedTuple

from builtin_plugins.io.addresses import shown
from builtin_plugins.io.archive import extract
from builtin_plugins.io.download import Limits, download
from builtin_plugins.io.files.atomic import write_file
from builtin_plugins.io.progress import Reporter, readable_size
from builtin_plugins.setup.linux import state
from builtin_plugins.setup.tool_settings import Settings
from host import OperationError

NEW = "new"  # a prepared version in its stage

_ICON_LIMITS = Limits(seconds=20, stall=10, attempts=2, size=4 << 20)
_PICTURES = {b"\x89PNG\r\n\x1a\n": ".png", b"<svg": ".svg", b"<?xml": ".svg", b"/* XPM */": ".xpm"}
_STRING_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class Application(NamedTuple):
    """A version to install: its name, the launcher's path in it, the text of the menu entry."""

    version: str
    launcher: str
    menu: str


def bring(settings: Settings, stage: str, reporter: Reporter) -> tuple[Application, str]:
    """Fetch the latest version; return it, and its directory in `stage`.

    If that version is in the store, nothing is unpacked and the directory is "".
    """
    deadline = time.monotonic() + settings.seconds
    archive = Path(stage, "archive")
    reporter.info(f"Downloading {shown(settings.address)}")
    limits, sha256 = Limits(seconds=settings.seconds), settings.sha256
    with reporter.progress(settings.name) as progress:
        fetched = download(
            settings.address, archive, limits=limits, sha256=sha256, progress=progress
        )
    version = fetched.sha256[:12]
    store = state.store_of(settings.places)
    tree, staged = store.path(version), ""
    if version not in store.versions() or not _find_launcher(tree, settings):
        tree = staged = os.path.join(stage, NEW)
        reporter.info(f"Unpacking {readable_size(fetched.size)}")
        left = deadline - time.monotonic()
        bits = extract(archive, Path(tree), called=shown(settings.address), seconds=left)
        if bits:
            reporter.warn(f"setuid, setgid or sticky bits left out of the archive: {bits}")
        _complete(tree, settings, reporter)
    archive.unlink()
    launcher, icon = _find_launcher(tree, settings), state.read_mark(tree)["icon"]
    reporter.debug(f"version {version}, launcher {launcher}, icon {icon or 'none'}")
    icon = os.path.join(store.link, icon) if icon else ""
    return Application(version, launcher, _menu_entry(settings, icon)), staged


def _complete(tree: str, settings: Settings, reporter: Reporter) -> None:
    """Add picture and record to what was unpacked; raises OperationError without a launcher."""
    if not _find_launcher(tree, settings):
        tried = ", ".join(dict.fromkeys(_launchers(settings)))
        raise OperationError(f"the archive has no program to start (looked for {tried})")
    own = os.path.join(tree, state.MARK_DIRECTORY)
    if os.path.lexists(own):
        raise OperationError(f"the archive has {state.MARK_DIRECTORY}, a name that is reserved")
    os.mkdir(own)
    os.chmod(own, 0o755)  # noqa: S103  # whatever the umask
    record = {"tool": settings.places.tool, "icon": _find_icon(tree, settings, reporter)}
    write_file(os.path.join(own, state.MARK_FILE), json.dumps(record) + "\n", 0o644)


def _launchers(settings: Settings) -> tuple[str, ...]:
    name, tool = settings.name, settings.places.tool
    usual = (name, tool, name.replace(" ", ""), name.lower(), f"bin/{tool}")
    return (settings.launcher,) if settings.launcher else usual


def _find_launcher(tree: str, settings: Settings) -> str:
    programs = (one for one in _launchers(settings) if state.is_program(tree, one))
    return next(programs, "")


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
    raise OperationError("the server sent no picture")


def _menu_entry(settings: Settings, icon: str) -> str:
    """Return the menu entry (Desktop Entry Specification 1.5)."""
    places, categories = settings.places, settings.categories
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        f"Name={_string(settings.name)}",
        f"Exec={_string(_command(places.link))} %U",
        f"Icon={_string(icon)}" if icon else "",
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
