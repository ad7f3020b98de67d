"""Check which of a tool's files `setup` made, and whether the tool is installed.

The functions only read files and are fast enough for a listing. They raise OSError for an
unreadable file, because `setup` cannot know whether it made that file.
"""

import os

from builtin_plugins.setup.tool_settings import PATHS, Places, variable
from builtin_plugins.store import STAGE, Store
from host import OperationError

MARK = ".cli-setup"  # setup's own directory in a version; a file in it has the tool's name
_LARGEST = 1 << 16  # maximum number of characters to read from a menu entry


def store_of(places: Places) -> Store:
    """Return the store of a tool's versions."""

    def is_own(version: str) -> bool:
        try:
            os.lstat(os.path.join(version, MARK, places.tool))
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    return Store(places.install_dir, os.path.join(places.install_dir, "current"), is_own)


def is_installed(places: Places) -> bool:
    """Return whether the link resolves to an executable in the install directory (CONTRACT 10)."""
    return os.path.islink(places.link) and is_program(places.install_dir, places.link)


def owners(places: Places) -> dict[str, bool | None]:
    """Map each of a tool's paths to whether setup made it, None if it does not exist."""
    is_own = owns_directory(places)
    link, menu = places.link, places.desktop_file
    owns_link = owns_menu = None
    if os.path.lexists(link):
        leads = os.path.islink(link) and os.path.join(places.bin_dir, os.readlink(link))
        inside = leads and os.path.normpath(leads).startswith(places.install_dir + "/")
        owns_link = bool(inside) and is_own is not False
    if os.path.lexists(menu):
        owns_menu = menu_mark(places.tool) in (read_text(menu) or "").splitlines()
    return {places.install_dir: is_own, link: owns_link, menu: owns_menu}


def owns_directory(places: Places) -> bool | None:
    """Return whether setup made the install directory; None if it is missing or empty."""
    if os.path.islink(places.install_dir):
        return False
    try:
        names = os.listdir(places.install_dir)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return False
    store = store_of(places)
    is_dangling = bool(store.current) and store.current not in names
    is_staged = any(name.startswith(STAGE) for name in names)
    return (is_dangling or is_staged or bool(store.versions())) if names else None


def refuse_foreign(places: Places) -> None:
    """Raise OperationError if a file or directory exists that setup did not make."""
    for (path, is_own), suffix in zip(owners(places).items(), PATHS, strict=True):
        if is_own is False:
            remedy = f"move it away or set {variable(places.tool, suffix)}"
            raise OperationError(f"{path} exists, and setup did not create it", remedy)


def menu_mark(tool: str) -> str:
    """Return the line by which setup recognizes its own menu entry."""
    return f"X-CLI-Setup={tool}"


def is_program(tree: str, inside: str) -> bool:
    """Return whether `inside` resolves to an executable file in `tree`."""
    return is_file(tree, inside) and os.access(os.path.join(tree, inside), os.X_OK)


def is_file(tree: str, inside: str) -> bool:
    """Return whether `inside` resolves to a file in `tree`."""
    real = os.path.realpath(os.path.join(tree, inside))
    return real.startswith(os.path.realpath(tree) + "/") and os.path.isfile(real)


def read_text(path: str) -> str | None:
    """Return the start of a regular file; None if there is none. Raises OSError."""
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(_LARGEST)
