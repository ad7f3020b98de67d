"""Install, upgrade and uninstall on Linux: checks, download, launcher, icon and menu entry."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from builtin_plugins.io.addresses import bare_address, fetchable
from builtin_plugins.io.archive import UnpackOptions, extract
from builtin_plugins.io.download import download
from builtin_plugins.io.files.atomic import make_directory, write_file
from builtin_plugins.io.progress import progress_bar
from builtin_plugins.setup import linux
from builtin_plugins.setup.linux import ownership, swap
from builtin_plugins.setup.linux.processor import foreign_program
from builtin_plugins.setup.tool_settings import ToolSettings, variable
from host import Messages, OperationError

_LIMITS = UnpackOptions(members=100_000, size=8 << 30)
_PICTURES = (
    b"\x89PNG\r\n\x1a\n",
    b"<svg",
    b"<?xml",
)  # the first bytes of PNG and SVG files
_FETCHED_ICON = os.path.join(ownership.MARK, "icon")
_STRING_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def installed_as(settings: ToolSettings) -> str:
    """Return the path of the installed command, or "" if the tool is not installed.

    Leftovers of interrupted runs are removed if the caller may write to the install directory.
    """
    paths = settings.paths
    with suppress(OSError, OperationError):
        if ownership.owns_directory(paths):
            with ownership.store_of(paths).exclusive():
                swap.clear(paths)
    return paths.link if linux.is_installed(paths) else ""


def install(settings: ToolSettings, messages: Messages) -> str:
    """Install the latest version and return the path of its command.

    After an OSError or OperationError, nothing has changed. The address, permissions and
    existing files are checked before the download. Only the last step may use sudo.
    """
    paths = settings.paths
    try:
        fetchable(settings.values["DOWNLOAD_URL"])
    except OperationError as refusal:
        name = variable(settings.tool, "DOWNLOAD_URL")
        raise OperationError(f"{name}: {refusal}") from None
    ownership.refuse_foreign(paths)
    sudo = swap.find_sudo(paths, settings.environ)
    if sudo is None:
        for problem in swap.install(paths, partial(fetch, settings, messages)):
            messages.warn(str(problem))
    else:
        # root copies the prepared files from here; /tmp is often too small for them.
        above = settings.environ.get("TMPDIR") or "/var/tmp"  # noqa: S108
        with TemporaryDirectory(prefix="cli-setup-", dir=above) as stage:
            swap.run_with_sudo(
                sudo, settings, messages, partial(fetch, settings, messages, stage)
            )
    if paths.bin_dir not in settings.environ.get("PATH", paths.bin_dir).split(":"):
        messages.warn(f"{paths.bin_dir} is not on your PATH")
    return paths.link


def uninstall(settings: ToolSettings, messages: Messages) -> bool:
    """Remove the application, link and menu entry that setup made; return whether any existed."""
    paths = settings.paths
    is_own = ownership.owned_paths(paths)
    for path in is_own:
        if is_own[path] is False:
            messages.warn(f"{path} is kept: setup did not create it")
    if True in is_own.values():
        sudo = swap.find_sudo(paths, settings.environ)
        if sudo is None:
            swap.uninstall(paths)
        else:
            swap.run_with_sudo(sudo, settings, messages)
    if linux.is_installed(paths):
        raise OperationError(f"{settings.name} is kept: setup did not install it")
    return True in is_own.values()


def fetch(settings: ToolSettings, messages: Messages, stage: str) -> swap.Application:
    """Download the latest version to `stage`; return it as an `Application` to install.

    The archive is unpacked in `stage`, unless this version is already in the tool's store.
    """
    seconds = float(settings.values["TIMEOUT"] or 3600)
    address, archive = settings.values["DOWNLOAD_URL"], Path(stage, "archive")
    messages.line(f"Downloading {bare_address(address)}")
    sha256 = settings.values["SHA256"]
    with progress_bar(messages, settings.name) as progress:
        checksum = download(
            address, archive, seconds=seconds, sha256=sha256, progress=progress
        )
    version = checksum[:12]
    store = ownership.store_of(settings.paths)
    directory, staged = store.path(version), ""
    if version not in store.versions() or not _find_launcher(directory, settings):
        directory = staged = os.path.join(stage, "new")
        messages.line("Unpacking")
        extract(archive, Path(directory), bare_address(address), _LIMITS)
        _complete(directory, settings, messages)
    archive.unlink()
    launcher, icon = (
        _find_launcher(directory, settings),
        _find_icon(directory, settings),
    )
    messages.debug(f"version {version}, launcher {launcher}, icon {icon or 'none'}")
    icon = os.path.join(store.link, icon) if icon else ""
    return swap.Application(version, launcher, _menu_text(settings, icon), staged)


def _complete(directory: str, settings: ToolSettings, messages: Messages) -> None:
    """Add setup's marker file and the downloaded icon to the application in `directory`.

    Raises OperationError if the application has no launcher.
    """
    if not _find_launcher(directory, settings):
        tried = ", ".join(dict.fromkeys(_launchers(settings)))
        raise OperationError(
            f"the archive has no program to start (looked for {tried})"
        )
    if problem := foreign_program(directory, _find_launcher(directory, settings)):
        name = variable(settings.tool, "DOWNLOAD_URL")
        raise OperationError(problem, f"set {name} to the archive for this machine")
    mark = os.path.join(directory, ownership.MARK)
    make_directory(mark, 0o755)
    write_file(os.path.join(mark, settings.tool), "", 0o644)
    if settings.values["ICON_URL"]:
        try:
            _fetch_icon(Path(directory, _FETCHED_ICON), settings.values["ICON_URL"])
        except OperationError as failure:
            messages.warn(f"icon: {failure}")


def _launchers(settings: ToolSettings) -> tuple[str, ...]:
    name, tool, launcher = settings.name, settings.tool, settings.values["LAUNCHER"]
    usual = (name, tool, name.replace(" ", ""), name.lower(), f"bin/{tool}")
    return (launcher,) if launcher else usual


def _find_launcher(directory: str, settings: ToolSettings) -> str:
    return next(
        (
            launcher
            for launcher in _launchers(settings)
            if linux.is_program(directory, launcher)
        ),
        "",
    )


def _find_icon(directory: str, settings: ToolSettings) -> str:
    """Return the path of the icon in `directory`, downloaded or the archive's, or "" for none."""
    icons = (_FETCHED_ICON, settings.values["ICON"])
    return next((icon for icon in icons if linux.is_file(directory, icon)), "")


def _fetch_icon(icon: Path, address: str) -> None:
    download(address, icon, seconds=20, attempts=2, size=4 << 20)
    icon.chmod(0o644)
    if not icon.read_bytes().lstrip(b"\xef\xbb\xbf \r\n\t").startswith(_PICTURES):
        icon.unlink()
        raise OperationError("the server did not send a picture")


def _menu_text(settings: ToolSettings, icon: str) -> str:
    """Return the menu entry (Desktop Entry Specification 1.5)."""
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        f"Name={settings.name.translate(_STRING_ESCAPES)}",
        f"Exec={_command(settings.paths.link).translate(_STRING_ESCAPES)} %U",
        *([f"Icon={icon.translate(_STRING_ESCAPES)}"] if icon else []),
        "Terminal=false",
        f"Categories={settings.values['CATEGORIES']}",
        ownership.menu_mark(settings.tool),
    ]
    return "".join(f"{line}\n" for line in lines)


def _command(program: str) -> str:
    """Return the value of the menu entry's Exec key, which starts the file `program`.

    The first word of Exec must not contain `=` or, for GLib, `%`. If `program` does, Exec starts
    sh, which starts the program.
    """
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
