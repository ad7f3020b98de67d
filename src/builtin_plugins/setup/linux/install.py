"""Install, upgrade and uninstall on Linux: checks, download, launcher, icon and menu entry."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from builtin_plugins.io.addresses import fetchable, shown
from builtin_plugins.io.archive import Rules, extract
from builtin_plugins.io.download import download
from builtin_plugins.io.files.atomic import make_directory, write_file
from builtin_plugins.io.progress import Reporter
from builtin_plugins.setup.linux import state, swap
from builtin_plugins.setup.tool_settings import Settings, variable
from host import OperationError

_LARGEST = Rules(members=100_000, size=8 << 30)
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"<svg", b"<?xml")  # the first bytes of a picture
_FETCHED_ICON = os.path.join(state.MARK, "icon")
_STRING_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def installed_as(settings: Settings) -> str:
    """Return the path of the installed command, "" if the tool is not installed.

    Leftovers of interrupted runs are removed if the caller may write to the directory.
    """
    places = settings.places
    with suppress(OSError, OperationError):
        if state.owns_directory(places):
            with state.store_of(places).exclusive():
                swap.clear(places)
    return places.link if state.is_installed(places) else ""


def install(settings: Settings, reporter: Reporter) -> str:
    """Install the latest version and return its command.

    If it raises OSError or OperationError, nothing has changed. The address, permissions and
    existing files are checked before the download. Only the last step may use sudo.
    """
    places = settings.places
    try:
        fetchable(settings.values["DOWNLOAD_URL"])
    except OperationError as refusal:
        name = variable(settings.tool, "DOWNLOAD_URL")
        raise OperationError(f"{name}: {refusal}") from None
    state.refuse_foreign(places)
    sudo = swap.find_sudo(places, settings.environ)
    if sudo is None:
        for problem in swap.install(places, partial(bring, settings, reporter)):
            reporter.warn(str(problem))
    else:
        # root copies the prepared files from here; /tmp is often too small for them.
        above = settings.environ.get("TMPDIR") or "/var/tmp"  # noqa: S108
        with TemporaryDirectory(prefix="cli-setup-", dir=above) as stage:
            swap.run_with_sudo(sudo, settings, reporter, partial(bring, settings, reporter, stage))
    if places.bin_dir not in settings.environ.get("PATH", places.bin_dir).split(":"):
        reporter.warn(f"{places.bin_dir} is not on your PATH")
    return places.link


def uninstall(settings: Settings, reporter: Reporter) -> bool:
    """Remove the application, link and menu entry that setup made; return whether any existed."""
    places = settings.places
    is_own = state.owners(places)
    for path in is_own:
        if is_own[path] is False:
            reporter.warn(f"{path} is kept: setup did not create it")
    if True in is_own.values():
        sudo = swap.find_sudo(places, settings.environ)
        if sudo is None:
            swap.uninstall(places)
        else:
            swap.run_with_sudo(sudo, settings, reporter, tuple)
    if state.is_installed(places):
        raise OperationError(f"{settings.name} is kept: setup did not install it")
    return True in is_own.values()


def bring(settings: Settings, reporter: Reporter, stage: str) -> swap.Application:
    """Fetch the latest version and unpack it in `stage`, unless the store already has it."""
    seconds = float(settings.values["TIMEOUT"] or 3600)
    address, archive = settings.values["DOWNLOAD_URL"], Path(stage, "archive")
    reporter.info(f"Downloading {shown(address)}")
    sha256 = settings.values["SHA256"]
    with reporter.progress(settings.name) as progress:
        checksum = download(address, archive, seconds=seconds, sha256=sha256, progress=progress)
    version = checksum[:12]
    store = state.store_of(settings.places)
    tree, source = store.path(version), ""
    if version not in store.versions() or not _find_launcher(tree, settings):
        tree = source = os.path.join(stage, "new")
        reporter.info("Unpacking")
        extract(archive, Path(tree), shown(address), _LARGEST)
        _complete(tree, settings, reporter)
    archive.unlink()
    launcher, icon = _find_launcher(tree, settings), _find_icon(tree, settings)
    reporter.debug(f"version {version}, launcher {launcher}, icon {icon or 'none'}")
    icon = os.path.join(store.link, icon) if icon else ""
    return swap.Application(version, launcher, _menu_entry(settings, icon), source)


def _complete(tree: str, settings: Settings, reporter: Reporter) -> None:
    """Add setup's own files to the application. Raises OperationError if it has no launcher."""
    if not _find_launcher(tree, settings):
        tried = ", ".join(_launchers(settings))
        raise OperationError(f"the archive has no program to start (looked for {tried})")
    own = os.path.join(tree, state.MARK)
    make_directory(own, 0o755)
    write_file(os.path.join(own, settings.tool), "", 0o644)
    if settings.values["ICON_URL"]:
        try:
            _fetch_icon(Path(tree, _FETCHED_ICON), settings.values["ICON_URL"])
        except OperationError as failure:
            reporter.warn(f"icon: {failure}")


def _launchers(settings: Settings) -> tuple[str, ...]:
    name, tool, launcher = settings.name, settings.tool, settings.values["LAUNCHER"]
    usual = (name, tool, name.replace(" ", ""), name.lower(), f"bin/{tool}")
    return (launcher,) if launcher else usual


def _find_launcher(tree: str, settings: Settings) -> str:
    return next((one for one in _launchers(settings) if state.is_program(tree, one)), "")


def _find_icon(tree: str, settings: Settings) -> str:
    """Return the path in `tree` of the fetched icon, or else of the archive's own, or ""."""
    icons = (_FETCHED_ICON, settings.values["ICON"])
    return next((one for one in icons if state.is_file(tree, one)), "")


def _fetch_icon(icon: Path, address: str) -> None:
    download(address, icon, seconds=20, attempts=2, size=4 << 20)
    icon.chmod(0o644)
    if not icon.read_bytes().lstrip(b"\xef\xbb\xbf \r\n\t").startswith(_PICTURES):
        icon.unlink()
        raise OperationError("the server did not send a picture")


def _menu_entry(settings: Settings, icon: str) -> str:
    """Return the menu entry (Desktop Entry Specification 1.5)."""
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        f"Name={settings.name.translate(_STRING_ESCAPES)}",
        f"Exec={_command(settings.places.link).translate(_STRING_ESCAPES)} %U",
        *([f"Icon={icon.translate(_STRING_ESCAPES)}"] if icon else []),
        "Terminal=false",
        f"Categories={settings.values['CATEGORIES']}",
        state.menu_mark(settings.tool),
    ]
    return "".join(f"{line}\n" for line in lines)


def _command(program: str) -> str:
    """Quote `program` for Exec, whose first word must not contain `=` or, for GLib, `%`."""
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
