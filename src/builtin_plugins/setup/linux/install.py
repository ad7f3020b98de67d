"""Install, upgrade and uninstall on Linux: checks, download, launcher, icon and menu entry."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from builtin_plugins.library.addresses import bare_address, fetchable
from builtin_plugins.library.archive import UnpackOptions, extract
from builtin_plugins.library.download import download
from builtin_plugins.library.files.atomic import make_directory, write_file
from builtin_plugins.library.progress import progress_bar
from builtin_plugins.setup import linux
from builtin_plugins.setup.linux import ownership, swap
from builtin_plugins.setup.linux.processor import foreign_program
from builtin_plugins.setup.tool_settings import ToolSettings, variable
from host import Messages, OperationError

_LIMITS = UnpackOptions(members=100_000, size=8 << 30)
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"<svg", b"<?xml")  # how PNG and SVG files begin
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

    if linux.is_installed(paths):
        return paths.link
    return ""


def install(settings: ToolSettings, messages: Messages) -> str:
    """Install the latest version and return the path of its command.

    After an OSError or OperationError, nothing has changed. The address, permissions and
    existing files are checked before the download. Only the last step may use sudo.
    """
    paths = settings.paths
    try:
        fetchable(settings.variables["DOWNLOAD_URL"])
    except OperationError as refusal:
        name = variable(settings.tool, "DOWNLOAD_URL")
        raise OperationError(f"{name}: {refusal}") from None
    ownership.refuse_foreign(paths)

    sudo = swap.find_sudo(paths, settings.environ)
    if sudo is None:
        prepare = partial(fetch, settings, messages)
        for problem in swap.install(paths, prepare):
            messages.warn(str(problem))
    else:
        # root copies the prepared files from here; /tmp is often too small for them.
        above = settings.environ.get("TMPDIR") or "/var/tmp"  # noqa: S108
        with TemporaryDirectory(prefix="cli-setup-", dir=above) as stage:
            prepare = partial(fetch, settings, messages, stage)
            swap.run_with_sudo(sudo, settings, messages, prepare)

    # Without the variable PATH, nothing is known about the user's shell.
    search_path = settings.environ.get("PATH", paths.bin_dir)
    if paths.bin_dir not in search_path.split(":"):
        messages.warn(f"{paths.bin_dir} is not on your PATH")
    return paths.link


def uninstall(settings: ToolSettings, messages: Messages) -> bool:
    """Remove the application, link and menu entry that setup made; return whether any existed."""
    paths = settings.paths
    is_own = ownership.owned_paths(paths)
    for path in is_own:
        if is_own[path] is False:
            messages.warn(f"{path} is kept: setup did not create it")

    has_own = True in is_own.values()
    if has_own:
        sudo = swap.find_sudo(paths, settings.environ)
        if sudo is None:
            swap.uninstall(paths)
        else:
            swap.run_with_sudo(sudo, settings, messages)

    if linux.is_installed(paths):
        raise OperationError(f"{settings.name} is kept: setup did not install it")
    return has_own


def fetch(settings: ToolSettings, messages: Messages, stage: str) -> swap.Application:
    """Download the latest version to `stage`; return it as an `Application` to install.

    The archive is unpacked in `stage`, unless this version is already in the tool's store.
    """
    address = settings.variables["DOWNLOAD_URL"]
    archive = Path(stage, "archive")
    messages.line(f"Downloading {bare_address(address)}")
    with progress_bar(messages, settings.name) as progress:
        checksum = download(
            address,
            archive,
            seconds=float(settings.variables["TIMEOUT"] or 3600),
            sha256=settings.variables["SHA256"],
            progress=progress,
        )

    # The checksum names the version, because no server says reliably which version it sends.
    version = checksum[:12]
    store = ownership.store_of(settings.paths)
    directory = store.path(version)
    staged = ""
    if version not in store.versions() or not _find_launcher(directory, settings):
        staged = os.path.join(stage, "new")
        directory = staged
        messages.line("Unpacking")
        called = bare_address(address)
        extract(archive, Path(directory), called, _LIMITS)
        _complete(directory, settings, messages)
    archive.unlink()

    launcher = _find_launcher(directory, settings)
    icon = _find_icon(directory, settings)
    shown_icon = icon or "none"
    messages.debug(f"version {version}, launcher {launcher}, icon {shown_icon}")
    if icon:
        # Through the link of the store, the entry stays right after an upgrade.
        icon = os.path.join(store.link, icon)
    menu = _menu_text(settings, icon)
    return swap.Application(version, launcher, menu, staged)


def _complete(directory: str, settings: ToolSettings, messages: Messages) -> None:
    """Add setup's marker file and the downloaded icon to the application in `directory`.

    Raises OperationError if the application has no launcher.
    """
    launcher = _find_launcher(directory, settings)
    if not launcher:
        launchers = dict.fromkeys(_launchers(settings))
        tried = ", ".join(launchers)
        raise OperationError(
            f"the archive has no program to start (looked for {tried})"
        )
    problem = foreign_program(directory, launcher)
    if problem:
        name = variable(settings.tool, "DOWNLOAD_URL")
        raise OperationError(problem, f"set {name} to the archive for this machine")

    mark = os.path.join(directory, ownership.MARK)
    make_directory(mark, 0o755)
    path = os.path.join(mark, settings.tool)
    write_file(path, "", 0o644)

    # An application without its icon is still worth installing.
    if settings.variables["ICON_URL"]:
        try:
            icon = Path(directory, _FETCHED_ICON)
            _fetch_icon(icon, settings.variables["ICON_URL"])
        except OperationError as failure:
            messages.warn(f"icon: {failure}")


def _launchers(settings: ToolSettings) -> tuple[str, ...]:
    """Return the paths in the archive where the program may be, the most probable first."""
    launcher = settings.variables["LAUNCHER"]
    if launcher:
        return (launcher,)

    name = settings.name
    tool = settings.tool
    return (name, tool, name.replace(" ", ""), name.lower(), f"bin/{tool}")


def _find_launcher(directory: str, settings: ToolSettings) -> str:
    for launcher in _launchers(settings):
        if linux.is_program(directory, launcher):
            return launcher
    return ""


def _find_icon(directory: str, settings: ToolSettings) -> str:
    """Return the path of the icon in `directory`, downloaded or the archive's, or "" for none."""
    for icon in (_FETCHED_ICON, settings.variables["ICON"]):
        if linux.is_file(directory, icon):
            return icon
    return ""


def _fetch_icon(icon: Path, address: str) -> None:
    download(address, icon, seconds=20, attempts=2, size=4 << 20)
    icon.chmod(0o644)

    # An SVG file may begin with a byte order mark and blanks.
    content = icon.read_bytes().lstrip(b"\xef\xbb\xbf \r\n\t")
    if not content.startswith(_PICTURES):
        icon.unlink()
        raise OperationError("the server did not send a picture")


def _menu_text(settings: ToolSettings, icon: str) -> str:
    """Return the menu entry (Desktop Entry Specification 1.5)."""
    command = _command(settings.paths.link)
    lines = [
        "[Desktop Entry]",
        "Type=Application",
        f"Name={settings.name.translate(_STRING_ESCAPES)}",
        f"Exec={command.translate(_STRING_ESCAPES)} %U",
    ]
    if icon:
        lines.append(f"Icon={icon.translate(_STRING_ESCAPES)}")
    lines += [
        "Terminal=false",
        f"Categories={settings.variables['CATEGORIES']}",
        ownership.menu_mark(settings.tool),
    ]
    lines.append("")
    return "\n".join(lines)


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
    """Return a word of Exec: quoted, and with `%` doubled, because `%U` is a field."""
    plain = argument.replace("/", "").replace("-", "")
    if argument.isascii() and plain.isalnum():
        return argument

    # The backslash comes first, because each other character gets one.
    for special in '\\"`$':
        argument = argument.replace(special, "\\" + special)
    return '"' + argument.replace("%", "%%") + '"'
