"""Check which of a tool's files `setup` made.

The functions only read files. They raise OSError for an unreadable file, because `setup` cannot
know whether it made that file.
"""

import os

from builtin_plugins.library.files.atomic import is_real_file
from builtin_plugins.library.versioned_directory import STAGE, Store
from builtin_plugins.setup.tool_settings import PATHS, ToolPaths, variable
from host import OperationError

MARK = ".cli-setup"  # setup's own directory in a version; contains a file named after the tool
_LARGEST = 1 << 16  # maximum number of characters to read from a menu entry


def store_of(paths: ToolPaths) -> Store:
    """Return the store of a tool's versions."""

    def is_own(version: str) -> bool:
        try:
            mark = os.path.join(version, MARK, paths.tool)
            os.lstat(mark)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    link = os.path.join(paths.install_dir, "current")
    return Store(paths.install_dir, link, is_own)


def owned_paths(paths: ToolPaths) -> dict[str, bool | None]:
    """Map each of a tool's paths to whether setup made it, or to None if nothing is there."""
    owns_install_dir = owns_directory(paths)
    owns_link = _owns_link(paths)
    # A link into somebody else's directory is theirs.
    if owns_link and owns_install_dir is False:
        owns_link = False
    return {
        paths.install_dir: owns_install_dir,
        paths.link: owns_link,
        paths.desktop_file: _owns_menu(paths),
    }


def _owns_link(paths: ToolPaths) -> bool | None:
    """Return whether the link leads into the install directory; None if nothing is there."""
    if not os.path.lexists(paths.link):
        return None
    if not os.path.islink(paths.link):
        return False

    # Only the text of the link counts: its target may be missing after an interrupted change.
    written = os.readlink(paths.link)
    target = os.path.join(paths.bin_dir, written)
    return os.path.normpath(target).startswith(f"{paths.install_dir}/")


def _owns_menu(paths: ToolPaths) -> bool | None:
    """Return whether the menu entry has setup's line; None if nothing is there."""
    if not os.path.lexists(paths.desktop_file):
        return None
    text = read_text(paths.desktop_file)
    if text is None:
        return False
    return menu_mark(paths.tool) in text.splitlines()


def owns_directory(paths: ToolPaths) -> bool | None:
    """Return whether setup made the install directory; None if it is missing or empty."""
    if os.path.islink(paths.install_dir):
        return False
    try:
        names = os.listdir(paths.install_dir)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return False
    if not names:
        return None

    store = store_of(paths)
    return _has_leftovers(store, names) or bool(store.versions())


def _has_leftovers(store: Store, names: list[str]) -> bool:
    """Return whether a killed run left a link without its version, or a version in the making."""
    version = store.current
    if version and version not in names:
        return True
    return any(name.startswith(STAGE) for name in names)


def refuse_foreign(paths: ToolPaths) -> None:
    """Raise OperationError if one of a tool's paths exists and setup did not make it."""
    owned = owned_paths(paths)
    for path, suffix in zip(owned, PATHS, strict=True):
        if owned[path] is False:
            remedy = f"move it away or set {variable(paths.tool, suffix)}"
            raise OperationError(f"{path} exists, and setup did not create it", remedy)


def menu_mark(tool: str) -> str:
    """Return the line by which setup recognizes its own menu entry."""
    return f"X-CLI-Setup={tool}"


def read_text(path: str) -> str | None:
    """Return the start of the file at `path`; None if it is not a regular file. Raises OSError."""
    if not is_real_file(path):
        return None

    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(_LARGEST)
